"""Folds the deltas of a stream into one reply.

Tool calls arrive in pieces, possibly interleaved; pieces are joined by the provider's index and the calls
stand in the order of their indexes. The first piece that tells an id or a name fixes it. A call without an
id becomes `tool_<place>`, without a name `unknown_tool`, without argument text `{}`; an id that an earlier call of
the reply has gets `_<place>` behind it, so that each answer belongs to one call. Argument text that is no JSON
object breaks the whole reply, and nothing of it is kept.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

from preset_engine.characters import clean_text
from preset_engine.errors import BadReply
from preset_engine.llm.request import (
    Delta,
    ModelAdapter,
    Request,
    ToolCall,
    ToolCallDelta,
    Usage,
    require_streaming,
)
from preset_engine.messages import JsonObject


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply.

    Attributes:
        text: the text; None when the model said that there is none.
        tool_calls: the calls it asks for, in the provider's order.
        reasoning: its reasoning, kept apart from the text.
        usage: what the provider counted; all None when it told nothing.
        finish_reason: why it ended, or None.
        model: who answered, or None.
        response_id: the provider's id, or None.
    """

    text: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    usage: Usage = field(default_factory=Usage)
    finish_reason: str | None = None
    model: str | None = None
    response_id: str | None = None


@dataclass(slots=True)
class _Call:
    id: str | None = None
    name: str | None = None
    pieces: list[str] = field(default_factory=list)

    def add(self, delta: ToolCallDelta) -> None:
        self.id = self.id or delta.id
        self.name = self.name or delta.name
        self.pieces.append(delta.arguments)

    def parsed(self, place: int, taken: Collection[str]) -> ToolCall:
        """The whole call; an id that an earlier call of the reply has becomes one of its own."""
        name = clean_text(self.name or "unknown_tool")
        id_ = clean_text(self.id or f"tool_{place}")
        while id_ in taken:
            id_ = f"{id_}_{place}"
        return ToolCall(id_, name, parse_arguments("".join(self.pieces), name))


def parse_arguments(text: str, name: str) -> JsonObject:
    """Argument text as an object; blank text is the empty object.

    Raises:
        BadReply: the text is no JSON object.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise BadReply(
            f"the arguments of the tool call {name!r} are no JSON; ask the model again"
        ) from error
    if not isinstance(value, dict):
        raise BadReply(
            f"the arguments of the tool call {name!r} are no JSON object; ask the model again"
        )
    return cast("JsonObject", value)  # json.loads gives Any


class ReplyBuilder:
    """Takes deltas one by one and gives the reply at the end."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._reasoning: list[str] = []
        self._is_null = False
        self._calls: dict[int, _Call] = {}
        self._usage = Usage()
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._response_id: str | None = None

    @property
    def usage(self) -> Usage:
        """The newest count so far."""
        return self._usage

    def add(self, delta: Delta) -> None:
        """Take the next delta.

        Raises:
            BadReply: the adapter filled it with something of another type.
        """
        _check_types(delta)
        if delta.text is None:
            self._is_null = True
        elif delta.text:
            self._texts.append(delta.text)
        if delta.reasoning:
            self._reasoning.append(delta.reasoning)
        for piece in delta.tool_calls:
            self._calls.setdefault(piece.index, _Call()).add(piece)
        if delta.usage is not None:
            self._usage = self._usage.updated(delta.usage)
        self._finish_reason = delta.finish_reason or self._finish_reason
        self._model = delta.model or self._model
        self._response_id = delta.response_id or self._response_id

    def reply(self) -> Reply:
        """The whole reply.

        Raises:
            BadReply: a tool call's arguments are no JSON object.
        """
        calls: dict[str, ToolCall] = {}
        for place, (_, pieces) in enumerate(sorted(self._calls.items())):
            call = pieces.parsed(place, calls)
            calls[call.id] = call
        return Reply(
            text=None if self._is_null and not self._texts else clean_text("".join(self._texts)),
            tool_calls=tuple(calls.values()),
            reasoning=clean_text("".join(self._reasoning)),
            usage=self._usage,
            finish_reason=self._finish_reason,
            model=self._model,
            response_id=self._response_id,
        )

    def partial(self) -> Reply:
        """What has arrived of a reply that failed; its tool calls are left out."""
        return Reply(
            text=clean_text("".join(self._texts)),
            reasoning=clean_text("".join(self._reasoning)),
            usage=self._usage,
            finish_reason=self._finish_reason,
            model=self._model,
            response_id=self._response_id,
        )


def _check_types(delta: Delta) -> None:
    texts = (delta.text, delta.reasoning, *(piece.arguments for piece in delta.tool_calls))
    is_sound = all(isinstance(text, str | None) for text in texts)
    if not is_sound or not all(isinstance(piece.index, int) for piece in delta.tool_calls):
        raise BadReply("the adapter gave a Delta whose fields have other types; mend the adapter")


async def deltas(adapter: ModelAdapter, request: Request) -> AsyncGenerator[Delta, None]:
    """The adapter's stream, closed for sure when the reader stops early."""
    source = adapter.stream(request)
    try:
        async for delta in source:
            yield delta
    finally:
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()


async def complete(adapter: ModelAdapter, request: Request) -> Reply:
    """The whole reply, gathered from the stream; there is no other transport.

    Raises:
        AdapterError: the call failed or the reply breaks its format.
    """
    builder = ReplyBuilder()
    async with aclosing(deltas(require_streaming(adapter), request)) as steps:
        async for delta in steps:
            builder.add(delta)
    return builder.reply()
