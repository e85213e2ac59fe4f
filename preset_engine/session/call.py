"""One model call with its clock, and the report of it that logs are made from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from preset_engine.errors import AdapterError, PresetEngineError
from preset_engine.llm.request import ModelAdapter
from preset_engine.llm.stream import Reply, ReplyBuilder, deltas
from preset_engine.llm.text import TextPieces
from preset_engine.session.cancellation import is_asked_for
from preset_engine.session.prepared import Prepared


@dataclass(frozen=True, slots=True)
class CallReport:
    """What happened in one model call, for logs: exactly what was sent, and what came back.

    Attributes:
        prepared: the request with its plan; `prepared.loaded.meta.id` is the session.
        reply: the whole reply, or what had arrived when the call failed.
        error: why it failed, or None.
        model: the adapter's name.
        started_at: ISO time stamp.
        seconds: from sending to the last piece.
        first_seconds: from sending to the first text, or None.
    """

    prepared: Prepared
    reply: Reply
    error: BaseException | None
    model: str
    started_at: str
    seconds: float
    first_seconds: float | None


CallListener = Callable[[CallReport], Awaitable[None]]


class Call:
    """One model call with its clock."""

    def __init__(self, adapter: ModelAdapter, prepared: Prepared, started_at: str) -> None:
        self._adapter = adapter
        self._prepared = prepared
        self._builder = ReplyBuilder()
        self._started_at = started_at
        self._start = anyio.current_time()
        self._first: float | None = None

    async def texts(self) -> AsyncGenerator[str, None]:
        """The reply's text as it comes; errors that are not ours become `AdapterError`."""
        pieces = TextPieces()
        try:
            async with aclosing(deltas(self._adapter, self._prepared.request)) as steps:
                async for delta in steps:
                    self._builder.add(delta)
                    text = pieces.add(delta.text or "")
                    if text:
                        self._first = self._first or anyio.current_time()
                        yield text
            if rest := pieces.end():
                yield rest
        except PresetEngineError:
            raise
        except asyncio.CancelledError as error:
            if is_asked_for():
                raise
            raise AdapterError("the adapter waited for something that was cancelled") from error
        except Exception as error:
            words = " ".join(str(error).split())
            raise AdapterError(words or type(error).__name__) from error

    def reply(self) -> Reply:
        """The whole reply."""
        return self._builder.reply()

    def report(self, error: BaseException | None) -> CallReport:
        """What happened, with what had arrived."""
        return CallReport(
            prepared=self._prepared,
            reply=self._builder.partial() if error is not None else self.reply(),
            error=error,
            model=self._adapter.name,
            started_at=self._started_at,
            seconds=anyio.current_time() - self._start,
            first_seconds=None if self._first is None else self._first - self._start,
        )
