"""Our log line: one JSON object a model call, under the OpenTelemetry GenAI names where they exist.

What the conventions have no name for stands under `preset_engine.`: who called, which preset, the request that
retries share, and the prompt itself as one entry a message: digest, tokens and the pieces it is made of, its text
only when asked. Absent means unknown: a figure that nobody stated is left out, never written as 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from preset_engine.llm.request import Usage
from preset_engine.messages import JsonObject, JsonValue

SCHEMA = "preset-engine.call/1"


@dataclass(frozen=True, slots=True)
class LoggedPiece:
    """A stretch of a message and where it came from.

    Attributes:
        kind, id, name, place: the origin.
        start, stop: characters in the message's text.
        tokens: tokens of the stretch.
        digest: SHA-256 of its text, hexadecimal.
        stability: `stable`, `moves` or `volatile` from turn to turn.
    """

    kind: str
    id: str
    name: str = ""
    place: str = ""
    start: int = 0
    stop: int = 0
    tokens: int = 0
    digest: str = ""
    stability: str = "stable"

    def to_json(self) -> JsonObject:
        """All fields; empty texts are left out."""
        body: JsonObject = {"kind": self.kind, "id": self.id}
        for name, text in (("name", self.name), ("place", self.place), ("digest", self.digest)):
            if text:
                body[name] = text
        body.update(start=self.start, stop=self.stop, tokens=self.tokens, stability=self.stability)
        return body


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """One message of the prompt.

    Attributes:
        role: as sent.
        digest: SHA-256 of its text, hexadecimal.
        tokens: tokens of its text.
        pieces: what it is made of.
        message: the whole message as sent, or None when texts are not to be logged.
    """

    role: str
    digest: str
    tokens: int
    pieces: tuple[LoggedPiece, ...] = ()
    message: Mapping[str, JsonValue] | None = None

    def to_json(self) -> JsonObject:
        """The message with its pieces, its text where it is to be logged."""
        body: JsonObject = {"role": self.role, "digest": self.digest, "tokens": self.tokens}
        if self.pieces:
            body["pieces"] = [piece.to_json() for piece in self.pieces]
        if self.message is not None:
            body["message"] = dict(self.message)
        return body


@dataclass(frozen=True, slots=True)
class LogLine:
    """One model call, finished or failed.

    Attributes:
        id: identifier of the line.
        at: when the request was sent; aware.
        model: the model asked for.
        provider: name of the provider in the words of the conventions (`openai`, `anthropic`, …).
        caller: the part of the application that asked (`direct-chat`, `worker:world-simulator`).
        session: the conversation.
        user: the end user, as a pseudonym.
        preset, preset_digest: the preset's name and the digest of its content.
        request: what retries of one request share; `attempt` counts them from 1.
        usage: tokens as the provider counted them.
        total_tokens: the provider's total, where it states one.
        cache_missed_tokens: cache misses, where the provider states them.
        response_id, response_model, finish_reasons: what the reply said of itself.
        error_type: sort of failure (`timeout`, `429`, `aborted`); None for a call that worked.
        duration_ms, first_token_ms: times from sending.
        parameters: generation parameters by their convention's short name (`temperature`, `max_tokens`).
        book_id, book_title, orchestrator_id, message_id: the writing-agent's own references.
        messages: the prompt.
        counter: what counted the tokens of `messages`.
    """

    id: str
    at: datetime
    model: str
    provider: str = ""
    caller: str = ""
    session: str = ""
    user: str = ""
    preset: str = ""
    preset_digest: str = ""
    request: str = ""
    attempt: int = 1
    usage: Usage = field(default_factory=Usage)
    total_tokens: int | None = None
    cache_missed_tokens: int | None = None
    response_id: str = ""
    response_model: str = ""
    finish_reasons: tuple[str, ...] = ()
    error_type: str | None = None
    duration_ms: int | None = None
    first_token_ms: int | None = None
    parameters: Mapping[str, float | int] = field(default_factory=dict)
    book_id: str = ""
    book_title: str = ""
    orchestrator_id: str = ""
    message_id: str = ""
    messages: tuple[LoggedMessage, ...] = ()
    counter: str = ""

    def to_json(self) -> JsonObject:
        """The line as `docs/schema/log.schema.json` describes it; unknown fields are absent."""
        usage = self.usage
        body: dict[str, JsonValue] = {
            "schema": SCHEMA,
            "timestamp": timestamp(self.at),
            "preset_engine.line.id": self.id,
            "preset_engine.request.id": self.request or self.id,
            "preset_engine.request.attempt": self.attempt,
            "preset_engine.caller": self.caller,
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self.provider,
            "gen_ai.request.model": self.model,
            "gen_ai.response.model": self.response_model,
            "gen_ai.response.id": self.response_id,
            "gen_ai.response.finish_reasons": list(self.finish_reasons),
            "gen_ai.conversation.id": self.session,
            "enduser.id": self.user,
            "error.type": self.error_type,
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
            "preset_engine.usage.total_tokens": self.total_tokens,
            "preset_engine.usage.cache_missed_tokens": self.cache_missed_tokens,
            "preset_engine.duration_ms": self.duration_ms,
            "preset_engine.first_token_ms": self.first_token_ms,
            "preset_engine.preset.name": self.preset,
            "preset_engine.preset.digest": self.preset_digest,
            "preset_engine.book.id": self.book_id,
            "preset_engine.book.title": self.book_title,
            "preset_engine.orchestrator.id": self.orchestrator_id,
            "preset_engine.message.id": self.message_id,
            "preset_engine.tokens.counter": self.counter,
            "preset_engine.messages": [message.to_json() for message in self.messages],
        }
        body.update({f"gen_ai.request.{name}": value for name, value in self.parameters.items()})
        return {name: value for name, value in body.items() if value not in (None, "", [])}


def timestamp(moment: datetime) -> str:
    """ISO text in UTC with milliseconds; a moment without a zone is read as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
