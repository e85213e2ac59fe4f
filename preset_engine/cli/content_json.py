"""`Content` from a JSON object, as `probe --content` takes it: the same fields under the same names.

A block is an object with `title` and `body`, or a text; the history is a list of OpenAI messages, a list of
SillyTavern chat lines, or a text with heads. A field that nobody knows is refused by name, since it is a slip more
often than not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import NoReturn

from preset_engine.content.content import Block, Content, Persona, Slots
from preset_engine.errors import InputRefused
from preset_engine.history.chat_file import read_record
from preset_engine.messages import ChatMessage, ChatRecord, JsonObject, JsonValue, parse_messages


def read_content(body: JsonValue) -> Content:
    """Read a content object.

    Raises:
        InputRefused: it is no object, has an unknown field, or a field has another form.
    """
    if not isinstance(body, dict):
        raise InputRefused("content is a JSON object with the fields of Content")
    unknown = [key for key in body if key not in _READERS]
    if unknown:
        names = ", ".join(sorted(_READERS))
        message = f"content has no field {unknown[0]!r}; the fields are {names}"
        raise InputRefused(message)
    given = {key: _READERS[key](key, value) for key, value in body.items() if value is not None}
    return Content(**given)  # type: ignore[arg-type]  # each reader gives its field's own type


def read_persona(field: str, value: JsonValue) -> Persona:
    """A persona object, or a text that is its description."""
    if isinstance(value, str):
        return Persona(description=value)
    return Persona.from_json(_object(field, value))


def _refuse(field: str, wanted: str) -> NoReturn:
    message = f"content field {field!r} must be {wanted}"
    raise InputRefused(message)


def _text(field: str, value: JsonValue) -> str:
    return value if isinstance(value, str) else _refuse(field, "a text")


def _object(field: str, value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else _refuse(field, "an object")


def _objects(field: str, value: JsonValue) -> tuple[JsonObject, ...]:
    if not isinstance(value, list):
        _refuse(field, "a list of objects")
    return tuple(_object(f"{field}[{number}]", item) for number, item in enumerate(value))


def _blocks(field: str, value: JsonValue) -> tuple[Block, ...]:
    if isinstance(value, str):
        return (Block("", value),)
    if not isinstance(value, list):
        _refuse(field, "a list of blocks (objects with title and body, or texts)")
    return tuple(_block(f"{field}[{number}]", item) for number, item in enumerate(value))


def _block(field: str, value: JsonValue) -> Block:
    if isinstance(value, str):
        return Block("", value)
    body = _object(field, value)
    return Block(_text(field, body.get("title", "")), _text(field, body.get("body", "")))


def _history(
    field: str, value: JsonValue
) -> str | tuple[ChatMessage, ...] | tuple[ChatRecord, ...]:
    if isinstance(value, str):
        return value
    lines = _objects(field, value)
    if any("mes" in line for line in lines):
        return tuple(read_record(line) for line in lines)
    return _messages(field, value)


def _messages(field: str, value: JsonValue) -> tuple[ChatMessage, ...]:
    lines = _objects(field, value)
    if not all(isinstance(line.get("role"), str) for line in lines):
        _refuse(field, "a list of messages, each with a role")
    return parse_messages(lines)


def _slots(field: str, value: JsonValue) -> Slots:
    body = _object(field, value)
    known = {item.name for item in fields(Slots)}
    if not set(body) <= known:
        _refuse(field, f"an object with {', '.join(sorted(known))}")
    return Slots(**{key: _text(f"{field}.{key}", text) for key, text in body.items()})


def _mapping(field: str, value: JsonValue) -> Mapping[str, JsonValue]:
    return _object(field, value)


_READERS: dict[str, Callable[[str, JsonValue], object]] = {
    "before": _blocks,
    "after": _blocks,
    "post_turn": _blocks,
    "history": _history,
    "slots": _slots,
    "turn": _text,
    "tail": _messages,
    "user": _text,
    "char": _text,
    "persona": read_persona,
    "card": _object,
    "world_books": _objects,
    "note": _object,
    "regex_scripts": _objects,
    "variables": _mapping,
    "global_variables": _mapping,
    "generation_type": _text,
    "settings": _mapping,
}
