"""The JSON Schema of the native form; `docs/schema/preset.schema.json` is written from it."""

from __future__ import annotations

import json
from typing import Any

from preset_engine.errors import UnreadableInput
from preset_engine.messages import JsonObject
from preset_engine.preset.notebook import Notebook

MODES = ("none", "merge", "merge_tools", "semi", "semi_tools", "strict", "strict_tools", "single")
"""Values of `messagePolicy.squash`; true stands for SillyTavern's boolean squash."""

_NUMBER: JsonObject = {"type": ["number", "null"]}
_COUNT: JsonObject = {"type": ["integer", "null"], "minimum": 0}

PRESET_SCHEMA: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "preset_engine native preset",
    "description": "Entries (the warehouse), their order (the programme), generation and shaping.",
    "type": "object",
    "required": ["prompts"],
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "source": {"enum": ["native", "sillytavern"]},
        "prompts": {"type": "array", "items": {"$ref": "#/$defs/entry"}},
        "promptOrder": {"type": "array", "items": {"$ref": "#/$defs/orderItem"}},
        "generation": {"$ref": "#/$defs/generation"},
        "messagePolicy": {
            "type": "object",
            "properties": {"squash": {"enum": [*MODES, True, False, None]}},
        },
        "settings": {
            "description": "SillyTavern's settings of the assembly, under its own names.",
            "type": "object",
        },
        "regexScripts": {"type": "array", "items": {"type": "object"}},
        "unsupported": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["path", "reason"],
                "properties": {"path": {"type": "string"}, "reason": {"type": "string"}},
            },
        },
        "importedAt": {"type": ["string", "number"]},
        "raw": {"description": "The document it was converted from, untouched.", "type": "object"},
    },
    "$defs": {
        "entry": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "minLength": 1},
                "name": {"type": "string"},
                "enabled": {"type": "boolean"},
                "role": {"enum": ["system", "user", "assistant"]},
                "content": {"type": "string"},
                "marker": {"type": "boolean"},
                "sourceIdentifier": {"type": "string"},
                "injection": {
                    "type": "object",
                    "properties": {
                        "position": {"enum": [0, 1]},
                        "depth": {"type": "integer", "minimum": 0, "maximum": 10000},
                        "order": {"type": "number"},
                        "triggers": {"type": "array", "items": {"type": "string"}},
                    },
                },
                "forbidOverrides": {"type": "boolean"},
                "systemPrompt": {"type": "boolean"},
            },
        },
        "orderItem": {
            "type": "object",
            "required": ["promptId"],
            "properties": {
                "promptId": {"type": "string"},
                "enabled": {"type": "boolean"},
                "orderIndex": {"type": "number"},
            },
        },
        "generation": {
            "type": "object",
            "properties": {
                "temperature": _NUMBER,
                "topP": _NUMBER,
                "topK": _NUMBER,
                "topA": _NUMBER,
                "minP": _NUMBER,
                "frequencyPenalty": _NUMBER,
                "presencePenalty": _NUMBER,
                "repetitionPenalty": _NUMBER,
                "maxContextTokens": _COUNT,
                "maxOutputTokens": _COUNT,
                "stream": {"type": ["boolean", "null"]},
                "verbosity": {"type": ["string", "null"]},
                "seed": {"type": ["integer", "null"]},
                "variants": _COUNT,
            },
        },
    },
}

_SAYS = {
    "type": "has the wrong type",
    "required": "lacks a required field",
    "enum": "is none of the allowed values",
    "minimum": "is too small",
    "maximum": "is too large",
    "minLength": "is empty",
}


def check_schema(document: JsonObject, notes: Notebook) -> None:
    """Notes every place where a native document breaks the schema.

    Raises:
        UnreadableInput: `prompts` is missing or no list, so there is nothing to read.
    """
    if not isinstance(document.get("prompts"), list):
        message = "$.prompts of the native preset is no list; see docs/schema/preset.schema.json for the format"
        raise UnreadableInput(message)
    for path, rule in _faults(document):
        notes.add("schema-fault", f"{path} {_SAYS.get(rule, f'breaks the rule {rule!r}')}", path)


def _faults(document: JsonObject) -> list[tuple[str, str]]:
    from jsonschema import Draft202012Validator  # 0.2 s to load, and only native files need it

    checker: Any = Draft202012Validator(PRESET_SCHEMA)  # jsonschema types its errors loosely
    found = [
        (_path(error.absolute_path), str(error.validator))
        for error in checker.iter_errors(document)
    ]
    return sorted(found)


def _path(parts: Any) -> str:  # a deque of keys and numbers
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def schema_text() -> str:
    """The schema as the file in `docs/schema`."""
    return json.dumps(PRESET_SCHEMA, indent=2) + "\n"
