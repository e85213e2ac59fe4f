"""JSON at the program's border: bounded reading, and documents and rows that any JSON reader takes.

`--lines` turns each line of the input into one line of the answer, in order; a row that fails is answered by
its error and does not touch the others.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from preset_engine.errors import InputTooLarge, PresetEngineError, UnreadableInput
from preset_engine.messages import JsonObject, JsonValue

_STEERING = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
MAX_BYTES = 64 * 1024 * 1024  # of a document, of a row


def read_bytes(source: str | Path) -> bytes:
    """The bytes of a file, or of standard input for ``-``.

    Raises:
        UnreadableInput: there is no such file, or it cannot be read.
        InputTooLarge: it is over the limit (a device that never ends is).
    """
    with _opened(source) as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        message = f"{_shown(source)}: larger than {MAX_BYTES} bytes; give a smaller file"
        raise InputTooLarge(message)
    return data


def read_text(source: str | Path) -> str:
    """The UTF-8 text of a file, or of standard input for ``-``, without a byte-order mark.

    Raises:
        UnreadableInput: it cannot be read or is not UTF-8.
        InputTooLarge: it is over the limit.
    """
    return _decoded(read_bytes(source), _shown(source))


def read_lines(source: str | Path) -> Iterator[bytes]:
    """The lines of a file, or of standard input for ``-``, one at a time; an endless one is cut at the limit.

    Raises:
        UnreadableInput: there is no such file, or it cannot be read.
    """
    with _opened(source) as stream:
        while line := stream.readline(MAX_BYTES + 1):
            yield line


@contextmanager
def _opened(source: str | Path) -> Iterator[BinaryIO]:
    try:
        if source == "-":
            yield sys.stdin.buffer
        else:
            with Path(source).open("rb") as file:
                yield file
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"{_shown(source)}: cannot be read ({reason})"
        raise UnreadableInput(message) from None


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{where}: not UTF-8 text (byte {error.start})"
        raise UnreadableInput(message) from None


def parse_json(text: str, where: str | Path) -> JsonValue:
    """The value of a JSON text.

    Raises:
        UnreadableInput: it is no JSON, or nested too deeply.
    """
    try:
        value: JsonValue = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        message = f"{_shown(where)}: not JSON ({error})"
        raise UnreadableInput(message) from None
    return value


def to_json(value: object, *, indent: int | None = None, ascii_only: bool = True) -> str:
    """JSON text for a pipe or a terminal.

    A number beyond every range, which JSON has no word for, becomes null as in JavaScript. Characters that steer
    a terminal are escaped, since foreign texts hold them.
    """
    try:
        text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=ascii_only, indent=indent, allow_nan=False)
    return text if ascii_only else _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_json(value: object) -> None:
    """Print a readable JSON document; a lone surrogate is escaped."""
    text = to_json(value, indent=2, ascii_only=False)
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")


def answer_lines(
    source: str | Path, label: str, answer: Callable[[JsonObject], JsonObject]
) -> bool:
    """Print one answer line for every line that is not blank; tells whether all were good.

    Args:
        source: a file of one JSON object a line, or ``-``.
        label: the key that names a row, in its answer too.
        answer: makes the answer of a row.
    """
    is_good = True
    for line in read_lines(source):
        if not line.strip():
            continue
        made = answer_line(line, label, answer)
        is_good = is_good and "error" not in made
        print(to_json(made), flush=True)
    return is_good


def answer_line(line: bytes, label: str, answer: Callable[[JsonObject], JsonObject]) -> JsonObject:
    """The answer of one row, or its label and error."""
    name: JsonValue = "" if label == "name" else None
    try:
        row = parse_json(_decoded(line, "line"), "line")
        if not isinstance(row, dict):
            raise UnreadableInput("line: not a JSON object")
        name = row.get(label, name)
        return answer(row)
    except PresetEngineError as error:
        return {label: name, "error": str(error)}
    except Exception as error:  # noqa: BLE001  # one row must never take the others with it
        return {label: name, "error": f"internal fault, please report it: {fault(error)}"}


def fault(error: BaseException) -> str:
    """An error that is not ours, on one line: its kind, its words and the place in our code."""
    step = error.__traceback__
    place = ""
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if "preset_engine" in file:
            place = f" ({Path(file).name}, line {step.tb_lineno})"
        step = step.tb_next
    words = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {words}{place}"


def _shown(source: str | Path) -> str:
    return "standard input" if source == "-" else str(source)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
