"""JSON values of foreign files, read as the type that is wanted; a value of another type counts as absent."""

from __future__ import annotations

from preset_engine.messages import JsonObject, JsonValue


def as_object(value: JsonValue) -> JsonObject:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: JsonValue) -> list[JsonValue]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_objects(value: JsonValue) -> list[JsonObject]:
    """The objects of a list, in order; what else is in it is left out."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_texts(value: JsonValue) -> tuple[str, ...]:
    """The texts of a list, in order; what else is in it is left out."""
    return tuple(item for item in as_list(value) if isinstance(item, str))


def as_text(value: JsonValue, default: str = "") -> str:
    """The value where it is text, else the default."""
    return value if isinstance(value, str) else default
