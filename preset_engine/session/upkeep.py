"""Consolidation: a session's memory made anew, when asked for and on every n-th completed turn.

Due ones run in the background while the agent is used as a context manager, and before the turn returns
otherwise. Either way a failure is an event and never the turn's.
"""

from __future__ import annotations

import anyio
from anyio.abc import TaskGroup

from preset_engine.session.engine import AgentTurn, Engine
from preset_engine.session.engines import Engines
from preset_engine.session.events import Event, EventKind, Observers
from preset_engine.session.queue import Queues


class Upkeep:
    """Consolidates the sessions of an agent."""

    def __init__(self, engines: Engines, queues: Queues, observers: Observers) -> None:
        self._engines = engines
        self._queues = queues
        self._observers = observers
        self._tasks: TaskGroup | None = None

    async def open(self) -> None:
        """From now on, due consolidations run in the background."""
        self._tasks = await anyio.create_task_group().__aenter__()

    async def close(self, *, is_failing: bool = False) -> None:
        """Wait for those that run; after a failure end them, so that it comes out as it is."""
        tasks, self._tasks = self._tasks, None
        if tasks is not None:
            if is_failing:
                tasks.cancel_scope.cancel()
            await tasks.__aexit__(None, None, None)

    async def consolidate(self, session_id: str) -> str:
        """Make the memory anew and store it, in the session's queue.

        Raises:
            NotConfigured: there is no consolidate function.
        """
        async with self._engines.hold(session_id) as engine, self._queues.turn(session_id):
            return await self._consolidate(engine)

    async def after_turn(self, engine: Engine, turn: AgentTurn, every: int) -> None:
        """Consolidate if the turn was the n-th; call it inside the session's queue."""
        if every <= 0 or turn.calls[-1].meta.turn_count % every:
            return
        if self._tasks is not None:
            self._tasks.start_soon(self._later, engine.session.id)
            return
        try:
            await self._consolidate(engine)
        except Exception as error:  # noqa: BLE001  the turn is stored and stays good
            await self._fail(engine.session.id, error)

    async def _consolidate(self, engine: Engine) -> str:
        text = await engine.session.consolidate()
        await self._observers.emit(Event(EventKind.CONSOLIDATED, engine.session.id, text=text))
        return text

    async def _later(self, session_id: str) -> None:
        try:
            await self.consolidate(session_id)
        except Exception as error:  # noqa: BLE001  background work has nobody to raise to: it is an event
            await self._fail(session_id, error)

    async def _fail(self, session_id: str, error: Exception) -> None:
        event = Event(EventKind.ERROR, session_id, error=error, source="consolidate")
        await self._observers.emit(event)
