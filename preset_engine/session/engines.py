"""Engines in use: one for each session, kept while somebody holds it and a while longer.

Holders are names (a browser tab, a worker). The last one gone, the engine stays for `idle_seconds` and is dropped
when the cache is next used after that; held again before, it goes on. Two who come first at the same moment get
the same engine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from preset_engine.session.clock import fresh_id
from preset_engine.session.engine import Engine
from preset_engine.session.queue import Queues


@dataclass(slots=True)
class _Held:
    engine: Engine
    holders: set[str] = field(default_factory=set)
    idle_since: float | None = None
    is_stale: bool = False


class Engines:
    """The cache.

    Args:
        build: makes the engine of a session; raises for a session that does not exist.
        idle_seconds: how long an engine that nobody holds is kept; 0 drops it at once.
        clock: seconds that only grow; default the event loop's.
    """

    def __init__(
        self,
        build: Callable[[str], Awaitable[Engine]],
        idle_seconds: float = 300.0,
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self._build = build
        self.idle_seconds = idle_seconds
        self._clock = clock
        self._held: dict[str, _Held] = {}
        self._building = Queues()

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._held

    def holders(self, session_id: str) -> frozenset[str]:
        """Who holds the session's engine."""
        held = self._held.get(session_id)
        return frozenset(held.holders) if held else frozenset()

    async def attach(self, session_id: str, holder: str) -> Engine:
        """The session's engine, held under this name until `detach`; attaching twice counts once."""
        self._purge()
        async with self._building.turn(session_id):
            held = self._held.get(session_id)
            if held is None or held.is_stale:
                engine = await self._build(session_id)
                holders = held.holders if held else set[str]()
                held = self._held[session_id] = _Held(engine, holders)
            held.holders.add(holder)
            held.idle_since = None
            return held.engine

    def detach(self, session_id: str, holder: str) -> bool:
        """Give the engine back; whether this name held it."""
        held = self._held.get(session_id)
        if held is None or holder not in held.holders:
            return False
        held.holders.discard(holder)
        if not held.holders:
            held.idle_since = self._clock()
        self._purge()
        return True

    @asynccontextmanager
    async def hold(self, session_id: str) -> AsyncIterator[Engine]:
        """The session's engine for the block, under a name of its own."""
        holder = fresh_id()
        engine = await self.attach(session_id, holder)
        try:
            yield engine
        finally:
            self.detach(session_id, holder)

    def renew(self) -> None:
        """Build every engine anew when it is next asked for (the configuration changed)."""
        for held in self._held.values():
            held.is_stale = True

    def _purge(self) -> None:
        """Drop what has been idle for too long."""
        now = self._clock()
        for session_id, held in tuple(self._held.items()):
            if held.idle_since is not None and now - held.idle_since >= self.idle_seconds:
                del self._held[session_id]
