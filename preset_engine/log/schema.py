"""The JSON Schema of our log lines, published as `docs/schema/log.schema.json`.

The number behind the slash of a line's `schema` grows when a field changes its meaning or goes; new fields may
come under the same number, so readers must let unknown fields pass.
"""

from __future__ import annotations

import json

from preset_engine.log.line import SCHEMA as CALL
from preset_engine.log.request_line import SCHEMA as REQUEST
from preset_engine.messages import JsonObject, JsonValue

_TEXT: JsonObject = {"type": "string"}
_COUNT: JsonObject = {"type": "integer", "minimum": 0}
_TIME: JsonObject = {"type": "string", "format": "date-time"}
_DIGEST: JsonObject = {"type": "string", "pattern": "^[0-9a-f]{64}$"}

_CALL_TEXTS = (
    "preset_engine.line.id",
    "preset_engine.request.id",
    "preset_engine.caller",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.response.id",
    "gen_ai.conversation.id",
    "enduser.id",
    "error.type",
    "preset_engine.preset.name",
    "preset_engine.preset.digest",
    "preset_engine.book.id",
    "preset_engine.book.title",
    "preset_engine.orchestrator.id",
    "preset_engine.message.id",
    "preset_engine.tokens.counter",
)
_CALL_COUNTS = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.reasoning.output_tokens",
    "preset_engine.usage.total_tokens",
    "preset_engine.usage.cache_missed_tokens",
    "preset_engine.duration_ms",
    "preset_engine.first_token_ms",
)


def log_schema() -> JsonObject:
    """The schema of a line: a call, a moment of a request, or a count of lost lines."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of preset-engine's log",
        "oneOf": [_call(), _request(), _dropped()],
    }


def log_schema_text() -> str:
    """The schema as the published file holds it."""
    return json.dumps(log_schema(), indent=1) + "\n"


def _call() -> JsonObject:
    fields: dict[str, JsonValue] = {
        "schema": {"const": CALL},
        "timestamp": _TIME,
        "gen_ai.operation.name": {"const": "chat"},
        "gen_ai.response.finish_reasons": {"type": "array", "items": _TEXT},
        "preset_engine.request.attempt": {"type": "integer", "minimum": 1},
        "preset_engine.messages": {"type": "array", "items": _message()},
    }
    fields.update(dict.fromkeys(_CALL_TEXTS, _TEXT))
    fields.update(dict.fromkeys(_CALL_COUNTS, _COUNT))
    required: list[JsonValue] = [
        "schema",
        "timestamp",
        "preset_engine.line.id",
        "preset_engine.request.id",
        "gen_ai.request.model",
    ]
    return {
        "title": "call",
        "type": "object",
        "required": required,
        "properties": fields,
        "patternProperties": {"^gen_ai\\.request\\.(?!model$)": {"type": "number"}},
    }


def _message() -> JsonObject:
    piece: JsonObject = {
        "type": "object",
        "required": ["kind", "id", "start", "stop", "tokens", "stability"],
        "properties": {
            "kind": _TEXT,
            "id": _TEXT,
            "name": _TEXT,
            "place": _TEXT,
            "start": _COUNT,
            "stop": _COUNT,
            "tokens": _COUNT,
            "digest": _DIGEST,
            "stability": {"enum": ["stable", "moves", "volatile"]},
        },
    }
    return {
        "type": "object",
        "required": ["role", "digest", "tokens"],
        "properties": {
            "role": _TEXT,
            "digest": _DIGEST,
            "tokens": _COUNT,
            "pieces": {"type": "array", "items": piece},
            "message": {"type": "object"},
        },
    }


def _request() -> JsonObject:
    return {
        "title": "request",
        "type": "object",
        "required": ["schema", "timestamp", "preset_engine.event"],
        "properties": {
            "schema": {"const": REQUEST},
            "timestamp": _TIME,
            "preset_engine.event": {"enum": ["sent", "done", "aborted", "failed"]},
            "preset_engine.caller": _TEXT,
            "gen_ai.request.model": _TEXT,
            "preset_engine.request.id": _TEXT,
            "preset_engine.request.mode": _TEXT,
            "preset_engine.request.awaiting": _TEXT,
            "preset_engine.request.roles": {"type": "object", "additionalProperties": _COUNT},
            "preset_engine.request.characters": _COUNT,
            "preset_engine.request.tools": _COUNT,
            "preset_engine.duration_ms": _COUNT,
            "gen_ai.usage.input_tokens": _COUNT,
            "gen_ai.usage.output_tokens": _COUNT,
            "gen_ai.usage.cache_read.input_tokens": _COUNT,
            "error.type": _TEXT,
        },
        "additionalProperties": False,
    }


def _dropped() -> JsonObject:
    return {
        "title": "dropped",
        "type": "object",
        "required": ["schema", "timestamp", "preset_engine.dropped_lines"],
        "properties": {
            "schema": {"const": "preset-engine.dropped/1"},
            "timestamp": _TIME,
            "preset_engine.dropped_lines": {"type": "integer", "minimum": 1},
        },
    }
