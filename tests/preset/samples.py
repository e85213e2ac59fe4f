"""Small presets of our own for the import tests."""

from __future__ import annotations

import copy
from typing import Any

from preset_engine.errors import PresetEngineError
from preset_engine.preset.importer import Imported, load_preset

PRESET: dict[str, Any] = {
    "chat_completion_source": "openai",
    "temperature": 0.8,
    "top_p": 0.9,
    "openai_max_context": 32000,
    "openai_max_tokens": 600,
    "stream_openai": True,
    "squash_system_messages": False,
    "prompts": [
        {
            "identifier": "main",
            "name": "Main",
            "role": "system",
            "content": "You tell the story of {{char}}.",
            "system_prompt": True,
        },
        {
            "identifier": "tone",
            "name": "Tone",
            "role": "system",
            "content": "Keep a calm tone. {{setvar::tone::calm}}",
            "system_prompt": False,
            "injection_position": 0,
            "injection_depth": 4,
            "x_tool": {"colour": "blue"},
        },
        {
            "identifier": "near",
            "name": "Near the end",
            "role": "user",
            "content": "Remember {{user}}.",
            "system_prompt": False,
            "injection_position": 1,
            "injection_depth": 2,
            "injection_order": 50,
        },
        {
            "identifier": "chatHistory",
            "name": "Chat History",
            "system_prompt": True,
            "marker": True,
        },
    ],
    "prompt_order": [
        {
            "character_id": 100001,
            "order": [
                {"identifier": "main", "enabled": True},
                {"identifier": "tone", "enabled": False},
                {"identifier": "near", "enabled": True},
                {"identifier": "chatHistory", "enabled": True},
            ],
        }
    ],
    "extensions": {},
    "x_unknown": [1, {"a": None}],
}


def preset(**changes: Any) -> dict[str, Any]:
    """A fresh sample with top-level changes."""
    return {**copy.deepcopy(PRESET), **changes}


def entry(number: int, **changes: Any) -> dict[str, Any]:
    """The sample with fields of one entry changed; None removes nothing, use `without`."""
    document = preset()
    document["prompts"][number].update(changes)
    return document


def without(number: int, key: str) -> dict[str, Any]:
    """The sample with a field of one entry taken out."""
    document = preset()
    document["prompts"][number].pop(key, None)
    return document


NATIVE: dict[str, Any] = {
    "id": "tea-room-1a2b3c4d",
    "name": "Tea room",
    "source": "native",
    "prompts": [
        {"id": "rules", "name": "Rules", "enabled": True, "role": "system", "content": "Be brief."},
        {"id": "off", "name": "Off", "enabled": False, "role": "system", "content": "Never sent."},
        {"id": "chatHistory", "name": "History", "marker": True, "role": "system", "content": ""},
        {
            "id": "deep",
            "name": "Deep",
            "role": "system",
            "content": "Mind the kettle.",
            "injection": {"position": 1, "depth": 3, "order": 10},
        },
    ],
    "promptOrder": [
        {"promptId": "chatHistory", "enabled": True, "orderIndex": 2},
        {"promptId": "rules", "enabled": True, "orderIndex": 0},
        {"promptId": "off", "enabled": True, "orderIndex": 1},
        {"promptId": "deep", "enabled": True, "orderIndex": 3},
    ],
    "generation": {"temperature": 0.6, "maxOutputTokens": 800},
    "messagePolicy": {"squash": "semi"},
    "unsupported": [],
}


def native(**changes: Any) -> dict[str, Any]:
    """A fresh native sample with top-level changes."""
    return {**copy.deepcopy(NATIVE), **changes}


def codes(imported: Any) -> set[str]:
    """The note codes of an import."""
    return {note.code for note in imported.notes}


def attempt(source: Any) -> Imported | PresetEngineError:
    """What the import gives: the preset, or the refusal, which is one line."""
    try:
        return load_preset(source)
    except PresetEngineError as refusal:
        if "\n" in str(refusal) or len(str(refusal)) < 20:
            message = f"not one helpful line: {refusal!r}"
            raise AssertionError(message) from refusal
        return refusal
