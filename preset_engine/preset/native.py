"""Reads and writes the native form of a preset.

An entry takes part only if its order item and itself are enabled (design decision 12). A hole is named by
`sourceIdentifier` where the file gives one, otherwise by its id.
"""

from __future__ import annotations

from dataclasses import asdict

from preset_engine.errors import InputTooLarge
from preset_engine.json_values import as_list, as_object, as_objects, as_text, as_texts
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.assembly_settings import NAMES as SETTING_NAMES
from preset_engine.preset.assembly_settings import read_settings
from preset_engine.preset.builtin import FILLED
from preset_engine.preset.entries import MAX_ENTRIES, ROLES
from preset_engine.preset.generation import generation_to_json, normalize_generation
from preset_engine.preset.meanings import is_depth, read_flag
from preset_engine.preset.model import (
    AssemblySettings,
    OrderItem,
    Preset,
    PresetSource,
    PromptEntry,
    PromptOrder,
    Unsupported,
)
from preset_engine.preset.native_schema import MODES, check_schema
from preset_engine.preset.notebook import Notebook, shown


def read_native(document: JsonObject, identity: str, name: str, notes: Notebook) -> Preset:
    """The preset of a native document.

    Args:
        document: the parsed file.
        identity: the id for a file that has none.
        name: the name for a file that has none.
        notes: gets `schema-fault` and what the entries say.
    """
    check_schema(document, notes)
    names: dict[str, str] = {}
    prompts = _entries(document.get("prompts"), names, notes)
    settings = document.get("settings")
    given_id, given_name = document.get("id"), document.get("name")
    return Preset(
        id=given_id if isinstance(given_id, str) and given_id else identity,
        name=given_name if isinstance(given_name, str) and given_name else name,
        source=PresetSource.NATIVE,
        prompts=prompts,
        orders=_orders(document.get("promptOrder"), prompts, names, notes),
        settings=read_settings({"chat_completion_source": "", **settings}, notes)
        if isinstance(settings, dict)
        else AssemblySettings(),
        generation=normalize_generation(document.get("generation")),
        squash=_squash(document.get("messagePolicy"), notes),
        regex_scripts=tuple(as_objects(document.get("regexScripts"))),
        unsupported=_unsupported(document.get("unsupported")),
        raw=document,
    )


def _entries(value: JsonValue, names: dict[str, str], notes: Notebook) -> tuple[PromptEntry, ...]:
    items = as_list(value)
    if len(items) > MAX_ENTRIES:
        message = f"$.prompts has {len(items):,} entries; presets are read up to {MAX_ENTRIES:,}"
        raise InputTooLarge(message)
    entries = []
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            notes.add(
                "entry-not-object", "an entry is no object; it is left out", f"$.prompts[{number}]"
            )
            continue
        entries.append(_entry(item, number, names))
    return tuple(entries)


def _entry(item: JsonObject, number: int, names: dict[str, str]) -> PromptEntry:
    identity = as_text(item.get("id", item.get("identifier"))) or f"unnamed-{number + 1}"
    is_marker = read_flag(item.get("marker"), default=False) or (
        identity in FILLED and not item.get("content")
    )
    hole = as_text(item.get("sourceIdentifier"))
    identifier = hole if is_marker and hole in FILLED else identity
    names[identity] = identifier
    place = as_object(item.get("injection"))
    depth, order = place.get("depth"), place.get("order")
    return PromptEntry(
        identifier=identifier,
        name=as_text(item.get("name")) or identity,
        role=_role(item.get("role"), identifier),
        content=as_text(item.get("content")),
        is_marker=is_marker,
        is_enabled=read_flag(item.get("enabled"), default=True),
        system_prompt=_optional_flag(item.get("systemPrompt")),
        position=int(place.get("position") == 1),
        depth=depth if is_depth(depth) else 4,
        injection_order=order if isinstance(order, (int, float)) else 100,
        triggers=as_texts(place.get("triggers")),
        forbid_overrides=read_flag(item.get("forbidOverrides"), default=False),
        place=f"$.prompts[{number}]",
    )


def _role(value: JsonValue, identifier: str) -> str:
    if isinstance(value, str) and value in ROLES:
        return value
    return "user" if identifier == "currentTurn" else "system"


def _optional_flag(value: JsonValue) -> bool | None:
    return value if isinstance(value, bool) else None


def _orders(
    value: JsonValue, prompts: tuple[PromptEntry, ...], names: dict[str, str], notes: Notebook
) -> tuple[PromptOrder, ...]:
    if not isinstance(value, list):
        notes.add(
            "order-missing",
            "the file has no promptOrder; the entries stand as they are listed",
            "$.promptOrder",
        )
        return (PromptOrder("", tuple(OrderItem(entry.identifier) for entry in prompts)),)
    if len(value) > MAX_ENTRIES:
        message = f"$.promptOrder has {len(value):,} items; presets are read up to {MAX_ENTRIES:,}"
        raise InputTooLarge(message)
    items = [
        item for item in value if isinstance(item, dict) and isinstance(item.get("promptId"), str)
    ]
    places = {id(item): number for number, item in enumerate(items)}

    def place(item: JsonObject) -> float:
        index = item.get("orderIndex")
        is_number = isinstance(index, (int, float)) and not isinstance(index, bool)
        return (
            float(index)
            if is_number and isinstance(index, (int, float))
            else float(places[id(item)])
        )

    listed = tuple(
        OrderItem(
            names.get(str(item["promptId"]), str(item["promptId"])),
            read_flag(item.get("enabled"), default=True),
        )
        for item in sorted(items, key=place)
    )
    return (PromptOrder("", listed),)


def _squash(policy: JsonValue, notes: Notebook) -> str | bool | None:
    value = policy.get("squash") if isinstance(policy, dict) else None
    if value is None or isinstance(value, bool) or value in MODES:
        return value if isinstance(value, (str, bool)) else None
    notes.add(
        "squash-unknown",
        f"messagePolicy.squash is {shown(value)}, no mode; the default applies",
        "$.messagePolicy.squash",
    )
    return None


def _unsupported(value: JsonValue) -> tuple[Unsupported, ...]:
    return tuple(
        Unsupported(str(item.get("path", "")), str(item.get("reason", "")))
        for item in as_objects(value)
    )


def write_native(preset: Preset, order: PromptOrder) -> JsonObject:
    """The native document of a preset whose chosen order is `order`; fields at their default are left out."""
    is_native = preset.source is PresetSource.NATIVE
    document: JsonObject = {
        "id": preset.id,
        "name": preset.name,
        "source": preset.source.value,
        "prompts": [entry_to_json(entry, keep_flag=is_native) for entry in preset.prompts],
        "promptOrder": [
            {"promptId": item.identifier, "enabled": item.is_enabled, "orderIndex": number}
            for number, item in enumerate(order.items)
        ],
        "generation": generation_to_json(preset.generation),
    }
    if preset.squash is not None:
        document["messagePolicy"] = {"squash": preset.squash}
    changed = {
        key: value
        for key, value in asdict(preset.settings).items()
        if key in SETTING_NAMES and value != getattr(AssemblySettings(), key)
    }
    if changed:
        document["settings"] = changed
    if preset.regex_scripts:
        document["regexScripts"] = list(preset.regex_scripts)
    document["unsupported"] = [
        {"path": part.path, "reason": part.reason} for part in preset.unsupported
    ]
    return document


def entry_to_json(entry: PromptEntry, *, keep_flag: bool) -> JsonObject:
    """One entry of the native form; the own flag of a SillyTavern entry is dead and becomes true."""
    item: JsonObject = {
        "id": entry.identifier,
        "name": entry.name,
        "enabled": entry.is_enabled if keep_flag else True,
        "role": entry.role,
        "content": entry.content,
        "marker": entry.is_marker,
        "sourceIdentifier": entry.identifier,
    }
    if entry.position or entry.triggers:
        injection: JsonObject = {"position": entry.position}
        if is_depth(entry.depth):
            injection["depth"] = entry.depth
        if isinstance(entry.injection_order, (int, float)):
            injection["order"] = entry.injection_order
        if entry.triggers:
            injection["triggers"] = list(entry.triggers)
        item["injection"] = injection
    if entry.forbid_overrides:
        item["forbidOverrides"] = True
    if entry.system_prompt is not None:
        item["systemPrompt"] = entry.system_prompt
    return item
