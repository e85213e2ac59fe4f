"""Edits of a preset: switch an entry, change its text or role, replace the generation.

Each gives a new preset whose document says the same, so an export after an edit holds the edit and all else as
it was. Rules of the seeds (reference 3.1): switching on sets both flags and lists an entry that is not in
the order; giving a marker a text makes it an ordinary entry; the generation is replaced whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from preset_engine.errors import AssemblyError
from preset_engine.json_values import as_list, as_objects
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.builtin import CURRENT_ORDER_ID
from preset_engine.preset.entries import ROLES
from preset_engine.preset.forms import OLD_TEXTS
from preset_engine.preset.generation import (
    OLD_NAMES,
    SILLYTAVERN_NAMES,
    normalize_generation,
    read_generation,
)
from preset_engine.preset.model import (
    Generation,
    OrderItem,
    Preset,
    PresetSource,
    PromptEntry,
    PromptOrder,
)
from preset_engine.preset.native import write_native
from preset_engine.preset.notebook import Notebook
from preset_engine.preset.orders import chosen_order
from preset_engine.preset.sanitise import current_order
from preset_engine.preset.to_sillytavern import sillytavern_entry


def toggle_entry(preset: Preset, identifier: str, *, is_enabled: bool) -> Preset:
    """The preset with an entry switched on or off in the order that the native dialect follows.

    In a SillyTavern file the list saved for 100001 is switched as well, since SillyTavern follows that one.

    Raises:
        AssemblyError: the preset has no such entry.
    """
    entry = find_entry(preset, identifier)
    orders = preset.orders or (chosen_order(preset),)
    targets = (
        {id(chosen_order(preset)), id(current_order(preset))} if preset.orders else {id(orders[0])}
    )
    changed = tuple(
        _switched(order, identifier, is_enabled) if id(order) in targets else order
        for order in orders
    )
    flagged = (
        replace(entry, is_enabled=is_enabled) if is_enabled or preset.source == "native" else entry
    )
    return _rewritten(replace(_with_entry(preset, flagged), orders=changed))


def _switched(order: PromptOrder, identifier: str, is_enabled: bool) -> PromptOrder:
    items = tuple(
        replace(item, is_enabled=is_enabled) if item.identifier == identifier else item
        for item in order.items
    )
    if is_enabled and all(item.identifier != identifier for item in items):
        items = (*items, OrderItem(identifier, True))
    return replace(order, items=items)


def set_text(preset: Preset, identifier: str, content: str) -> Preset:
    """The preset with an entry's text changed; a marker that gets a text becomes an ordinary entry.

    Raises:
        AssemblyError: the preset has no such entry.
    """
    entry = find_entry(preset, identifier)
    marker = entry.is_marker and not content.strip()
    return _rewritten(_with_entry(preset, replace(entry, content=content, is_marker=marker)))


def set_role(preset: Preset, identifier: str, role: str) -> Preset:
    """The preset with an entry's role changed.

    Raises:
        AssemblyError: the preset has no such entry, or there is no such role.
    """
    entry = find_entry(preset, identifier)
    if role not in ROLES:
        message = f"there is no role {role!r} for an entry; use system, user or assistant"
        raise AssemblyError(message)
    return _rewritten(_with_entry(preset, replace(entry, role=role)))


def set_generation(preset: Preset, generation: Generation | Mapping[str, JsonValue]) -> Preset:
    """The preset with its generation replaced whole; an object is read as the native form's."""
    if not isinstance(generation, Generation):
        generation = normalize_generation(dict(generation))
    return _rewritten(replace(preset, generation=generation))


def list_entries(preset: Preset) -> tuple[tuple[PromptEntry, bool | None], ...]:
    """All entries, those of the order first with whether they are on there, then the unlisted ones with None."""
    by_id = {entry.identifier: entry for entry in reversed(preset.prompts)}
    listed = [
        (by_id[item.identifier], item.is_enabled)
        for item in chosen_order(preset).items
        if item.identifier in by_id
    ]
    names = {entry.identifier for entry, _ in listed}
    rest = [(entry, None) for entry in preset.prompts if entry.identifier not in names]
    return (*listed, *rest)


def find_entry(preset: Preset, identifier: str) -> PromptEntry:
    """The first entry of this identifier.

    Raises:
        AssemblyError: there is none.
    """
    for entry in preset.prompts:
        if entry.identifier == identifier:
            return entry
    message = f"the preset {preset.name!r} has no entry {identifier!r}; see its list of entries"
    raise AssemblyError(message)


def _with_entry(preset: Preset, changed: PromptEntry) -> Preset:
    at = next(i for i, entry in enumerate(preset.prompts) if entry.identifier == changed.identifier)
    return replace(preset, prompts=(*preset.prompts[:at], changed, *preset.prompts[at + 1 :]))


def _rewritten(preset: Preset) -> Preset:
    """The preset with a document that says what its fields say."""
    if preset.source is PresetSource.NATIVE:
        return replace(preset, raw=_native_document(preset))
    return replace(preset, **_sillytavern_parts(preset))  # type: ignore[arg-type]  # prompts and raw


def _native_document(preset: Preset) -> JsonObject:
    written = write_native(preset, chosen_order(preset))
    saved = _by_key(preset.raw.get("prompts"), "id")
    written["prompts"] = _joined(written["prompts"], saved, "id")
    document = {**preset.raw, **written}
    if "unsupported" not in preset.raw and not preset.unsupported:
        del document["unsupported"]
    return document


def _sillytavern_parts(preset: Preset) -> dict[str, tuple[PromptEntry, ...] | JsonObject]:
    document: JsonObject = dict(preset.raw)
    for key in OLD_TEXTS.values():
        document.pop(key, None)
    entries, elements = _entry_elements(preset)
    document["prompts"] = elements
    document["prompt_order"] = _order_elements(preset)
    _write_generation(preset.generation, document)
    return {"prompts": entries, "raw": document}


def _entry_elements(preset: Preset) -> tuple[tuple[PromptEntry, ...], JsonValue]:
    """The entries and the elements of `prompts[]`; what was no entry there stays in its place."""
    raw = preset.raw.get("prompts")
    elements: list[JsonValue] = list(raw) if isinstance(raw, list) else []
    entries = []
    for entry in preset.prompts:
        item = sillytavern_entry(entry, dict(entry.saved) if entry.saved else None)
        at = _index(entry.place)
        if entry.saved and at is not None and at < len(elements):
            elements[at] = item
        else:
            at = len(elements)
            elements.append(item)
        entries.append(replace(entry, saved=item, place=f"$.prompts[{at}]"))
    return tuple(entries), elements


def _index(place: str) -> int | None:
    found = re.fullmatch(r"\$\.prompts\[(\d+)\]", place)
    return int(found.group(1)) if found else None


def _order_elements(preset: Preset) -> JsonValue:
    """The order lists, each in the wrapper it stood in."""
    raw = preset.raw.get("prompt_order")
    wrappers = as_objects(raw)
    whole = isinstance(raw, list) and len(wrappers) == len(raw) == len(preset.orders)
    if not whole or not all(isinstance(item.get("order"), list) for item in wrappers):
        wrappers = [{"character_id": _identity(order), "order": []} for order in preset.orders]
    return [
        {**wrapper, "order": _items(wrapper.get("order"), order)}
        for wrapper, order in zip(wrappers, preset.orders)
    ]


def _items(saved: JsonValue, order: PromptOrder) -> JsonValue:
    known = _by_key(saved, "identifier")
    return [
        {**known.get(item.identifier, {"identifier": item.identifier}), "enabled": item.is_enabled}
        for item in order.items
    ]


def _identity(order: PromptOrder) -> JsonValue:
    text = order.character_id
    return int(text) if text.isdecimal() else text or int(CURRENT_ORDER_ID)


def _write_generation(generation: Generation, document: JsonObject) -> None:
    if read_generation(document, Notebook()) == replace(generation, reasoning_effort=None):
        return
    for key in OLD_NAMES:
        document.pop(key, None)
    for key, attribute in SILLYTAVERN_NAMES.items():
        value = getattr(generation, attribute)
        if value is None:
            document.pop(key, None)
        else:
            document[key] = value


def _by_key(value: JsonValue, key: str) -> dict[str, JsonObject]:
    items = as_list(value)
    return {str(item.get(key)): item for item in reversed(items) if isinstance(item, dict)}


def _joined(items: JsonValue, saved: Mapping[str, JsonObject], key: str) -> JsonValue:
    """The written elements with the unknown fields of the saved ones."""
    if not isinstance(items, list):
        return items
    return [
        {**saved.get(str(item.get(key)), {}), **item} if isinstance(item, dict) else item
        for item in items
    ]
