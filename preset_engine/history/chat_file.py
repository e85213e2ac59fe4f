"""SillyTavern chat files: one JSON object a line, a header line in front or none.

Each message line becomes a `ChatRecord`: hidden records stay in the chat and out of prompts, swipes keep their
chosen one, narrator lines, media and stored tool calls stay in `extra` for the assembler. A damaged line is a
note, never the end. Writing a chat and reading it back gives the same records.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from preset_engine.errors import InputTooLarge, Note, UnreadableInput, Weight
from preset_engine.json_values import as_object, as_text, as_texts
from preset_engine.messages import ChatRecord, JsonObject, JsonValue

MAX_BYTES = 256 * 1024 * 1024
_OWN_KEYS = frozenset({"name", "mes", "is_user", "is_system", "swipes", "swipe_id", "send_date"})


@dataclass(frozen=True, slots=True)
class ChatFile:
    """A chat as its file holds it.

    Attributes:
        records: the messages, oldest first.
        header: the header line's object; empty without one.
        notes: what was repaired or left out.
    """

    records: tuple[ChatRecord, ...]
    header: Mapping[str, JsonValue] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @property
    def user(self) -> str:
        """The user's name by the header, else by the newest record of the user's."""
        return _named(self.header, "user_name") or _speaker(self.records, is_user=True)

    @property
    def char(self) -> str:
        """The character's name by the header, else by the newest record that is not the user's."""
        return _named(self.header, "character_name") or _speaker(self.records, is_user=False)

    @property
    def metadata(self) -> Mapping[str, JsonValue]:
        """Chat metadata: variables, author's note and so on."""
        return as_object(self.header.get("chat_metadata"))


def read_chat(source: str | bytes) -> ChatFile:
    """Read a chat file's content.

    Raises:
        InputTooLarge: over 256 MiB.
        UnreadableInput: not text, or no line of it is a chat message or header.
    """
    lines = decode_source(source, "chat").split("\n")
    records: list[ChatRecord] = []
    notes: list[Note] = []
    header: Mapping[str, JsonValue] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        body = _read_line(line, number, notes)
        if body is None:
            continue
        if "mes" in body:
            records.append(read_record(body))
        elif not records and not header:
            header = body
        else:
            notes.append(_bad_line(number, "it has no 'mes'"))
    if not records and not _is_header(header):
        raise UnreadableInput("no line is a chat message: a chat file holds one JSON object a line")
    return ChatFile(tuple(records), header, tuple(notes))


def read_record(body: Mapping[str, JsonValue]) -> ChatRecord:
    """One message line; wrong types are read as absent, unknown keys are kept in `extra`."""
    index = body.get("swipe_id")
    sent_at = body.get("send_date")
    return ChatRecord(
        name=as_text(body.get("name")),
        text=as_text(body.get("mes")),
        is_user=bool(body.get("is_user")),
        is_hidden=bool(body.get("is_system")),
        swipes=as_texts(body.get("swipes")),
        swipe_index=index if isinstance(index, int) and not isinstance(index, bool) else 0,
        sent_at=sent_at if isinstance(sent_at, str | int | float) else None,
        extra={key: value for key, value in body.items() if key not in _OWN_KEYS},
    )


def write_chat(chat: ChatFile) -> str:
    """The file's text; the header line only where the chat has one. Ends with a newline."""
    bodies: list[Mapping[str, JsonValue]] = [chat.header] if chat.header else []
    bodies += [write_record(record) for record in chat.records]
    return "".join(json.dumps(body, ensure_ascii=False) + "\n" for body in bodies)


def write_record(record: ChatRecord) -> JsonObject:
    """One message line as SillyTavern writes it."""
    body: JsonObject = {
        "name": record.name,
        "is_user": record.is_user,
        "is_system": record.is_hidden,
        "mes": record.text,
    }
    if record.sent_at is not None:
        body["send_date"] = record.sent_at
    body.update(record.extra)
    if record.swipes:
        body["swipes"] = list(record.swipes)
    if record.swipes or record.swipe_index:
        body["swipe_id"] = record.swipe_index
    return body


def decode_source(source: str | bytes, what: str) -> str:
    """The text of a file's content, without a byte-order mark.

    Args:
        source: text, or UTF-8 bytes.
        what: what an error calls it.

    Raises:
        InputTooLarge: over 256 MiB.
        UnreadableInput: bytes that are no UTF-8 text.
    """
    if len(source) > MAX_BYTES:
        raise InputTooLarge(f"the {what} has {len(source)} bytes; the limit is {MAX_BYTES}")
    if isinstance(source, str):
        return source.removeprefix("\ufeff")
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"the {what} is not UTF-8 text (byte {error.start})") from None


def _read_line(line: str, number: int, notes: list[Note]) -> dict[str, JsonValue] | None:
    try:
        body = json.loads(line, strict=False)
    except (ValueError, RecursionError) as error:
        notes.append(_bad_line(number, str(error).split(":")[0]))
        return None
    if not isinstance(body, dict):
        notes.append(_bad_line(number, f"it holds {type(body).__name__}, not an object"))
        return None
    return body


def _bad_line(number: int, why: str) -> Note:
    return Note(
        "chat-line-skipped",
        f"line {number} is left out: {why}",
        path=f"line {number}",
        advice="mend or delete the line; the other lines were taken",
        weight=Weight.WARNING,
    )


def _is_header(body: Mapping[str, JsonValue]) -> bool:
    return any(key in body for key in ("chat_metadata", "user_name", "character_name"))


def _named(header: Mapping[str, JsonValue], key: str) -> str:
    name = header.get(key)
    return name if isinstance(name, str) and name != "unused" else ""


def _speaker(records: Iterable[ChatRecord], *, is_user: bool) -> str:
    names = [record.name for record in records if record.is_user is is_user and record.name]
    return names[-1] if names else ""
