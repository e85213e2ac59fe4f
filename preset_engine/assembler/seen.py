"""What was found out about a history before: kept by its records, so that a longer one need not be read again.

A history is one immutable tuple of shared records, so two histories of one chat begin with the same objects. The
memory compares references first and holds the last few chats only; it keeps no text of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Generic, TypeVar

from preset_engine.messages import ChatMessage, ChatRecord

_CHATS = 8
_ROLE, _CALLS = attrgetter("role"), attrgetter("tool_calls")

T = TypeVar("T")
Records = tuple[ChatMessage | ChatRecord, ...]


class SeenHistories(Generic[T]):
    """Findings about the last few histories, each for a key of what was asked."""

    def __init__(self) -> None:
        self._seen: deque[tuple[Hashable, Records, T]] = deque(maxlen=_CHATS)

    def recall(self, stored: Records, key: Hashable) -> tuple[T, int, int] | None:
        """The finding about the history that shares the longest beginning with this one.

        Returns:
            The finding, the number of records it is about, how many of them are shared; None when there is none.
        """
        best, length = None, 0
        for entry in tuple(self._seen):  # another thread may remember something meanwhile
            if stored and entry[1][0] is stored[0] and entry[0] == key:
                shared = shared_length(entry[1], stored)
                if shared >= length:
                    best, length = entry, shared
        if best is None:
            return None
        with suppress(ValueError):
            self._seen.remove(best)
        return best[2], len(best[1]), length

    def remember(self, stored: Records, key: Hashable, finding: T) -> None:
        """Keep a finding; the oldest one goes."""
        if stored:
            self._seen.append((key, stored, finding))

    def forget(self) -> None:
        """Forget everything; only a benchmark needs it."""
        self._seen.clear()


def shared_length(first: Sequence[object], second: Sequence[object]) -> int:
    """How many records two histories begin with in common; references are compared before values."""
    low, high = 0, min(len(first), len(second))
    if first[:high] == second[:high]:
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle
    return low


tools: SeenHistories[bool] = SeenHistories()


def has_tools(stored: Records) -> bool:
    """Whether a history holds tool calls or answers; only records not seen before are looked at."""
    known = tools.recall(stored, None)
    found, start = False, 0
    if known is not None:
        found, size, start = known
        if found and start < size:
            found, start = False, 0
    if not found:
        found = _any_tools(stored[start:] if start else stored)
    tools.remember(stored, None, found)
    return found


def _any_tools(records: Records) -> bool:
    try:
        return any(map(_CALLS, records)) or "tool" in map(_ROLE, records)
    except AttributeError:  # chat records have neither
        return _any_tools(tuple(one for one in records if isinstance(one, ChatMessage)))
