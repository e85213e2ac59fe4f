"""Fields that log shapes share under many names: who, when, which model, and whether it failed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from preset_engine.log.call import Call, Counts
from preset_engine.log.times import read_time

Body: TypeAlias = Mapping[str, object]

_AT = (
    "ts",
    "timestamp",
    "time",
    "at",
    "created_at",
    "createdAt",
    "startTime",
    "start_time",
    "created",
    "date",
)
_SESSION = (
    "session_id",
    "sessionId",
    "sessionID",
    "session",
    "conversation_id",
    "conversationId",
    "chat_id",
    "chatId",
    "thread_id",
    "trace_id",
    "traceId",
)
_CALLER = ("caller", "group", "call_group")
_MODEL = ("model", "model_name", "modelName", "modelID", "modelId", "modelVersion", "model_id")
_PROVIDER = ("provider", "custom_llm_provider", "providerID", "provider_name")
_USER = ("user", "user_id", "userId", "end_user")
_REQUEST = ("request_id", "requestId")
_MASK = re.compile(r"(.)\1*|(?:X0)+X?|0+X?|redacted|masked|removed|null|none", re.IGNORECASE)
_FAILURES = frozenset({"failed", "failure", "error", "errored", "expired", "canceled", "cancelled"})


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a line says around the usage; inner objects fill what outer ones leave open."""

    at_ms: int | None = None
    session: str | None = None
    caller: str | None = None
    model: str | None = None
    provider: str | None = None
    preset: str | None = None
    user: str | None = None
    request_id: str | None = None
    is_failed: bool = False

    def within(self, outer: Envelope) -> Envelope:
        """This envelope with the outer one's values in front."""
        return Envelope(
            outer.at_ms if outer.at_ms is not None else self.at_ms,
            outer.session or self.session,
            outer.caller or self.caller,
            outer.model or self.model,
            outer.provider or self.provider,
            outer.preset or self.preset,
            outer.user or self.user,
            outer.request_id or self.request_id,
            outer.is_failed or self.is_failed,
        )

    def call(self, shape: str, counts: Counts | None) -> Call:
        """A call with these values."""
        return Call(
            counts,
            shape,
            self.at_ms,
            self.session,
            self.caller,
            self.model,
            self.provider,
            self.preset,
            self.user,
            self.request_id,
            self.is_failed,
        )


def envelope(value: Body) -> Envelope:
    """What this object says of itself, under any of the common names."""
    preset = value.get("preset")
    if isinstance(preset, dict):
        preset = preset.get("name")
    return Envelope(
        at_ms=first_time(value, _AT),
        session=first_text(value, _SESSION),
        caller=first_text(value, _CALLER),
        model=first_text(value, _MODEL),
        provider=first_text(value, _PROVIDER),
        preset=text(preset),
        user=first_text(value, _USER),
        request_id=identity(first_text(value, _REQUEST)),
        is_failed=is_failure(value),
    )


def is_failure(value: Body) -> bool:
    """Whether the object says that its request failed: an error, a status from 400 on, a failing word."""
    if value.get("error"):
        return True
    log = value.get("_log")
    for holder in (value, log if isinstance(log, dict) else {}):
        for name in ("status", "status_code", "statusCode"):
            status = holder.get(name)
            if isinstance(status, str) and status.isdigit():
                status = int(status)
            if isinstance(status, int) and not isinstance(status, bool) and status >= 400:
                return True
            if isinstance(status, str) and status.lower() in _FAILURES:
                return True
    return False


def text(value: object) -> str | None:
    """A text or number as text; anything else, and the empty text, is None."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return str(value)
    return None


def first_text(value: Body, names: tuple[str, ...]) -> str | None:
    """The first text among these fields."""
    for name in names:
        found = text(value.get(name))
        if found is not None:
            return found
    return None


def first_time(value: Body, names: tuple[str, ...]) -> int | None:
    """The first moment among these fields, in milliseconds."""
    for name in names:
        found = read_time(value.get(name))
        if found is not None:
            return found
    return None


def identity(value: str | None) -> str | None:
    """An identifier, or None where a mask stands in its place (`msg_X0X0X0`, `***`, `REDACTED`).

    Logs made for sharing have their identifiers masked; equal masks are not equal requests.
    """
    if value is None:
        return None
    core = re.split(r"[-_:.]", value)[-1]
    return None if len(core) > 1 and _MASK.fullmatch(core) else value


def objects(value: object) -> list[Body]:
    """The objects of a list; anything else has none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def inner(value: Body, *path: str) -> Body:
    """The object at this path, or an empty one."""
    current: object = value
    for name in path:
        current = current.get(name) if isinstance(current, dict) else None
    return current if isinstance(current, dict) else {}
