"""Mutations: every change to a transcript as a value.

Hooks, model replies and tools never touch a list; they hand out mutations, and the boundary between two model
calls applies them in order (`apply_mutations`). `read_mutations` takes them from JSON, where `kind` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from preset_engine.compile.transcript import Transcript, read_message, read_transcript
from preset_engine.errors import CompileError
from preset_engine.messages import ChatMessage, Parts


@dataclass(frozen=True, slots=True)
class AssistantMessageMutation:
    """A reply: text, tool calls or both. With neither nothing is added; an empty text is a text."""

    content: str | Parts | None = None
    tool_calls: Parts = ()


@dataclass(frozen=True, slots=True)
class ToolResultMutation:
    """The answer to a tool call."""

    tool_call_id: str
    content: str


@dataclass(frozen=True, slots=True)
class MultimodalToolResultMutation:
    """An answer that no tool message can hold (images): the call is taken back, the user shows the result.

    Attributes:
        tool_call_id: the call that is taken back.
        tool_name: for the line that stands in its place.
        arguments: the call's arguments as JSON text.
        user_messages: what the user supplies.
    """

    tool_call_id: str
    tool_name: str
    arguments: str
    user_messages: Transcript


@dataclass(frozen=True, slots=True)
class UserMessageMutation:
    """A message of the user, kept whole."""

    message: ChatMessage


@dataclass(frozen=True, slots=True)
class ContextReplaceMutation:
    """A whole new transcript; experiences waiting to be written are lost with the old one."""

    messages: Transcript


@dataclass(frozen=True, slots=True)
class ContextSummaryMutation:
    """A summary in place of everything but the leading system message, and lessons to keep.

    Attributes:
        summary_message: an assistant message, as a rule with the text of `render_summary`.
        remember: experiences written at once; blank ones are skipped.
    """

    summary_message: ChatMessage
    remember: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExperienceRememberMutation:
    """A lesson to keep; written before the next mutation of another sort."""

    text: str


@dataclass(frozen=True, slots=True)
class ExperienceForgetMutation:
    """A lesson to drop; an unknown id does no harm."""

    experience_id: str


@dataclass(frozen=True, slots=True)
class AssistantTruncatedMutation:
    """A reply that was cut off: what had arrived, and why it ended."""

    partial_content: str = ""
    abort_reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolCancelledMutation:
    """A tool call that was called off. It answers the call of the transcript where there is one."""

    tool_call_id: str
    tool_name: str
    abort_reason: str = ""


ExperienceMutation: TypeAlias = ExperienceRememberMutation | ExperienceForgetMutation
ContextMutation: TypeAlias = (
    AssistantMessageMutation
    | ToolResultMutation
    | MultimodalToolResultMutation
    | UserMessageMutation
    | ContextReplaceMutation
    | ContextSummaryMutation
    | ExperienceMutation
    | AssistantTruncatedMutation
    | ToolCancelledMutation
)

_Body: TypeAlias = Mapping[str, object]


def read_mutations(values: Iterable[_Body]) -> tuple[ContextMutation, ...]:
    """Read mutations from JSON objects; they share nothing with them.

    Raises:
        CompileError: `unknown_mutation`, or what is wrong with a message inside.
    """
    return tuple(_read(body) for body in values)


def _read(body: _Body) -> ContextMutation:
    reader = _READERS.get(str(body.get("kind")))
    if reader is None:
        message = f"no mutation is called {body.get('kind')!r}; known are {', '.join(_READERS)}"
        raise CompileError(message, "unknown_mutation")
    return reader(body)


def _text(body: _Body, key: str) -> str:
    value = body.get(key)
    return "" if value is None else str(value)


def _assistant(body: _Body) -> ContextMutation:
    message = read_message(
        {"role": "assistant", "content": body.get("content"), "tool_calls": body.get("tool_calls")}
    )
    return AssistantMessageMutation(message.content, message.tool_calls)


def _multimodal(body: _Body) -> ContextMutation:
    return MultimodalToolResultMutation(
        _text(body, "tool_call_id"),
        _text(body, "tool_name"),
        _text(body, "arguments"),
        read_transcript(body.get("user_messages") or []),
    )


def _summary(body: _Body) -> ContextMutation:
    items = body.get("remember")
    texts = (
        [item.get("text") for item in items if isinstance(item, Mapping)]
        if isinstance(items, list)
        else []
    )
    return ContextSummaryMutation(
        read_message(body.get("summary_message")),
        tuple(text for text in texts if isinstance(text, str) and text.strip()),
    )


_READERS: dict[str, Callable[[_Body], ContextMutation]] = {
    "assistant_message": _assistant,
    "tool_result": lambda b: ToolResultMutation(_text(b, "tool_call_id"), _text(b, "content")),
    "multimodal_tool_result": _multimodal,
    "user_message": lambda b: UserMessageMutation(read_message(b.get("message"))),
    "context_replace": lambda b: ContextReplaceMutation(read_transcript(b.get("messages"))),
    "context_summary": _summary,
    "experience_remember": lambda b: ExperienceRememberMutation(_text(b, "text")),
    "experience_forget": lambda b: ExperienceForgetMutation(_text(b, "experience_id")),
    "assistant_truncated": lambda b: AssistantTruncatedMutation(
        _text(b, "partial_content"), _text(b, "abort_reason")
    ),
    "tool_cancelled": lambda b: ToolCancelledMutation(
        _text(b, "tool_call_id"), _text(b, "tool_name"), _text(b, "abort_reason")
    ),
}
