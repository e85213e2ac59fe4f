"""The single files that a probe is filled from: a card, a world book, a persona, a chat, a JSON object.

A file that is known to be something else is refused by its name ("this is a world book"), since its text would
otherwise stand in the prompt as if it were meant.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

from preset_engine.cli.content_json import read_persona
from preset_engine.cli.json_io import parse_json, read_bytes
from preset_engine.content.content import Persona
from preset_engine.content.png import SIGNATURE, read_png_card
from preset_engine.errors import InputRefused, UnreadableInput, WrongKind
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.kinds import name_kind

_OPTIONS = {
    "character_card": "give it with --card",
    "world_book": "give it with --world",
    "chat": "give it with --chat",
    "preset": "it is the first argument of the command",
}
_CHATS = ("chat", "message_list", "request_body")


def read_card_file(path: Path) -> JsonObject:
    """The JSON of a character card, out of a JSON file or a PNG picture.

    Raises:
        InputRefused: the file cannot be read or holds something else.
    """
    data = read_bytes(path)
    if data.startswith(SIGNATURE):
        try:
            return read_png_card(data)
        except InputRefused as error:
            raise type(error)(f"{path}: {error}", *_kind(error)) from None
    return _object_of(path, _json(path, data), ("character_card",), "a character card")


def read_world_file(path: Path) -> JsonObject:
    """The JSON of a world book.

    Raises:
        InputRefused: the file cannot be read or holds something else.
    """
    return _object_of(path, _json(path, read_bytes(path)), ("world_book",), "a world book")


def read_persona_file(path: Path) -> Persona:
    """A persona: JSON, or plain text that is the description.

    Raises:
        InputRefused: the file cannot be read or holds something else.
    """
    data = read_bytes(path)
    if path.suffix.lower() == ".json":
        value = _json(path, data)
        _refuse_other(path, value, ("system_prompt",), "a persona")
        return read_persona("persona", value)
    try:
        return Persona(description=data.decode("utf-8-sig").strip())
    except UnicodeDecodeError:
        message = f"{path}: not UTF-8 text; a persona is JSON or a text file with the description"
        raise UnreadableInput(message) from None


def read_chat_file(path: Path) -> bytes:
    """The bytes of a chat, messages or a history text.

    Raises:
        InputRefused: the file cannot be read, or is a JSON document of another kind.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        message = f"{path}: not UTF-8 text; a chat is a SillyTavern .jsonl, OpenAI messages or text"
        raise UnreadableInput(message) from None
    if text.lstrip().startswith(("{", "[")):
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            return data  # a line each, or text: the reader tells
        _refuse_other(path, value, _CHATS, "a chat")
    return data


def _json(path: Path, data: bytes) -> JsonValue:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 text (byte {error.start}); a JSON file is needed"
        raise UnreadableInput(message) from None
    return parse_json(text, path)


def _object_of(path: Path, value: JsonValue, wanted: tuple[str, ...], what: str) -> JsonObject:
    _refuse_other(path, value, wanted, what)
    if not isinstance(value, dict):
        message = f"{path}: holds no JSON object; {what} is needed"
        raise UnreadableInput(message)
    return value


def _refuse_other(path: Path, value: JsonValue, wanted: tuple[str, ...], what: str) -> None:
    kind, words = name_kind(value)
    if kind and kind not in wanted:
        _refuse(path, kind, words, what)


def _refuse(path: Path, kind: str, words: str, what: str) -> NoReturn:
    advice = _OPTIONS.get(kind, "check the path")
    message = f"{path}: this is {words}, not {what}: {advice}"
    raise WrongKind(message, kind)


def _kind(error: InputRefused) -> tuple[str, ...]:
    return (error.kind,) if isinstance(error, WrongKind) else ()
