r"""`squash_system_messages`, SillyTavern's switch: neighbouring system messages become one.

Empty system messages go away (blank ones stay). A system message joins the one before it by a single
newline when neither has a name and neither is fixed: the new-chat and new-example messages and the group
nudge stay apart. Nothing else is touched (reference/sillytavern.md, section 12)::

    system A, system "", system B, user c   ->   system "A\nB", user c
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from preset_engine.messages import ChatMessage, Draft
from preset_engine.squash.shaped import Kept, Made, Part, Shaped


def shape_system(messages: Sequence[ChatMessage], fixed: Collection[int] = ()) -> Shaped:
    """Squash a message list.

    Args:
        messages: the flat list, in order.
        fixed: numbers of the messages that never join.
    """
    systems = [number for number, message in enumerate(messages) if message.role == "system"]
    parts: list[Part] = []
    at = 0
    for start, stop in _groups(messages, systems, fixed):
        if start > at:
            parts.append(Kept(at, start))
        parts += _close(messages, start, stop)
        at = stop
    if at < len(messages):
        parts.append(Kept(at, len(messages)))
    return Shaped(messages, tuple(parts))


def squash_messages(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The thin form: a message list in, the squashed list out."""
    fixed = [number for number, message in enumerate(messages) if _is_fixed(message)]
    return shape_system(messages, fixed).messages()


def squash_system(drafts: Iterable[Draft]) -> tuple[Draft, ...]:
    """Squash drafts; their pieces survive, parted by joiners. A draft's `is_fixed` keeps it apart."""
    given = tuple(drafts)
    fixed = frozenset(number for number, draft in enumerate(given) if draft.is_fixed)
    return tuple(shape_system([draft.message for draft in given], fixed).drafts(given))


_FIXED_IDENTIFIERS = frozenset({"newMainChat", "newChat", "groupNudge"})


def _is_fixed(message: ChatMessage) -> bool:
    """Whether SillyTavern's own `identifier` on a message keeps it apart."""
    return bool(message.extra) and (message.extra or {}).get("identifier") in _FIXED_IDENTIFIERS


def _is_empty(message: ChatMessage) -> bool:
    return not message.content


def _is_squashable(message: ChatMessage) -> bool:
    return not message.name and isinstance(message.content, str)


def _groups(
    messages: Sequence[ChatMessage], systems: Sequence[int], fixed: Collection[int]
) -> Iterable[tuple[int, int]]:
    """Runs of system messages that are joined or hold an empty one: what is made anew, as ranges."""
    start = stop = -1
    for number in systems:
        message = messages[number]
        joins = _is_empty(message) or (_is_squashable(message) and number not in fixed)
        if number == stop and joins:
            stop += 1
            continue
        if stop > start >= 0:
            yield start, stop
        start, stop = (number, number + 1) if joins else (-1, -1)
    if stop > start >= 0:
        yield start, stop


def _close(messages: Sequence[ChatMessage], start: int, stop: int) -> list[Part]:
    """One group: the messages with text joined, an untouched single one kept, empty ones gone."""
    full = [number for number in range(start, stop) if not _is_empty(messages[number])]
    if not full:
        return []
    if len(full) == 1:
        return [Kept(full[0], full[0] + 1)]
    first = messages[full[0]]
    text = "\n".join(messages[number].text for number in full)
    return [Made(replace(first, content=text), start, stop, newline="\n")]
