"""Texts with a depth go into the history: which place, in which order, joined with what.

Depth d stands before the d-th record counted from the end; 0 is behind the last, anything deeper than the
history stands at its head, deepest first. At one depth lower orders come first; inside one order assistant,
then user, then system stand nearest to the end. Prompts of one depth, order and role are one message; extension
prompts join those of order 100 (SillyTavern reference, section 6). Only depths in use are visited.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from preset_engine.assembler.collection import Prompt
from preset_engine.assembler.extension import ExtensionPrompt
from preset_engine.assembler.pieces import Pieces, draft_of, expand, join, trim
from preset_engine.assembler.scene import Trace
from preset_engine.assembler.turns import has_signs
from preset_engine.messages import Draft, JsonValue

DEEPEST = 10_000
_USUAL_ORDER = 100
_ROLES = ("system", "user", "assistant")  # from the end of the chat upwards


@dataclass(frozen=True, slots=True)
class Group:
    """Prompts of one depth, order and role, as one message.

    Attributes:
        depth: in items from the end of the history.
        role: wire name of the role.
        pieces: its text.
        draft: the message, where the text holds no sign of a macro; None where macros may still run in it.
    """

    depth: int
    role: str
    pieces: Pieces
    draft: Draft | None


@dataclass(frozen=True, slots=True)
class Injection:
    """A group at its place in a history.

    Attributes:
        item: number of the history item it stands before; the history's length puts it at the end.
        group: what stands there.
    """

    item: int
    group: Group

    @property
    def role(self) -> str:
        """Wire name of the role."""
        return self.group.role

    @property
    def pieces(self) -> Pieces:
        """Its text."""
        return self.group.pieces


def inject(
    prompts: Sequence[Prompt],
    extensions: Sequence[ExtensionPrompt],
    length: int,
    work: Trace,
) -> list[Injection]:
    """The injections of a history of this many items, from the oldest place to the newest.

    Args:
        prompts: prompts that stand in the chat, in list order; their macros have run once.
        extensions: extension prompts that stand in the chat, in key order; their macros run here.
        length: number of items of the history.
        work: runs macros.
    """
    return place_groups(group_prompts(prompts, extensions, work), length)


def place_groups(groups: Iterable[Group], length: int) -> list[Injection]:
    """Groups at their places in a history of this many items, oldest place first."""
    found = [Injection(max(0, length - group.depth), group) for group in groups]
    found.reverse()
    return found


# The messages of the prompts in the chat: without extension prompts they follow from the prompts alone.
_groups: deque[tuple[tuple[Prompt, ...], tuple[Group, ...]]] = deque(maxlen=16)


def group_prompts(
    prompts: Sequence[Prompt], extensions: Sequence[ExtensionPrompt], work: Trace
) -> tuple[Group, ...]:
    """The messages for all depths in use, from the end of the chat upwards, as SillyTavern makes them."""
    if extensions:
        return _group(prompts, extensions, work)
    key = tuple(prompts)
    found = next((groups for known, groups in tuple(_groups) if known == key), None)
    if found is None:
        found = _group(prompts, (), work)
        _groups.append((key, found))
    return found


def _group(
    prompts: Sequence[Prompt], extensions: Sequence[ExtensionPrompt], work: Trace
) -> tuple[Group, ...]:
    by_depth: dict[int, list[Prompt]] = {}
    for prompt in prompts:
        depth = _whole(prompt.depth)
        if depth is not None and prompt.pieces:
            by_depth.setdefault(depth, []).append(prompt)
    notes: dict[int, list[ExtensionPrompt]] = {}
    for note in extensions:
        depth = _whole(note.depth)
        if depth is not None:
            notes.setdefault(depth, []).append(note)
    return tuple(
        group
        for depth in sorted(by_depth.keys() | notes.keys())
        for group in _at_depth(depth, by_depth.get(depth, ()), notes.get(depth, ()), work)
    )


def _at_depth(
    depth: int, prompts: Sequence[Prompt], notes: Sequence[ExtensionPrompt], work: Trace
) -> Iterable[Group]:
    """The messages of one depth, from the end of the chat upwards."""
    groups: dict[tuple[float, int], list[Prompt]] = {}
    for prompt in prompts:
        if prompt.role in _ROLES:
            key = (-_number(prompt.order), _ROLES.index(prompt.role))
            groups.setdefault(key, []).append(prompt)
    for note in notes:
        groups.setdefault((-_USUAL_ORDER, _ROLES.index(note.role)), [])
    for order, number in sorted(groups):
        members, role = groups[order, number], _ROLES[number]
        own = trim(join((prompt.pieces for prompt in members), "\n"))
        if order == -_USUAL_ORDER and notes:
            texts = join((note.pieces for note in notes if note.role == role), "\n")
            own = join((own, trim(expand(texts, work))), "\n")
        if own:
            is_one = len(members) == 1 and members[0].pieces is own
            draft = members[0].draft if is_one else draft_of(role, own)
            yield Group(depth, role, own, None if has_signs(draft.message.text) else draft)


def _whole(depth: JsonValue) -> int | None:
    """A depth that finds a place: a whole number from 0 to 10000, not a text."""
    if isinstance(depth, bool) or not isinstance(depth, int | float):
        return None
    if isinstance(depth, float) and not depth.is_integer():
        return None
    return int(depth) if 0 <= depth <= DEEPEST else None


def _number(order: JsonValue) -> float:
    """An order as a number; texts are read as JavaScript reads them, missing is 100."""
    if order is None:
        return _USUAL_ORDER
    if isinstance(order, bool | int | float):
        return float(order)
    try:
        number = float(str(order).strip() or 0)
    except ValueError:
        return _USUAL_ORDER
    return number if math.isfinite(number) else _USUAL_ORDER
