"""One thing at a time for each session, everything at once across sessions.

Turns, streams, consolidations, forks and archiving of one session run one after another, in the order in which
they were asked for. A tool that runs inside a turn may fork or archive any session without waiting, since every
commit is whole; but it may not start another turn of its own session: it would wait for itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import anyio

from preset_engine.errors import SessionError

_working: ContextVar[frozenset[tuple[int, str]]] = ContextVar("_working", default=frozenset())


@dataclass(slots=True)
class _Line:
    turn: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(1))
    members: int = 0


class Queues:
    """A queue for each key; a key that nobody waits for takes no room."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    @property
    def busy(self) -> tuple[str, ...]:
        """Keys that somebody works on or waits for."""
        return tuple(self._lines)

    @asynccontextmanager
    async def turn(self, key: str, *, may_join: bool = False) -> AsyncIterator[None]:
        """Wait for the key and hold it for the block.

        Args:
            key: the session.
            may_join: work that a tool starts runs inside the tool's turn.

        Raises:
            SessionError: the block would wait for the turn it is part of.
        """
        inside = {held for owner, held in _working.get() if owner == id(self)}
        if key in inside and not may_join:
            raise SessionError(f"a tool of session {key!r} cannot start another turn of it")
        if inside and may_join:
            yield  # waiting for another session here could be waiting for one that waits for us
            return
        line = self._lines.setdefault(key, _Line())
        line.members += 1
        try:
            async with line.turn:
                yield
        finally:
            line.members -= 1
            if not line.members:
                self._lines.pop(key, None)

    @contextmanager
    def working(self, key: str) -> Iterator[None]:
        """Mark the tasks started in the block as part of the key's turn."""
        token = _working.set(_working.get() | {(id(self), key)})
        try:
            yield
        finally:
            _working.reset(token)
