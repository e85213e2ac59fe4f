"""What goes to a model and what comes back, in words of no provider.

A `Request` is made from a compiled turn; an adapter turns it into its provider's body and the answer into
a stream of `Delta`. Streaming is the only transport (design decision 7): there is no other door, and a
caller who wants the whole answer drains the same stream. Usage travels through the stream too::

    Request(messages, tools, …)  ──adapter.stream──▶  Delta(text="Hel") Delta(text="lo") Delta(usage=…)

`Usage.input_tokens` is the whole prompt, cached tokens included; a provider that counts them apart has them
added by its adapter. A number that the provider does not tell is None, never 0.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Protocol, runtime_checkable

from preset_engine.errors import NotConfigured
from preset_engine.messages import ChatMessage, JsonObject, JsonValue
from preset_engine.preset.model import Generation


def _no_arguments() -> JsonObject:
    return {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it.

    Attributes:
        name: what the model calls; unique in a request.
        description: when to use it, for the model.
        parameters: JSON Schema of the arguments, an object schema.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, JsonValue] = field(default_factory=_no_arguments)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for, its arguments already parsed."""

    id: str
    name: str
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One model call.

    Attributes:
        messages: exactly what is sent, in order; the adapter joins and drops nothing.
        tools: tools on offer; None sends no tool field at all, an empty tuple an empty list.
        generation: generation parameters under native names; the adapter maps them for its model.
        params: fields of the body under the endpoint's own names; they win over `generation`.
        model: the model's name; None takes the adapter's own.
        has_preset: a preset ordered the messages. An endpoint that takes system text apart lifts only the
            leading system messages then, and all of them otherwise (design decision 7).
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] | None = None
    generation: Generation = field(default_factory=Generation)
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    model: str | None = None
    has_preset: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the provider counted them; None is "not told".

    Attributes:
        input_tokens: the whole prompt, cached tokens included.
        output_tokens: the reply, reasoning included.
        cached_tokens: part of the input that was read from the prefix cache.
        cache_write_tokens: part of the input that was written to the cache.
        reasoning_tokens: part of the output that was reasoning.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    def updated(self, newer: Usage) -> Usage:
        """This usage with every number that `newer` tells; usage in a stream is a snapshot, never a sum."""
        told = {
            item.name: value
            for item in fields(self)
            if (value := getattr(newer, item.name)) is not None
        }
        return Usage(**{**{item.name: getattr(self, item.name) for item in fields(self)}, **told})


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of a tool call; pieces of one call share its `index`.

    Attributes:
        index: the provider's number of the call.
        id: the call's id where this piece tells it.
        name: the tool's name where this piece tells it.
        arguments: a stretch of the argument text (JSON, possibly cut anywhere).
    """

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """One step of a reply.

    Attributes:
        text: new text; None where the provider says explicitly that the content is null.
        reasoning: new reasoning text, which is never part of the reply's text.
        tool_calls: pieces of tool calls.
        usage: the newest count; a later one replaces it.
        finish_reason: why the reply ended (`stop`, `length`, `tool_calls`, ...), once known.
        model: the model that really answered, once known.
        response_id: the provider's id of the answer, once known.
    """

    text: str | None = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    model: str | None = None
    response_id: str | None = None


@runtime_checkable
class ModelAdapter(Protocol):
    """A model. One method, which streams; cancelling the task that reads ends the call."""

    @property
    def name(self) -> str:
        """What is called: the model's name, for reports."""
        ...

    @property
    def max_context_tokens(self) -> int | None:
        """The model's context window in tokens, or None when unknown (then nothing is compressed)."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Send the request and give its deltas as they come.

        Raises:
            AdapterError: the call failed; what was yielded before stays valid.
        """
        ...


def require_streaming(adapter: object) -> ModelAdapter:
    """The adapter, if it can stream.

    Raises:
        NotConfigured: it cannot; an adapter that only completes is refused (seed 003).
    """
    if not callable(getattr(adapter, "stream", None)):
        kind = type(adapter).__name__
        raise NotConfigured(
            f"the adapter {kind!r} has no stream(); give it one that yields Delta values"
        )
    if not isinstance(adapter, ModelAdapter):
        kind = type(adapter).__name__
        raise NotConfigured(f"the adapter {kind!r} tells no name and max_context_tokens; add both")
    return adapter
