"""Reads values of the wrong type by their meaning."""

from __future__ import annotations

from collections.abc import Mapping

from preset_engine.messages import JsonValue


def is_depth(value: JsonValue) -> bool:
    """Whether SillyTavern ever looks at this depth: a whole number from 0 to 10000."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value == int(value) and 0 <= value <= 10_000


def read_flag(value: JsonValue, *, default: bool) -> bool:
    """A flag of any type by its meaning: texts of yes and no, numbers, null."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("false", "no", "off", "0", ""):
            return False
        return True if word in ("true", "yes", "on", "1") else default
    if isinstance(value, (int, float)):
        return bool(value)
    return default


def part_text(part: JsonValue) -> str | None:
    """The text of a content part: a bare text or an object with `text`; None for pictures and the like."""
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        text = part.get("text")
        return text if isinstance(text, str) else None
    return None


def type_name(value: JsonValue) -> str:
    """What a value is, as a message says it."""
    if value is None:
        return "null"
    names = {str: "a text", bool: "a flag", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), "an object")
