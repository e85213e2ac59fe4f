"""What SillyTavern makes of a preset right after it is imported.

SillyTavern never assembles from the file as it stands. It first appends every built-in prompt that is
missing, makes a default order where none is saved for its own id, and deletes order entries that name no
prompt. `sillytavern_view` is that result, for the dialect `sillytavern`::

    prompts  a, main           order 100001: a, ghost, main
    view     a, main, nsfw, …  order         a, main
"""

from __future__ import annotations

from dataclasses import replace

from preset_engine.preset.builtin import CURRENT_ORDER_ID, DEFAULT_ORDER, DEFAULT_PROMPTS
from preset_engine.preset.model import OrderItem, Preset, PromptEntry, PromptOrder


def sillytavern_view(preset: Preset) -> tuple[tuple[PromptEntry, ...], tuple[OrderItem, ...]]:
    """The prompts and the one order that SillyTavern 1.19 would use.

    Of several prompts with one identifier only the first is kept, since it wins everywhere. Order entries
    are not thinned out: an identifier that is listed twice is prepared twice.

    Returns:
        The prompts (file order, missing built-ins behind them), and the items of the list saved for
        100001 without those that name no prompt; the default list where there is none.
    """
    found: dict[str, PromptEntry] = {}
    for entry in preset.prompts:
        if entry.identifier not in found:
            found[entry.identifier] = _as_saved(entry)
    for entry in DEFAULT_PROMPTS:
        found.setdefault(entry.identifier, entry)
    current = current_order(preset)
    items = DEFAULT_ORDER if current is None else current.items
    return tuple(found.values()), tuple([item for item in items if item.identifier in found])


def current_order(preset: Preset) -> PromptOrder | None:
    """The list saved for 100001, the only one SillyTavern uses; the first if there are several."""
    return next((order for order in preset.orders if order.character_id == CURRENT_ORDER_ID), None)


def first_of_each(prompts: tuple[PromptEntry, ...]) -> tuple[PromptEntry, ...]:
    """The prompts without later ones of an identifier that stands already."""
    found: dict[str, PromptEntry] = {}
    for entry in prompts:
        found.setdefault(entry.identifier, entry)
    return tuple(found.values())


def _as_saved(entry: PromptEntry) -> PromptEntry:
    """The entry with the values SillyTavern would see, where the import read more kindly.

    In SillyTavern an in-chat prompt whose role is none of the three is lost, a depth that is missing never
    matches, a position counts only as the number 1, and triggers count only as a list.
    """
    saved = entry.saved
    if not saved:
        return entry
    position = saved.get("injection_position")
    in_chat = not isinstance(position, bool) and position == 1
    role = saved.get("role")
    if entry.role != role:
        role = role if isinstance(role, str) and role else ("" if in_chat else "system")
    depth = saved.get("injection_depth") if in_chat else entry.depth
    listed = saved.get("injection_trigger")
    triggers = entry.triggers if isinstance(listed, list) else ()
    if (
        depth is entry.depth
        and (role, in_chat) == (entry.role, entry.position)
        and triggers == entry.triggers
    ):
        return entry
    return replace(entry, role=str(role), position=int(in_chat), depth=depth, triggers=triggers)
