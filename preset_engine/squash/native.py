"""Shaping in the native dialect: the mode works on the zones around the history, never on the history.

The zones before and after are shaped each on its own, so nothing joins across a border and the last user
turn of the history stays apart from the current turn. Inside the history only neighbours of one role join;
nothing changes its role, so a depth entry stays a system message. "First" in `semi` and `strict` means first
of the whole prompt. The strict placeholder is decided on the whole prompt too, and none is added where the
history supplies the first turn (design decision 3; reference/seeds.md, section 3.8).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from preset_engine.messages import Draft
from preset_engine.squash.mode import Mode, mode_of
from preset_engine.squash.names import NO_NAMES, Names
from preset_engine.squash.post_process import placeholder_place, shape
from preset_engine.squash.shaped import PLACEHOLDER, placeholder_message, placeholder_pieces
from preset_engine.squash.system import squash_system
from preset_engine.squash.zones import HistoryZone, Zones

DEFAULT_MODE = Mode.STRICT
_zones: deque[tuple[tuple[object, ...], tuple[Draft, ...]]] = deque(maxlen=16)


def shape_zones(
    zones: Zones,
    mode: Mode | str | bool = DEFAULT_MODE,
    names: Names = NO_NAMES,
    placeholder: str = PLACEHOLDER,
) -> Zones:
    """Shape the three zones of a prompt.

    Args:
        zones: the prompt as the holes gave it.
        mode: a mode or its name; True is the boolean (system messages only), False is `none`.
        names: who takes part; only named messages and the mode `single` need it.
        placeholder: text of the user message that `strict` may add.

    Raises:
        AssemblyError: there is no such mode.
    """
    if mode is True:
        return replace(zones, before=squash_system(zones.before), after=squash_system(zones.after))
    chosen = Mode.NONE if mode is False else mode if isinstance(mode, Mode) else mode_of(mode)
    if chosen is Mode.NONE:
        return zones
    before = _shape_zone(zones.before, chosen, names, is_first=True)
    is_start = not before and zones.history.is_empty
    after = _shape_zone(zones.after, chosen, names, is_first=is_start)
    given = zones.history
    history = HistoryZone(given.records, given.start, given.injected, True, given.pieces_of)
    shaped = Zones(before, history, after, zones.tail)
    return _with_placeholder(shaped, placeholder) if chosen.basic is Mode.STRICT else shaped


def _shape_zone(
    drafts: tuple[Draft, ...], mode: Mode, names: Names, *, is_first: bool
) -> tuple[Draft, ...]:
    """One zone for itself; remembered, since most turns send most of a preset again."""
    if not drafts:
        return ()
    key = (mode, is_first, names, drafts)
    found = next((shaped for known, shaped in tuple(_zones) if known == key), None)
    if found is None:
        messages = [draft.message for draft in drafts]
        found = tuple(shape(messages, mode, names, None, is_first=is_first).drafts(drafts))
        if all(isinstance(message.content, str) for message in messages):  # parts can be changed
            _zones.append((key, found))
    return found


def _with_placeholder(zones: Zones, text: str) -> Zones:
    """Add the user message that a strict provider wants before the first other turn, if one is missing.

    The first two messages decide.
    """
    if has_turns(zones.history):
        # The history supplies the first turn, unless a zone before it begins with the assistant.
        place = placeholder_place(_roles(zones.before[:2])) if len(zones.before) > 1 else None
        place = 0 if zones.before and zones.before[0].message.role == "assistant" else place
    else:
        place = placeholder_place(_roles((*zones.before[:2], *zones.after[:2])))
    if place is None:
        return zones
    added = Draft(placeholder_message(text), placeholder_pieces(text))
    if place < len(zones.before):
        return replace(zones, before=(*zones.before[:place], added, *zones.before[place:]))
    rest = place - len(zones.before)
    return replace(zones, after=(*zones.after[:rest], added, *zones.after[rest:]))


def has_turns(history: HistoryZone) -> bool:
    """Whether the history says anything but system messages."""
    return any(
        message.role != "system" for message in islice(history.records, history.start, None)
    ) or any(one.draft.message.role != "system" for one in history.injected)


def _roles(drafts: Sequence[Draft]) -> list[str]:
    return [draft.message.role for draft in drafts]
