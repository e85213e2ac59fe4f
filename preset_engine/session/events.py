"""Events: what observers are told, and nothing they do can change or stop a turn.

An observer takes an event and returns nothing. Whatever it raises becomes an `error` event for the others; one
that does not return in time is left behind the same way. Who wants to *change* a prompt is no observer but a
mutation producer (`session.prompt`): that one is awaited, gives typed values, and its failure fails the turn.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import anyio

from preset_engine.errors import SessionError
from preset_engine.llm.request import ToolCall
from preset_engine.session.call import CallReport
from preset_engine.session.cancellation import is_asked_for
from preset_engine.session.tools import ToolResult


class EventKind(StrEnum):
    """What happened."""

    MESSAGE = "message"  # the user said something
    REPLY = "reply"  # a reply was stored
    ROUND_START = "round_start"  # a model call begins
    ROUND_END = "round_end"  # it was stored
    MODEL_CALL = "model_call"  # a call ended, well or not; carries the whole report
    TOOL_CALL = "tool_call"  # the model asked for a tool; before any tool of the round runs
    TOOL_RESULT = "tool_result"  # a tool answered; after all tools of the round have run
    SESSION_ENTER = "session_enter"  # somebody holds the session's engine
    SESSION_LEAVE = "session_leave"
    SESSION_FORK = "session_fork"
    SESSION_ARCHIVE = "session_archive"
    CONSOLIDATED = "consolidated"  # a new memory was stored
    ERROR = "error"  # something failed that does not fail the caller, or did fail a turn


@dataclass(frozen=True, slots=True)
class Event:
    """One event; only the fields that its kind speaks of are set.

    Attributes:
        kind: what happened.
        session_id: where.
        text: the message, the reply or the memory.
        round: number of the model call in its turn, from 0.
        call: the tool call.
        result: the tool's answer.
        report: the model call.
        child_id: the new session of a fork.
        error: what failed.
        source: for errors: the event or work during which it happened.
    """

    kind: EventKind
    session_id: str
    text: str | None = None
    round: int | None = None
    call: ToolCall | None = None
    result: ToolResult | None = None
    report: CallReport | None = None
    child_id: str | None = None
    error: BaseException | None = None
    source: str = ""


Observer: TypeAlias = Callable[[Event], Awaitable[None] | None]


class Observers:
    """Those who are told, in the order in which they came.

    Args:
        observers: the first ones.
        limit_seconds: how long an asynchronous observer may take for one event.
    """

    def __init__(self, observers: Iterable[Observer] = (), limit_seconds: float = 5.0) -> None:
        self._observers = list(observers)
        self.limit_seconds = limit_seconds

    def add(self, observer: Observer) -> None:
        """Tell one more."""
        self._observers.append(observer)

    def remove(self, observer: Observer) -> None:
        """Tell one less; unknown ones are ignored."""
        if observer in self._observers:
            self._observers.remove(observer)

    async def emit(self, event: Event) -> None:
        """Tell everybody; never raises."""
        for observer in tuple(self._observers):
            error = await self._tell(observer, event)
            if error is not None and event.kind is not EventKind.ERROR:
                await self.emit(
                    Event(EventKind.ERROR, event.session_id, error=error, source=event.kind.value)
                )

    async def _tell(self, observer: Observer, event: Event) -> Exception | None:
        try:
            with anyio.move_on_after(self.limit_seconds) as scope:
                told = observer(event)
                if inspect.isawaitable(told):
                    await told
        except Exception as error:  # noqa: BLE001  an observer's fault is an event, never the turn's
            return error
        except asyncio.CancelledError:
            if is_asked_for():
                raise
            return SessionError("an observer waited for something that was cancelled")
        if scope.cancelled_caught:
            return SessionError(f"an observer took longer than {self.limit_seconds:g} seconds")
        return None
