"""A log file of any shape to calls and skips.

First the file's form is told: JSON lines, one JSON document, server-sent events, CSV, or console text; then each
object goes to the family of shapes that knows it (`log/readers`). Nothing stops the reading: what cannot be
understood is a `Skip` with its reason.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from preset_engine.errors import UnreadableInput
from preset_engine.log.call import Call, Reading, Skip, SkipKind
from preset_engine.log.readers import finish, read_object
from preset_engine.log.readers.console import read_text
from preset_engine.log.readers.memory import Memory
from preset_engine.log.sources import open_log

_LARGEST_DOCUMENT = 256 * 1024 * 1024
_LONGEST_LINE = 64 * 1024 * 1024
_SAMPLE = 64 * 1024


def read_log(path: Path, advance: Callable[[int], None] | None = None) -> Iterator[Reading]:
    """Every call and skip of a file, in its order; `advance` gets the bytes read since it was last called."""
    memory = Memory()
    try:
        with open_log(path) as file:
            for ordinal, reading in enumerate(_read_file(file, memory, advance or _ignore)):
                yield _placed(reading, path, ordinal)
    except (OSError, EOFError, UnreadableInput) as error:
        yield Skip(
            SkipKind.UNREADABLE, f"a file that cannot be read to its end ({_one_line(error)})"
        )
    for reading in finish(memory):
        yield _placed(reading, path, 1 << 40)


def read_line(line: str, memory: Memory) -> Iterator[Reading]:
    """Every call and skip of one line: JSON, JSON after a prefix, or an event's `data:`."""
    text = line.strip()
    if not text or text.startswith((":", "event:", "id:", "retry:")) or text == "data: [DONE]":
        return
    if text.startswith("data:"):
        text = text[5:].strip()
    value = _parse(text)
    if value is _BROKEN and "{" in text[1:]:
        value = _parse(text[text.index("{", 1) :])
    if value is _BROKEN:
        yield Skip(SkipKind.UNREADABLE, "a line that is no JSON (cut off, or plain text)")
    elif value is _TOO_DEEP:
        yield Skip(SkipKind.UNREADABLE, "a line that is nested too deep")
    else:
        yield from read_object(value, memory)


_BROKEN, _TOO_DEEP = object(), object()


def _parse(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except RecursionError:
        return _TOO_DEEP
    except ValueError:
        return _BROKEN


def _read_file(file: BinaryIO, memory: Memory, advance: Callable[[int], None]) -> Iterator[Reading]:
    start = file.read(_SAMPLE)
    advance(len(start))
    encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = start.decode(encoding, "replace")
    if encoding == "utf-16" or _is_document(text, len(start)):
        yield from _read_document(start, file, encoding, memory, advance)
    elif _is_csv(text):
        yield from _read_csv(start, file, advance)
    elif _is_console(text):
        whole = start + file.read(_LARGEST_DOCUMENT)
        advance(len(whole) - len(start))
        yield from _console(whole.decode(encoding, "replace"))
    else:
        yield from _read_lines(start, file, memory, advance)


def _is_document(text: str, size: int) -> bool:
    """Whether the text is one JSON value over several lines rather than one value a line."""
    body = text.lstrip()
    if body[:1] not in ("{", "["):
        return False
    first, _, rest = body.partition("\n")
    if not rest.strip() and size < _SAMPLE:
        return True
    if _parse(first) not in (_BROKEN, _TOO_DEEP):
        return False
    later = [line for line in rest.split("\n")[:20] if line.startswith("{")]
    return not any(isinstance(_parse(line), dict) for line in later)


def _is_csv(text: str) -> bool:
    first = text.partition("\n")[0]
    return first.count(",") >= 2 and "{" not in first and ("token" in first.lower())


def _is_console(text: str) -> bool:
    """Whether JSON stands in no line, nor behind `data:`."""
    lines = [line.strip() for line in text.splitlines()[:-1] or text.splitlines() if line.strip()][
        :200
    ]
    if not lines or any(line.startswith(("data:", "event:")) for line in lines):
        return False
    return not any(
        isinstance(_parse(line[line.index("{") :]), dict) for line in lines if "{" in line
    )


def _read_lines(
    start: bytes, file: BinaryIO, memory: Memory, advance: Callable[[int], None]
) -> Iterator[Reading]:
    for line in _lines(start, file, advance):
        if len(line) >= _LONGEST_LINE:
            yield Skip(SkipKind.UNREADABLE, "a line longer than 64 MB")
        else:
            yield from read_line(line.decode("utf-8-sig", "replace"), memory)


def _lines(start: bytes, file: BinaryIO, advance: Callable[[int], None]) -> Iterator[bytes]:
    lines = start.split(b"\n")
    held = lines.pop()
    yield from lines
    unread = 0
    for line in iter(lambda: file.readline(_LONGEST_LINE), b""):
        unread += len(line)
        if unread > 1_000_000:
            advance(unread)
            unread = 0
        yield held + line
        held = b""
    advance(unread)
    if held:
        yield held


def _read_document(
    start: bytes, file: BinaryIO, encoding: str, memory: Memory, advance: Callable[[int], None]
) -> Iterator[Reading]:
    rest = file.read(_LARGEST_DOCUMENT)
    advance(len(rest))
    if file.read(1):
        yield Skip(SkipKind.UNREADABLE, "a JSON document larger than 256 MB")
        return
    text = (start + rest).decode(encoding, "replace").strip()
    decoder, place, found = json.JSONDecoder(strict=False), 0, 0
    try:
        while place < len(text):
            value, place = decoder.raw_decode(text, place)
            found += 1
            yield from read_object(value, memory)
            while place < len(text) and text[place] in " \t\r\n,":
                place += 1
    except (RecursionError, ValueError) as error:
        if not found and _has_lines(text):
            for line in text.split("\n"):
                yield from read_line(line, memory)
        elif isinstance(error, RecursionError):
            yield Skip(SkipKind.UNREADABLE, "a JSON document that is nested too deep")
        elif found or "\n" not in text:
            yield Skip(SkipKind.UNREADABLE, "a JSON document that is cut off or damaged")
        else:
            yield from _console(text)


def _has_lines(text: str) -> bool:
    """Whether a line of the text is a JSON object by itself: lines after all, the first ones broken."""
    return any(
        isinstance(_parse(line), dict) for line in text.split("\n") if line.rstrip().endswith("}")
    )


def _console(text: str) -> Iterator[Reading]:
    found = list(read_text(text))
    yield from found
    if not found:
        yield Skip(SkipKind.UNREADABLE, "a text without any usage object")


def _read_csv(start: bytes, file: BinaryIO, advance: Callable[[int], None]) -> Iterator[Reading]:
    rest = file.read(_LARGEST_DOCUMENT)
    advance(len(rest))
    text = (start + rest).decode("utf-8-sig", "replace")
    try:
        for row in csv.DictReader(io.StringIO(text, newline="")):
            filled = {name: value for name, value in row.items() if name and value != ""}
            yield from read_object(filled, Memory())
    except csv.Error as error:
        yield Skip(SkipKind.UNREADABLE, f"a CSV file that is damaged ({error})")


def _placed(reading: Reading, path: Path, ordinal: int) -> Reading:
    return (
        replace(reading, source=str(path), ordinal=ordinal)
        if isinstance(reading, Call)
        else reading
    )


def _ignore(count: int) -> None:
    del count


def _one_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
