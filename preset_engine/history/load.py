"""A history from outside, whatever form it has: a SillyTavern chat, OpenAI messages, or text with heads.

What it is, is told by its content: JSON with roles is OpenAI's form (a list, an object with `messages`, or a line
each), JSON with `mes` is a chat file, anything else is text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from preset_engine.errors import Note, Weight
from preset_engine.history.chat_file import ChatFile, decode_source, read_chat, read_record
from preset_engine.history.names import expand_names
from preset_engine.history.parse import parse_history
from preset_engine.messages import ChatMessage, ChatRecord, JsonValue


@dataclass(frozen=True, slots=True)
class LoadedHistory:
    """A history ready for `Content.history`.

    Attributes:
        history: messages, or records where the source was a SillyTavern chat.
        preamble: text in front of the first turn; it belongs to `worldBookBefore`.
        chat: the chat file, where the source was one.
        notes: what was repaired, expanded or left out.
    """

    history: tuple[ChatMessage, ...] | tuple[ChatRecord, ...]
    preamble: str = ""
    chat: ChatFile | None = None
    notes: tuple[Note, ...] = ()


def load_history(source: str | bytes, user: str = "", char: str = "") -> LoadedHistory:
    """Read a history.

    Args:
        source: the content of a file.
        user: the user's name for a SillyTavern chat; its own names where empty.
        char: the character's name, likewise.

    Raises:
        InputTooLarge: over 256 MiB.
        UnreadableInput: bytes that are no UTF-8 text.
    """
    text = decode_source(source, "history")
    value = _json(text)
    messages = _messages(value)
    if messages is not None:
        return LoadedHistory(messages, notes=_odd_notes(value))
    if isinstance(value, list) and value and all(_has(item, "mes") for item in value):
        records = tuple(read_record(item) for item in value if isinstance(item, dict))
        return _from_chat(ChatFile(records), user, char)
    if text.lstrip().startswith("{") and (_has(value, "mes") or _is_lines_of(text)):
        return _from_lines(text, user, char)
    parsed = parse_history(text)
    return LoadedHistory(parsed.messages, parsed.preamble)


def _json(text: str) -> JsonValue:
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        value: JsonValue = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def _messages(value: JsonValue) -> tuple[ChatMessage, ...] | None:
    """OpenAI messages: a list of objects with roles, or an object that holds one."""
    listed = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(listed, list) or not any(_has(item, "role") for item in listed):
        return None
    return tuple(
        ChatMessage.from_json(item)
        for item in listed
        if isinstance(item, dict) and _is_message(item)
    )


def _is_message(item: JsonValue) -> bool:
    return isinstance(item, dict) and isinstance(item.get("role"), str)


def _odd_notes(value: JsonValue) -> tuple[Note, ...]:
    listed = value.get("messages") if isinstance(value, dict) else value
    items: Sequence[JsonValue] = listed if isinstance(listed, list) else ()
    odd = [number for number, item in enumerate(items) if not _is_message(item)]
    if not odd:
        return ()
    note = Note(
        "history-item-skipped",
        f"{len(odd)} items of the message list have no role and are left out",
        path=f"history[{odd[0]}]",
        advice="each message is an object with a role and a content",
        weight=Weight.WARNING,
        count=len(odd),
    )
    return (note,)


def _is_lines_of(text: str) -> bool:
    """The first line is a JSON object: a chat file, or messages a line each."""
    first = text.lstrip().split("\n", 1)[0]
    return isinstance(_json(first), dict)


def _from_lines(text: str, user: str, char: str) -> LoadedHistory:
    lines = [_json(line) for line in text.split("\n") if line.strip()]
    messages = None if any(_has(line, "mes") for line in lines) else _messages(lines)
    if messages is not None:
        return LoadedHistory(messages, notes=_odd_notes(lines))
    return _from_chat(read_chat(text), user, char)


def _from_chat(chat: ChatFile, user: str, char: str) -> LoadedHistory:
    records, notes = expand_names(chat.records, user or chat.user, char or chat.char)
    return LoadedHistory(records, chat=chat, notes=(*chat.notes, *notes))


def _has(item: JsonValue, key: str) -> bool:
    return isinstance(item, Mapping) and key in item
