"""What an import found, counted: for the report, not for the assembly."""

from __future__ import annotations

from dataclasses import dataclass

from preset_engine.messages import JsonObject
from preset_engine.preset.census import MacroUse
from preset_engine.preset.generation import generation_to_json
from preset_engine.preset.model import Preset, PromptEntry, PromptOrder
from preset_engine.preset.orders import chosen_order
from preset_engine.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Counts and names beside the notes.

    Attributes:
        form: the form of the file (`sillytavern`, `native`, `old`, `manager_export`, `settings`, `prompt_list`).
        macros: the census, most used first; `is_known` tells whether the engine expands the name.
        order: the list that the native dialect follows.
        missing: identifiers that the order names and no entry has.
    """

    form: str
    macros: tuple[MacroUse, ...]
    order: PromptOrder
    missing: tuple[str, ...]


def enabled_entries(preset: Preset) -> tuple[PromptEntry, ...]:
    """The entries that take part, in the order that the native dialect follows.

    In a native package the entry's own flag must be on as well; in a SillyTavern file only the order decides.
    """
    by_id: dict[str, PromptEntry] = {}
    for entry in preset.prompts:
        by_id.setdefault(entry.identifier, entry)
    both = preset.source == "native"
    found = {
        item.identifier: by_id[item.identifier]
        for item in chosen_order(preset).items
        if item.is_enabled and item.identifier in by_id
    }
    return tuple(entry for entry in found.values() if entry.is_enabled or not both)


def summary(preset: Preset, found: Diagnostics, counter: TokenCounter | None) -> JsonObject:
    """The `preset` object of a report; tokens of all and of enabled entries when a counter is given."""
    enabled = enabled_entries(preset)
    listed = {item.identifier for item in found.order.items}
    body: JsonObject = {
        "id": preset.id,
        "name": preset.name,
        "source": preset.source.value,
        "prompt_count": len(preset.prompts),
        "enabled_count": len(enabled),
        "unlisted_count": sum(entry.identifier not in listed for entry in preset.prompts),
        "in_chat_count": sum(entry.position == 1 for entry in enabled),
        "order_count": len(preset.orders),
        "order_character_id": found.order.character_id,
        "missing_identifiers": list(found.missing),
        "regex_script_count": len(preset.regex_scripts),
        "generation": generation_to_json(preset.generation),
        "squash": preset.squash,
        "unsupported": [{"path": part.path, "reason": part.reason} for part in preset.unsupported],
    }
    if counter is not None:
        body["tokens"] = {
            "counter": counter.name,
            "all": sum(counter.count(entry.content) for entry in preset.prompts),
            "enabled": sum(counter.count(entry.content) for entry in enabled),
        }
    return body
