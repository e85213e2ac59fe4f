"""A running turn: text as it comes, and the result once it is stored.

Reading drives the work: every step waits for the next piece of text, and the commit happens before the last
step ends. Whoever stops reading early gives the turn up, and nothing is stored::

    async with session.stream("Hello") as turn:
        async for text in turn:
            print(text, end="")
    result = await turn.result()

`result()` reads what is left, so a caller who wants no pieces just awaits it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Generic, Self, TypeVar

from preset_engine.errors import ModelAborted, SessionError
from preset_engine.llm.abort import Abort

R = TypeVar("R")


class TurnStream(Generic[R]):
    """Text pieces of a turn, then its result.

    Args:
        steps: yields text, and the result as its last value.
        result_type: the type of the result; everything else that comes is text.
        abort: ends the turn from outside.
    """

    def __init__(
        self,
        steps: AsyncGenerator[str | R, None],
        result_type: type[R],
        abort: Abort | None = None,
    ) -> None:
        self._steps = steps
        self._type = result_type
        self._abort = abort or Abort()
        self._result: R | None = None
        self._error: Exception | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while (step := await self._step()) is not None:
            if isinstance(step, self._type):
                self._result = step
            elif isinstance(step, str) and step:
                return step
        raise StopAsyncIteration

    async def _step(self) -> str | R | None:
        if self._error is not None:
            return None
        try:
            async with self._abort.guard():
                return await anext(self._steps, None)
        except Exception as error:
            await (
                self._steps.aclose()
            )  # one that is aborted between two steps still holds what it holds
            if isinstance(error, ModelAborted) and self._result is not None:
                return None  # too late: the turn is stored
            self._error = error
            raise

    async def result(self) -> R:
        """The result, after reading what is left.

        Raises:
            SessionError: the turn was given up before its end.
            PresetEngineError: what ended the turn; the same again when asked again.
        """
        if self._error is not None:
            raise self._error
        async for _ in self:
            pass
        if self._result is None:
            raise SessionError("the turn was given up before its end; nothing was stored")
        return self._result

    async def aclose(self) -> None:
        """Give the turn up; after its end this does nothing."""
        await self._steps.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del kind, error, trace
        await self.aclose()
