"""The engine: one user turn, with all the tool rounds it takes.

A turn is a chain of model calls. A reply that asks for tools is stored, the tools run at the same time, their
results go back in the order of the calls, and so on until a reply asks for none. Every call streams, so the text
of later rounds comes as it is written too. A tool that fails, or that nobody knows, is a failed result and the
model reads why; the turn goes on. More rounds than allowed are an error, found when one more would start.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass

import anyio

from preset_engine.errors import ToolLoopLimit
from preset_engine.llm.request import ToolCall, Usage
from preset_engine.session.commit import TurnResult
from preset_engine.session.events import Event, EventKind, Observers
from preset_engine.session.frame import Ask, AskKind
from preset_engine.session.queue import Queues
from preset_engine.session.session import Session
from preset_engine.session.tools import Tool, ToolRegistry, ToolResult, union_by_name

MAX_TOOL_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """A whole user turn.

    Attributes:
        calls: every model call of it, as stored.
        results: every tool result, in order.
    """

    calls: tuple[TurnResult, ...]
    results: tuple[ToolResult, ...] = ()

    @property
    def text(self) -> str | None:
        """The last reply's text."""
        return self.calls[-1].text

    @property
    def tool_rounds(self) -> int:
        """How often tools ran."""
        return len(self.calls) - 1

    @property
    def usage(self) -> Usage:
        """The usage of the last call; each call has its own."""
        return self.calls[-1].usage


class Engine:
    """Runs the turns of one session.

    Args:
        session: the session; its tools become the union with the engine's, where the engine's win.
        tools: the engine's tools; None adds none.
        observers: who is told.
        max_tool_rounds: 0 allows no tool call at all.
        queues: the queues that the turn runs in, so that tools know they are inside it.
    """

    def __init__(
        self,
        session: Session,
        *,
        tools: Sequence[Tool] | None = None,
        observers: Observers | None = None,
        max_tool_rounds: int = MAX_TOOL_ROUNDS,
        queues: Queues | None = None,
    ) -> None:
        self.session = session
        self.max_tool_rounds = max_tool_rounds
        self._observers = observers or Observers()
        self._queues = queues
        self._engine_tools = None if tools is None else tuple(tools)
        self._session_tools = session.tools
        self._registry = ToolRegistry()
        self.push_tools(self._engine_tools)

    def push_tools(self, tools: Sequence[Tool] | None) -> None:
        """Replace the engine's tools; the session's own stay."""
        self._engine_tools = None if tools is None else tuple(tools)
        self.session.tools = union_by_name(self._session_tools, self._engine_tools)
        self._registry = ToolRegistry(self.session.tools or ())

    async def steps(
        self, ask: Ask, *, is_silent: bool = False
    ) -> AsyncGenerator[str | AgentTurn, None]:
        """The work of one turn: yields text as it comes, and the turn last.

        Raises:
            ToolLoopLimit: one more tool round than allowed was asked for.
            PresetEngineError: a model call or a commit failed; rounds before it stay stored.
        """
        if ask.kind is AskKind.SEND:
            await self._tell(EventKind.MESSAGE, text=ask.text)
        calls: list[TurnResult] = []
        results: list[ToolResult] = []
        while True:
            await self._tell(EventKind.ROUND_START, round=len(calls))
            async with aclosing(self._call(ask, is_silent)) as steps:
                async for step in steps:
                    if isinstance(step, TurnResult):
                        calls.append(step)
                    else:
                        yield step
            last = calls[-1]
            with anyio.CancelScope(shield=True):  # it is stored: an abort comes too late for it
                await self._tell(EventKind.REPLY, text=last.text, round=len(calls) - 1)
                await self._tell(EventKind.ROUND_END, round=len(calls) - 1)
            if not last.tool_calls:
                yield AgentTurn(tuple(calls), tuple(results))
                return
            self._check_limit(len(calls))
            answers = await self._run_tools(last.tool_calls)
            results.extend(answers)
            ask = Ask(AskKind.RESULTS, results=answers, task=ask.task)

    async def _call(self, ask: Ask, is_silent: bool) -> AsyncGenerator[str | TurnResult, None]:
        try:
            async with aclosing(self.session.steps(ask, is_silent=is_silent)) as steps:
                async for step in steps:
                    yield step
        except Exception as error:
            await self._tell(EventKind.ERROR, error=error, source=ask.kind.value)
            raise

    def _check_limit(self, rounds: int) -> None:
        if rounds > self.max_tool_rounds:
            raise ToolLoopLimit(
                f"session {self.session.id!r} asked for more than {self.max_tool_rounds} tool rounds;"
                " raise max_tool_rounds or ask for less at once"
            )

    async def _run_tools(self, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        """Run all calls at once; report them in the order in which the model asked."""
        for call in calls:
            await self._tell(EventKind.TOOL_CALL, call=call)
        results: dict[int, ToolResult] = {}

        async def run(place: int, call: ToolCall) -> None:
            results[place] = await self._registry.execute(call, self.session.id)

        with self._working():
            async with anyio.create_task_group() as group:
                for place, call in enumerate(calls):
                    group.start_soon(run, place, call)
        ordered = tuple(results[place] for place in range(len(calls)))
        for result in ordered:
            await self._tell(EventKind.TOOL_RESULT, result=result)
        return ordered

    def _working(self) -> AbstractContextManager[None]:
        return nullcontext() if self._queues is None else self._queues.working(self.session.id)

    async def _tell(
        self,
        kind: EventKind,
        *,
        text: str | None = None,
        round: int | None = None,
        call: ToolCall | None = None,
        result: ToolResult | None = None,
        error: BaseException | None = None,
        source: str = "",
    ) -> None:
        event = Event(
            kind,
            self.session.id,
            text=text,
            round=round,
            call=call,
            result=result,
            error=error,
            source=source,
        )
        await self._observers.emit(event)
