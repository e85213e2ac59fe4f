"""One stored record of a session (L3): what was said, with its alternatives and edits.

A record never changes in place; a swipe or an edit makes a new value that replaces the stored one::

    reply = SessionRecord("assistant", "Yes.", number=2)
    reply.with_alternative("No.")    content "No.",  alternatives ("Yes.", "No."), chosen 1
        .choose(0)                   content "Yes.", alternatives ("Yes.", "No."), chosen 0
        .edited("Yes!", now)         content "Yes!", alternatives ("Yes!", "No."), chosen 0

These are SillyTavern's swipes: a record without swipes has no alternatives, and its first swipe makes the
text it had the first alternative. Numbers start at 1, grow by one and are never used twice in a session,
whatever is trimmed. A number of 0 means "not stored yet".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from preset_engine.errors import UnreadableInput
from preset_engine.json_values import as_object
from preset_engine.llm.request import ToolCall
from preset_engine.messages import JsonObject, JsonValue, Role
from preset_engine.session.meta import read_count, read_text

ROLES = frozenset(role.value for role in Role)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One record.

    Attributes:
        role: system, user, assistant or tool.
        content: the text; never None (an answer of calls alone has an empty text).
        tool_calls: calls of an assistant record.
        tool_call_id: the call that a tool record answers.
        timestamp: ISO 8601 text; empty when unknown.
        number: place in the session, given by the store; 0 before.
        alternatives: all texts of a reply with swipes, the chosen one included; empty without.
        chosen: index of `content` in `alternatives`.
        edited_at: time of the last edit, or None.
        extra: what the application keeps with the record (speaker's name, hidden, ...); JSON values.
    """

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    timestamp: str = ""
    number: int = 0
    alternatives: tuple[str, ...] = ()
    chosen: int = 0
    edited_at: str | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)

    def with_alternative(self, text: str) -> SessionRecord:
        """The record with one more swipe, chosen."""
        texts = (*(self.alternatives or (self.content,)), text)
        return replace(self, content=text, alternatives=texts, chosen=len(texts) - 1)

    def choose(self, index: int) -> SessionRecord:
        """The record with another swipe chosen; `IndexError` when there is no such swipe."""
        texts = self.alternatives or (self.content,)
        if not 0 <= index < len(texts):
            raise IndexError(f"record {self.number} has {len(texts)} alternatives, not {index + 1}")
        return replace(self, content=texts[index], chosen=index if self.alternatives else 0)

    def edited(self, text: str, now: str) -> SessionRecord:
        """The record with its chosen text replaced; other alternatives stay."""
        texts = self.alternatives
        if texts:
            texts = (*texts[: self.chosen], text, *texts[self.chosen + 1 :])
        return replace(self, content=text, alternatives=texts, edited_at=now)

    def to_json(self) -> JsonObject:
        """An object with the fields that say something; `from_json` reads it back."""
        body: JsonObject = {"number": self.number, "role": self.role, "content": self.content}
        if self.timestamp:
            body["timestamp"] = self.timestamp
        if self.tool_call_id is not None:
            body["tool_call_id"] = self.tool_call_id
        return body | self.detail_json()

    def detail_json(self) -> JsonObject:
        """The rarer fields: calls, alternatives, edit, extra; empty for a plain record."""
        body: JsonObject = {}
        if self.tool_calls:
            body["tool_calls"] = [
                {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
                for call in self.tool_calls
            ]
        if self.alternatives:
            body["alternatives"] = list(self.alternatives)
            body["chosen"] = self.chosen
        if self.edited_at is not None:
            body["edited_at"] = self.edited_at
        if self.extra:
            body["extra"] = dict(self.extra)
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, JsonValue]) -> SessionRecord:
        """Read what `to_json` wrote; `UnreadableInput` says which field is wrong."""
        role = read_text(body, "role")
        if role not in ROLES:
            raise UnreadableInput(
                f"'role' must be one of {', '.join(sorted(ROLES))}, found {role!r:.40}"
            )
        call_id, edited = body.get("tool_call_id"), body.get("edited_at")
        alternatives, extra = body.get("alternatives"), body.get("extra")
        texts = tuple(map(str, alternatives)) if isinstance(alternatives, list) else ()
        return cls(
            role=role,
            content=read_text(body, "content"),
            tool_calls=_calls(body.get("tool_calls")),
            tool_call_id=call_id if isinstance(call_id, str) else None,
            timestamp=read_text(body, "timestamp", ""),
            number=read_count(body, "number"),
            alternatives=texts,
            chosen=min(read_count(body, "chosen"), max(len(texts) - 1, 0)),
            edited_at=edited if isinstance(edited, str) else None,
            extra=as_object(extra),
        )


def _calls(value: JsonValue) -> tuple[ToolCall, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(
        ToolCall(
            id=read_text(item, "id"),
            name=read_text(item, "name"),
            arguments=arguments if isinstance(arguments := item.get("arguments"), dict) else {},
        )
        for item in value
        if isinstance(item, dict)
    )


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """Which records a listing gives: filters first (role, after), then offset, then limit.

    Attributes:
        role: only records of this role.
        after: only records with a higher number.
        offset: how many of those to leave out at the start.
        limit: how many to give at most; None means all.
    """

    role: str | None = None
    after: int = 0
    offset: int = 0
    limit: int | None = None


EVERY_RECORD = RecordQuery()
