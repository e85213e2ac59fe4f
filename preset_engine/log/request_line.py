"""The request log line: what happened to a request, for people who watch a process. Never any message text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from preset_engine.llm.request import Usage
from preset_engine.log.line import timestamp
from preset_engine.messages import ChatMessage, JsonObject, JsonValue

SCHEMA = "preset-engine.request/1"


class RequestEvent(StrEnum):
    """A moment in the life of a request."""

    SENT = "sent"
    DONE = "done"
    ABORTED = "aborted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One moment of a request.

    Attributes:
        event: which moment.
        at: when; aware.
        caller: who asked.
        model: which model.
        request: what the lines of one request share.
        mode: how it was sent (`stream`).
        awaiting: what the caller waits for (`text`, `tool calls`, `json`).
        roles: number of messages by role.
        characters: characters of all message texts.
        tools: number of tools on offer.
        duration_ms: time since sending.
        usage: tokens, for a finished request.
        error_type: sort of failure.
    """

    event: RequestEvent
    at: datetime
    caller: str = ""
    model: str = ""
    request: str = ""
    mode: str = "stream"
    awaiting: str = "text"
    roles: dict[str, int] = field(default_factory=dict)
    characters: int = 0
    tools: int = 0
    duration_ms: int | None = None
    usage: Usage = field(default_factory=Usage)
    error_type: str | None = None

    def to_json(self) -> JsonObject:
        """The line; unknown fields are absent."""
        roles: dict[str, JsonValue] = dict(self.roles)
        body: dict[str, JsonValue] = {
            "schema": SCHEMA,
            "timestamp": timestamp(self.at),
            "preset_engine.event": self.event.value,
            "preset_engine.caller": self.caller,
            "gen_ai.request.model": self.model,
            "preset_engine.request.id": self.request,
            "preset_engine.request.mode": self.mode,
            "preset_engine.request.awaiting": self.awaiting,
            "preset_engine.request.roles": roles,
            "preset_engine.request.characters": self.characters,
            "preset_engine.request.tools": self.tools,
            "preset_engine.duration_ms": self.duration_ms,
            "gen_ai.usage.input_tokens": self.usage.input_tokens,
            "gen_ai.usage.output_tokens": self.usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": self.usage.cached_tokens,
            "error.type": self.error_type,
        }
        return {name: value for name, value in body.items() if value not in (None, "", {})}


def measure(messages: Sequence[ChatMessage]) -> tuple[dict[str, int], int]:
    """Messages by role, and the characters of their texts."""
    return dict(Counter(message.role for message in messages)), sum(len(m.text) for m in messages)
