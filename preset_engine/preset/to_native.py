"""A SillyTavern preset as a native package.

The chosen order list becomes `promptOrder`, entry flags (dead in SillyTavern) become true, settings keep
SillyTavern's names under `settings`, and the whole document goes into `raw`, so that the way back loses nothing.
"""

from __future__ import annotations

from preset_engine.json_values import as_list
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.model import Preset
from preset_engine.preset.native import write_native
from preset_engine.preset.notebook import Notebook, shown
from preset_engine.preset.orders import chosen_order
from preset_engine.preset.sanitise import first_of_each
from preset_engine.preset.values import fresh_json


def to_native(preset: Preset, notes: Notebook) -> JsonObject:
    """The native document; notes say what has a place in `raw` only."""
    order = chosen_order(preset)
    prompts = first_of_each(preset.prompts)
    if len(prompts) < len(preset.prompts):
        notes.add(
            "cannot-cross",
            "later entries of an identifier that stands already stay behind",
            "$.prompts",
            len(preset.prompts) - len(prompts),
        )
    if len(preset.orders) > 1:
        notes.add(
            "cannot-cross",
            f"a native package has one order; the list of character {shown(order.character_id)} is taken",
            "$.prompt_order",
            len(preset.orders) - 1,
        )
    if any(not entry.is_enabled for entry in prompts):
        notes.add(
            "flags-joined",
            "entries with a flag of their own that is off got it switched on, since only the order decided",
            "$.prompts",
            sum(not entry.is_enabled for entry in prompts),
        )
    document = write_native(preset, order)
    if len(prompts) < len(preset.prompts):
        document["prompts"] = _without_doubles(document)
    if preset.settings.squash_system_messages and preset.squash is None:
        notes.add(
            "mode-crossed",
            "squash_system_messages stays a setting; a native package shapes by messagePolicy.squash",
            "$.squash_system_messages",
        )
    document["raw"] = fresh_json(dict(preset.raw))
    return document


def _without_doubles(document: JsonObject) -> JsonValue:
    found: dict[str, JsonValue] = {}
    prompts = document["prompts"]
    for item in as_list(prompts):
        if isinstance(item, dict):
            found.setdefault(str(item.get("id")), item)
    return list(found.values())
