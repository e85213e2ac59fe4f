r"""The values that travel from a preset to the model: roles, messages, chat records, pieces.

Everything here is frozen, so a history can be shared between turns and never needs a copy. A message
knows nothing of where its text came from; a `Draft` does: it is a message together with the pieces
it is made of, and every stage between the holes and the finished turn hands drafts on. Joining the
texts of a draft's pieces gives back its text, always::

    Draft(ChatMessage("system", "A\nB"), (Piece(entry "main", "A"), Piece(joiner, "\n"), Piece(entry "nsfw", "B")))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"


class Role(StrEnum):
    """Who speaks; the value is the wire name."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


Text: TypeAlias = str
Parts: TypeAlias = "tuple[JsonObject, ...]"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message as a chat endpoint takes it.

    Attributes:
        role: wire name of the role. A plain string, since foreign histories hold others ("function").
        content: text, or content parts (kept whole, never looked into), or None beside tool calls.
        name: the OpenAI `name` field, or None.
        tool_calls: calls of an assistant message in OpenAI form, kept whole.
        tool_call_id: the call that a tool message answers.
        extra: fields we do not know, kept whole and written back.
    """

    role: str
    content: str | Parts | None
    name: str | None = None
    tool_calls: Parts = ()
    tool_call_id: str | None = None
    extra: Mapping[str, JsonValue] | None = None

    @property
    def text(self) -> str:
        """The text of the message; of parts, the text parts joined by newlines."""
        content = self.content
        if isinstance(content, str):
            return content
        if content is None:
            return ""
        return "\n".join(str(part["text"]) for part in content if isinstance(part.get("text"), str))

    @property
    def is_empty(self) -> bool:
        """It has neither content nor calls; a blank text is content."""
        return not self.content and not self.tool_calls

    def to_json(self) -> JsonObject:
        """The OpenAI object; keys stand in the order role, content, name, tool fields, the rest."""
        content = self.content
        body: JsonObject = {
            "role": self.role,
            "content": list(content) if isinstance(content, tuple) else content,
        }
        if self.name is not None:
            body["name"] = self.name
        if self.tool_calls:
            body["tool_calls"] = list(self.tool_calls)
        if self.tool_call_id is not None:
            body["tool_call_id"] = self.tool_call_id
        if self.extra:
            body.update(self.extra)
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, JsonValue]) -> ChatMessage:
        """Read an OpenAI object; unknown keys land in `extra`, wrong types are read as absent."""
        content = body.get("content")
        name, call_id = body.get("name"), body.get("tool_call_id")
        return cls(
            role=str(body.get("role") or Role.SYSTEM.value),
            content=_objects(content) if isinstance(content, list) else _text_or_none(content),
            name=name if isinstance(name, str) else None,
            tool_calls=_objects(body.get("tool_calls")),
            tool_call_id=call_id if isinstance(call_id, str) else None,
            extra={key: value for key, value in body.items() if key not in _KNOWN} or None,
        )


_KNOWN = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})


def _objects(value: JsonValue) -> Parts:
    return (
        tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
    )


def _text_or_none(value: JsonValue) -> str | None:
    return None if value is None else value if isinstance(value, str) else str(value)


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """One line of a SillyTavern chat: what the chat file holds, with the choice of a swipe.

    Attributes:
        name: who spoke, as shown.
        text: the chosen text.
        is_user: the user's side.
        is_hidden: `is_system` of the file: kept in the chat, left out of the prompt.
        swipes: the alternatives of a reply; empty when there are none.
        swipe_index: place of the chosen text in `swipes`.
        sent_at: the time stamp as written in the file, or None.
        extra: all other fields of the line, `extra` included, kept whole.
    """

    name: str
    text: str
    is_user: bool = False
    is_hidden: bool = False
    swipes: tuple[str, ...] = ()
    swipe_index: int = 0
    sent_at: str | int | float | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class OriginKind(StrEnum):
    """What sort of thing a piece of text came from."""

    ENTRY = "entry"  # a preset entry's own text
    HOLE = "hole"  # a native hole: worldBookBefore, worldBookAfter, currentTurn, postTurn
    CARD = "card"  # a card field at its marker, or a card override
    PERSONA = "persona"
    LORE = "lore"  # a world-book entry
    HISTORY = "history"  # a record of the history
    EXAMPLE = "example"  # a part of the dialogue examples
    INJECTION = "injection"  # an extension prompt: author's note, card note, script
    CONTROL = "control"  # new chat, nudge, impersonation, quiet prompt, bias, prefill
    PLACEHOLDER = "placeholder"  # the user message that a strict mode puts in
    JOINER = "joiner"  # newlines between joined texts, name prefixes, titles
    SESSION = "session"  # a slot of the session model: system prompt, identity, insight, summary
    TOOL = "tool"  # tool specs and principles added by the convert stage
    TAIL = "tail"  # the tool loop that follows the frame unchanged


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a piece of text came from.

    Attributes:
        kind: the sort of source.
        id: identifier in that source: the entry's identifier, the hole's name, the record's number.
        name: what a person calls it: the entry's name, the block's title; may be empty.
        place: where it stands in the input (`$.prompts[3]`, `history[12]`); may be empty.
    """

    kind: OriginKind
    id: str
    name: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text with its origin; `volatile` tells that it can change from turn to turn."""

    origin: Origin
    text: str
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A message on its way to the model, with the pieces that make up its text.

    Attributes:
        message: the message as it stands after the stages so far.
        pieces: their texts joined equal the message's text (content parts: one piece a text part).
        is_fixed: never joined by the boolean squash (new chat, new example, group nudge).
    """

    message: ChatMessage
    pieces: tuple[Piece, ...]
    is_fixed: bool = False


def parse_messages(value: Sequence[Mapping[str, JsonValue]]) -> tuple[ChatMessage, ...]:
    """Read a list of OpenAI objects."""
    return tuple(ChatMessage.from_json(item) for item in value)
