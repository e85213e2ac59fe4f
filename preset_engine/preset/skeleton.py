"""The native skeleton: the preset's order with the missing holes added around `chatHistory`.

Holes that the author placed stay where they are, whether they take part or not; missing ones are added::

    main, chatHistory, jailbreak
        ->  main, worldBookBefore, chatHistory, worldBookAfter, currentTurn, jailbreak, postTurn

Without `chatHistory` the missing holes stand at the end, in the order of the picture. The first `chatHistory`
counts. Extending twice changes nothing. Source: golden/seeds `wa.extended_order`; design, section 3 and
decision 12.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from preset_engine.errors import Note, Weight
from preset_engine.preset.model import OrderItem, Preset, PresetSource, PromptEntry
from preset_engine.preset.orders import chosen_order

HISTORY_HOLE = "chatHistory"
HOLES = ("worldBookBefore", HISTORY_HOLE, "worldBookAfter", "currentTurn", "postTurn")
"""The holes of the native dialect, in their default order."""

_HOLE_NAMES = {
    "worldBookBefore": "World book before the history",
    "chatHistory": "Chat history",
    "worldBookAfter": "World book after the history",
    "currentTurn": "Current turn",
    "postTurn": "After the turn",
}


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The ordered places of a prompt.

    Attributes:
        order: every place with whether it takes part, extended by the missing holes.
        entries: the entry of each place; the first of an identifier counts. Holes have no text of their own.
        added: holes that the preset did not hold as entries.
        notes: texts of holes that are ignored.
    """

    order: tuple[OrderItem, ...]
    entries: Mapping[str, PromptEntry]
    added: tuple[PromptEntry, ...] = ()
    notes: tuple[Note, ...] = ()


def native_skeleton(preset: Preset) -> Skeleton:
    """The skeleton that the native dialect fills.

    In a native package an entry takes part only where its own flag agrees with the order; in a
    SillyTavern file the order alone decides.
    """
    both_flags = preset.source is PresetSource.NATIVE
    entries: dict[str, PromptEntry] = {}
    for entry in preset.prompts:
        entries.setdefault(entry.identifier, entry)
    order = extend_order(chosen_order(preset).items)
    added = added_holes(order, entries)
    places = {entry.identifier: _emptied(entry) for entry in (*entries.values(), *added)}
    return Skeleton(
        order=tuple(
            item
            if not item.is_enabled or _agrees(places, item, both_flags)
            else replace(item, is_enabled=False)
            for item in order
        ),
        entries=places,
        added=added,
        notes=tuple(_ignored_texts(entries.values())),
    )


def extend_order(items: Sequence[OrderItem]) -> tuple[OrderItem, ...]:
    """The order with the missing holes; idempotent."""
    listed = [item.identifier for item in items]
    missing = [hole for hole in HOLES if hole not in listed]
    found = list(items)
    if HISTORY_HOLE in missing:
        return (*found, *map(OrderItem, missing))
    anchor = listed.index(HISTORY_HOLE)
    behind = anchor + 1
    if found[behind : behind + 1] and found[behind].identifier == "worldBookAfter":
        behind += 1
    after = [hole for hole in ("worldBookAfter", "currentTurn") if hole in missing]
    before = [hole for hole in ("worldBookBefore",) if hole in missing]
    last = [hole for hole in ("postTurn",) if hole in missing]
    return (
        *found[:anchor],
        *map(OrderItem, before),
        *found[anchor:behind],
        *map(OrderItem, after),
        *found[behind:],
        *map(OrderItem, last),
    )


def added_holes(
    order: Iterable[OrderItem], entries: Mapping[str, PromptEntry]
) -> tuple[PromptEntry, ...]:
    """Entries for the holes of an order that the preset has none for; `currentTurn` is the user's."""
    identifiers = {item.identifier for item in order}
    return tuple(
        PromptEntry(
            hole,
            _HOLE_NAMES[hole],
            role="user" if hole == "currentTurn" else "system",
            is_marker=True,
            system_prompt=False,
        )
        for hole in HOLES
        if hole in identifiers and hole not in entries
    )


def _agrees(entries: Mapping[str, PromptEntry], item: OrderItem, both_flags: bool) -> bool:
    entry = entries.get(item.identifier)
    return entry is not None and (entry.is_enabled or not both_flags)


def _emptied(entry: PromptEntry) -> PromptEntry:
    """A hole has no text of its own and stands in the linear order."""
    return replace(entry, content="", position=0) if entry.identifier in HOLES else entry


def _ignored_texts(entries: Iterable[PromptEntry]) -> Iterable[Note]:
    for entry in entries:
        if entry.identifier in HOLES and entry.content.strip():
            yield Note(
                "hole-text-ignored",
                f"the hole {entry.identifier!r} has a text of its own, which is not sent",
                path=entry.place or entry.identifier,
                advice="put the text into an entry of its own beside the hole",
                weight=Weight.WARNING,
            )
