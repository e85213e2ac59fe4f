"""A model that plays a script: for tests, demonstrations and dry runs, without a network or a key.

It is part of the product (design decision 20): applications test their own sessions with it. Each call
plays the next `Play`; what was asked is kept in `requests`::

    model = Scripted(Play.text("Hello", pieces=2), Play.calls(ToolCall("1", "dice")), Play.failure("no luck"))

A script that has run out plays its last play again when `repeat` is set, and fails otherwise.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace

import anyio

from preset_engine.errors import AdapterError, ModelAborted, ProviderRefused
from preset_engine.llm.request import Delta, Request, ToolCall, ToolCallDelta, Usage


@dataclass(frozen=True, slots=True)
class Play:
    """What one call does.

    Attributes:
        steps: the deltas, in order.
        error: raised after the steps that `fail_after` lets through; None ends well.
        fail_after: how many steps come before the error; None is all of them.
        delay_seconds: pause before each step and before the end.
        hangs: never ends by itself after its steps; only cancelling ends it.
    """

    steps: tuple[Delta, ...] = ()
    error: Exception | None = None
    fail_after: int | None = None
    delay_seconds: float = 0.0
    hangs: bool = False

    @classmethod
    def text(cls, text: str | None, *, pieces: int = 1, usage: Usage | None = None) -> Play:
        """A plain reply, cut into so many pieces of about equal length; None is a null content."""
        if text is None:
            steps = [Delta(text=None)]
        else:
            size = max(1, -(-len(text) // max(1, pieces)))
            steps = [Delta(text=text[at : at + size]) for at in range(0, len(text), size)]
        steps.append(Delta(finish_reason="stop", usage=usage))
        return cls(tuple(steps))

    @classmethod
    def chunks(cls, *texts: str, usage: Usage | None = None) -> Play:
        """A plain reply in exactly these pieces."""
        return cls(
            (*(Delta(text=text) for text in texts), Delta(finish_reason="stop", usage=usage))
        )

    @classmethod
    def calls(cls, *calls: ToolCall, text: str | None = None, usage: Usage | None = None) -> Play:
        """A reply that asks for tools, its arguments in two pieces each."""
        steps = [Delta(text=text)]
        for index, call in enumerate(calls):
            body = json.dumps(dict(call.arguments), ensure_ascii=False)
            half = len(body) // 2
            steps.append(Delta(tool_calls=(ToolCallDelta(index, call.id, call.name, body[:half]),)))
            steps.append(Delta(tool_calls=(ToolCallDelta(index, arguments=body[half:]),)))
        steps.append(Delta(finish_reason="tool_calls", usage=usage))
        return cls(tuple(steps))

    @classmethod
    def failure(cls, message: str, *, status: int | None = None, after: int = 0) -> Play:
        """A call that fails at the provider."""
        return cls(error=ProviderRefused(message, status), fail_after=after)

    @classmethod
    def abort(cls) -> Play:
        """A call that the model's side aborts."""
        return cls(error=ModelAborted("the model call was aborted"))

    def slowly(self, seconds: float) -> Play:
        """The same with a pause before each step."""
        return replace(self, delay_seconds=seconds)

    def broken(self, after: int, message: str = "the stream broke") -> Play:
        """The same, failing after so many steps."""
        return replace(self, error=AdapterError(message), fail_after=after)

    def hanging(self) -> Play:
        """The same, never ending."""
        return replace(self, hangs=True)


Script = Callable[[Request], Play]


class Scripted:
    """The adapter that plays.

    Args:
        plays: what the calls do, in order; a function makes a play of the request.
        name: the model's name in reports.
        max_context_tokens: the pretended window, or None.
        repeat: play the last one again when the script has run out.
    """

    def __init__(
        self,
        *plays: Play | Script | str,
        name: str = "scripted",
        max_context_tokens: int | None = None,
        repeat: bool = False,
    ) -> None:
        self._plays: list[Play | Script | str] = list(plays)
        self._name = name
        self._max_context_tokens = max_context_tokens
        self._repeat = repeat
        self.requests: list[Request] = []
        self.cancelled = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def max_context_tokens(self) -> int | None:
        """The pretended window."""
        return self._max_context_tokens

    @property
    def calls(self) -> int:
        """How many requests came."""
        return len(self.requests)

    def add(self, plays: Iterable[Play | Script | str]) -> None:
        """Append to the script."""
        self._plays.extend(plays)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Play the next play.

        Raises:
            AdapterError: the play fails, or the script has run out.
        """
        self.requests.append(request)
        play = self._next(request)
        try:
            for place, step in enumerate(play.steps):
                if play.error is not None and place == play.fail_after:
                    break
                await anyio.sleep(play.delay_seconds)
                yield step
            await anyio.sleep(play.delay_seconds)
            if play.hangs:
                await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        if play.error is not None:
            raise play.error

    def _next(self, request: Request) -> Play:
        if not self._plays:
            raise AdapterError(f"the script of {self._name!r} has run out at call {self.calls}")
        is_last = len(self._plays) == 1 and self._repeat
        play = self._plays[0] if is_last else self._plays.pop(0)
        if isinstance(play, str):
            return Play.text(play)
        return play if isinstance(play, Play) else play(request)
