"""A native package as a SillyTavern preset.

Where the package was converted from a SillyTavern file (`raw` holds it), that file is the ground: entries keep
their unknown fields, and keys that the native form does not know come back. Both flags of an entry become the one
that SillyTavern knows, that of the order.
"""

from __future__ import annotations

from dataclasses import asdict, replace

from preset_engine.json_values import as_list
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.assembly_settings import NAMES as SETTING_NAMES
from preset_engine.preset.builtin import BUILT_IN_TEXTS, CURRENT_ORDER_ID, MARKERS, NATIVE_HOLES
from preset_engine.preset.entries import read_entries
from preset_engine.preset.generation import SILLYTAVERN_NAMES
from preset_engine.preset.model import AssemblySettings, Preset, PromptEntry
from preset_engine.preset.notebook import Notebook, shown
from preset_engine.preset.orders import chosen_order
from preset_engine.preset.values import fresh_json


def to_sillytavern(preset: Preset, notes: Notebook) -> JsonObject:
    """The SillyTavern document; notes say what it cannot say."""
    document = _ground(preset)
    _write_generation(preset, document)
    _write_settings(preset, document)
    _write_mode(preset, document, notes)
    entries = [entry for entry in preset.prompts if _can_cross(entry, notes)]
    known = {entry.identifier: entry.is_enabled for entry in entries}
    saved = _saved_entries(document.get("prompts"))
    document["prompts"] = [
        sillytavern_entry(entry, saved.get(entry.identifier)) for entry in entries
    ]
    items: list[JsonValue] = [
        {"identifier": item.identifier, "enabled": item.is_enabled and known[item.identifier]}
        for item in chosen_order(preset).items
        if item.identifier in known
    ]
    if not all(known.values()):
        notes.add(
            "flags-joined",
            "an entry takes part in SillyTavern when the order says so; both flags are joined there",
            "$.prompts",
            sum(not flag for flag in known.values()),
        )
    document["prompt_order"] = [{"character_id": int(CURRENT_ORDER_ID), "order": items}]
    if preset.regex_scripts and not preset.raw.get("raw"):
        document["extensions"] = {
            "regex_scripts": [dict(script) for script in preset.regex_scripts]
        }
    return document


def _ground(preset: Preset) -> JsonObject:
    raw = preset.raw.get("raw")
    if isinstance(raw, dict) and ("prompts" in raw or "prompt_order" in raw):
        copied = fresh_json(raw)
        if isinstance(copied, dict):
            return copied
    return {}


def _write_generation(preset: Preset, document: JsonObject) -> None:
    for key, attribute in SILLYTAVERN_NAMES.items():
        value = getattr(preset.generation, attribute)
        if value is not None:
            document[key] = value


def _write_settings(preset: Preset, document: JsonObject) -> None:
    defaults = AssemblySettings()
    for key, value in asdict(preset.settings).items():
        if key in SETTING_NAMES and (value != getattr(defaults, key) or key in document):
            document[key] = value


def _write_mode(preset: Preset, document: JsonObject, notes: Notebook) -> None:
    if isinstance(preset.squash, bool):
        document["squash_system_messages"] = preset.squash
    elif preset.squash is not None:
        document["custom_prompt_post_processing"] = "" if preset.squash == "none" else preset.squash
        notes.add(
            "mode-crossed",
            f"messagePolicy.squash {shown(preset.squash)} became custom_prompt_post_processing",
            "$.messagePolicy.squash",
        )


def _can_cross(entry: PromptEntry, notes: Notebook) -> bool:
    if entry.identifier not in NATIVE_HOLES:
        return True
    notes.add(
        "cannot-cross",
        f"SillyTavern has no hole {shown(entry.identifier)}; it stays behind",
        entry.place,
    )
    return False


def _saved_entries(value: JsonValue) -> dict[str, JsonObject]:
    found: dict[str, JsonObject] = {}
    for item in as_list(value):
        if isinstance(item, dict):
            found.setdefault(str(item.get("identifier")), item)
    return found


def sillytavern_entry(entry: PromptEntry, saved: JsonObject | None = None) -> JsonObject:
    """One element of `prompts[]`; a saved one keeps its unknown fields and its order of keys."""
    is_custom = entry.identifier not in MARKERS and entry.identifier not in BUILT_IN_TEXTS
    flag = not is_custom if entry.system_prompt is None else entry.system_prompt
    item: JsonObject = {"identifier": entry.identifier, "name": entry.name, "system_prompt": flag}
    if entry.is_marker and entry.identifier in MARKERS:
        item["marker"] = True
    else:
        item |= {"marker": entry.is_marker, "role": entry.role, "content": entry.content}
    if entry.position or entry.triggers or entry.forbid_overrides or is_custom:
        item |= {
            "injection_position": entry.position,
            "injection_depth": entry.depth,
            "injection_order": entry.injection_order,
            "injection_trigger": list(entry.triggers),
            "forbid_overrides": entry.forbid_overrides,
        }
    return _merged(saved, item) if saved is not None else item


def _merged(saved: JsonObject, item: JsonObject) -> JsonObject:
    """The saved entry with what the preset says now; a field that says the same keeps its spelling."""
    read = read_entries([saved], Notebook())
    before = sillytavern_entry(replace(read[0], place="")) if read else {}
    changed = {key: value for key, value in item.items() if before.get(key) != value}
    return {**saved, **changed}
