"""The border of the store: what comes in is made storable, the same way in every back end.

NUL and lone surrogates cannot be stored by PostgreSQL or written as UTF-8; both become U+FFFD here, in texts and
in every text inside JSON values. Ids are checked, since they become keys and file names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite

from preset_engine.characters import clean_text
from preset_engine.errors import InputRefused, SessionError
from preset_engine.llm.request import ToolCall
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.session.meta import MAX_COUNT, FrozenConfig, SessionMeta
from preset_engine.session.record import SessionRecord

MAX_ID_CHARACTERS = 200
MAX_DEPTH = 200  # of a JSON value: far below what any reader of JSON stops at
MAX_BITS = 14_000  # of a whole number: Python writes no number of more than 4300 digits


def clean_json(value: JsonValue, depth: int = MAX_DEPTH) -> JsonValue:
    """The value as it is stored: every text cleaned, keys included; tuples become lists; NaN and infinities null.

    Args:
        value: the value.
        depth: how many levels it may have.

    Raises:
        SessionError: it is no JSON, or too deep.
    """
    if isinstance(value, dict | list | tuple) and depth == 0:
        raise SessionError(f"a value of more than {MAX_DEPTH} levels cannot be stored")
    match value:
        case str():
            return clean_text(value)
        case dict():
            return {_clean_key(key): clean_json(item, depth - 1) for key, item in value.items()}
        case list() | tuple():
            return [clean_json(item, depth - 1) for item in value]
        case float():
            return value if isfinite(value) else None  # as JavaScript writes them
        case int() if value.bit_length() > MAX_BITS:
            raise SessionError(f"a whole number of {value.bit_length()} bits cannot be stored")
        case None | bool() | int():
            return value
        case _:
            raise _no_json("value", value)


def _clean_key(key: object) -> str:
    if not isinstance(key, str):
        raise _no_json("key", key)
    return clean_text(key)


def _no_json(what: str, found: object) -> SessionError:
    kind = type(found).__name__
    return SessionError(f"a {what} of type {kind} is no JSON and cannot be stored")


def clean_object(value: Mapping[str, JsonValue]) -> JsonObject:
    """A cleaned copy of a JSON object."""
    return {_clean_key(key): clean_json(item, MAX_DEPTH - 1) for key, item in value.items()}


def clean_record(record: SessionRecord, number: int) -> SessionRecord:
    """The record as it is stored: every text cleaned, with its number."""
    return replace(
        record,
        role=clean_text(record.role),
        content=clean_text(record.content),
        tool_calls=tuple(_clean_call(call) for call in record.tool_calls),
        tool_call_id=_clean_optional(record.tool_call_id),
        timestamp=clean_text(record.timestamp),
        number=number,
        alternatives=tuple(map(clean_text, record.alternatives)),
        edited_at=_clean_optional(record.edited_at),
        extra=clean_object(record.extra) if record.extra else {},
    )


def _clean_call(call: ToolCall) -> ToolCall:
    return ToolCall(clean_text(call.id), clean_text(call.name), clean_object(call.arguments))


def _clean_optional(text: str | None) -> str | None:
    return None if text is None else clean_text(text)


def clean_records(records: Iterable[SessionRecord], first: int) -> tuple[SessionRecord, ...]:
    """The records as they are stored, numbered from `first` on."""
    return tuple(clean_record(record, first + place) for place, record in enumerate(records))


def check_id(session_id: str) -> str:
    """The id, if it can be one: 1 to 200 characters, nothing unstorable; raises `SessionError`."""
    if not 0 < len(session_id) <= MAX_ID_CHARACTERS or clean_text(session_id) != session_id:
        raise SessionError(
            f"{session_id!r:.60} cannot be a session id; use 1 to {MAX_ID_CHARACTERS} ordinary characters"
        )
    return session_id


def key_of(session_id: str) -> str:
    """The id as a key; one that no session can have becomes the empty text, which no session has either."""
    return session_id if clean_text(session_id) == session_id else ""


def bounded(number: int) -> int:
    """The number, or the nearest one that every back end takes; no count comes near it."""
    return max(-MAX_COUNT, min(number, MAX_COUNT))


def check_turns(count: int) -> int:
    """The number of turns, if a session can have so many; raises `SessionError`."""
    if not 0 <= count <= MAX_COUNT:
        raise SessionError(f"a session cannot have {count!r:.40} turns")
    return count


def check_tenant(tenant: str) -> str:
    """The tenant's name, if it can be one; the same rule as for ids; raises `InputRefused`."""
    if not 0 < len(tenant) <= MAX_ID_CHARACTERS or clean_text(tenant) != tenant:
        raise InputRefused(
            f"{tenant!r:.60} cannot be a tenant; use 1 to {MAX_ID_CHARACTERS} ordinary characters"
        )
    return tenant


def clean_config(config: FrozenConfig) -> FrozenConfig:
    """The config as it is stored."""
    skills = None if config.skills is None else tuple(map(clean_text, config.skills))
    return FrozenConfig(_clean_optional(config.system_prompt), skills)


def put_over(meta: SessionMeta, old: SessionMeta | None, now: str) -> SessionMeta:
    """The meta that a put stores over the old one: cleaned, empty times filled in, the store's own version."""
    created = meta.created_at or (now if old is None else old.created_at)
    active = meta.last_active_at or (created if old is None else old.last_active_at)
    return replace(
        meta,
        label=clean_text(meta.label),
        turn_count=check_turns(meta.turn_count),
        created_at=clean_text(created),
        updated_at=clean_text(meta.updated_at) or now,
        last_active_at=clean_text(active),
        version=0 if old is None else old.version,
    )


def touched(meta: SessionMeta, now: str) -> SessionMeta:
    """The meta after a commit that changed the records."""
    return replace(meta, version=meta.version + 1, updated_at=now)


def dumps(value: object) -> str:
    """JSON text on one line, readable in any script; it holds no line break of its own."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=False)
