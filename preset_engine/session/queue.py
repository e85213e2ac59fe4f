"""One thing at a time for each session, everything at once across sessions.

Turns, streams, consolidations, forks and archiving of one session run one after another, in the order in which
they were asked for. A tool that runs inside a turn may fork or archive any session without waiting, since every
commit is whole; but it may not start another turn of its own session: it would wait for itself. Nor may tools of two
sessions wait for each other's session; the one that would close such a circle is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import anyio

from preset_engine.errors import SessionError


@dataclass(eq=False, slots=True)
class _Inside:
    """A turn whose tools run; tasks that they leave behind see that it has ended."""

    owner: Queues
    key: str
    is_open: bool = True


_working: ContextVar[tuple[_Inside, ...]] = ContextVar("_working", default=())


@dataclass(slots=True)
class _Line:
    turn: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(1))
    members: int = 0


class Queues:
    """A queue for each key; a key that nobody waits for takes no room."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        self._waiting: list[
            tuple[frozenset[str], str]
        ] = []  # turns, and the key that their tool waits for

    @asynccontextmanager
    async def turn(self, key: str, *, may_join: bool = False) -> AsyncIterator[None]:
        """Wait for the key and hold it for the block.

        Args:
            key: the session.
            may_join: work that a tool starts runs inside the tool's turn.

        Raises:
            SessionError: the block would wait for the turn it is part of.
        """
        marks = _working.get()
        inside = frozenset(mark.key for mark in marks if mark.owner is self and mark.is_open)
        if key in inside and not may_join:
            raise SessionError(f"a tool of session {key!r} cannot start another turn of it")
        if inside and may_join:
            yield  # waiting for another session here could be waiting for one that waits for us
            return
        line = self._lines.setdefault(key, _Line())
        line.members += 1
        try:
            with self._waits(inside, key):
                await line.turn.acquire()
            try:
                yield
            finally:
                line.turn.release()
        finally:
            line.members -= 1
            if not line.members:
                self._lines.pop(key, None)

    @contextmanager
    def _waits(self, inside: frozenset[str], key: str) -> Iterator[None]:
        """Note who waits for whom, and refuse a circle."""
        seen: set[str] = set()
        pending = [key] if inside else []
        while pending:
            waited_for = pending.pop()
            if waited_for in inside:
                raise SessionError(
                    f"a tool cannot wait for session {key!r}: a tool of that session waits for this one"
                )
            if waited_for not in seen:
                seen.add(waited_for)
                pending += [wanted for turns, wanted in self._waiting if waited_for in turns]
        entry = (inside, key)
        self._waiting.append(entry)
        try:
            yield
        finally:
            self._waiting.remove(entry)

    @contextmanager
    def working(self, key: str) -> Iterator[None]:
        """Mark the tasks started in the block as part of the key's turn."""
        mark = _Inside(self, key)
        token = _working.set((*_working.get(), mark))
        try:
            yield
        finally:
            mark.is_open = False
            _working.reset(token)
