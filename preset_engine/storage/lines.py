r"""Lines that can be read by people and cannot be half there.

One line is one committed step::

    {"crc":"5d1f0c3a","data":{"meta":{...},"ops":[{"op":"records",...}]}}

`crc` is the CRC-32 of the bytes of `data`. A cut line at the end was never acknowledged (its writer was
killed while writing) and does not count. Anything else that does not match is damage: a line in the middle, several
lines, a line that somebody wrote anew or whose line end was turned into another.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zlib import crc32

from preset_engine.errors import PresetEngineError, StorageFormat
from preset_engine.messages import JsonObject
from preset_engine.storage.border import dumps

_HEAD = b'{"crc":"%08x","data":'
_HEAD_BYTES = len(_HEAD % 0)
_TAIL = b"}\n"
_CHUNK_BYTES = 16 * 1024


def encode_line(data: JsonObject) -> bytes:
    """The line of one step, newline included."""
    body = dumps(data).encode()
    return _HEAD % crc32(body) + body + _TAIL


def decode_line(line: bytes) -> JsonObject | None:
    """The step of a line with its newline, or None when the line is cut or does not match."""
    body = line[_HEAD_BYTES : -len(_TAIL)]
    if not line.endswith(_TAIL) or line[:_HEAD_BYTES] != _HEAD % crc32(body):
        return None
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _is_json(line: bytes) -> bool:
    """Whether it is a whole JSON text with a line end, which no cut line is."""
    if not line.endswith(b"\n"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def replay(path: Path, offset: int, size: int, step: Callable[[JsonObject], None]) -> int:
    """Give every whole line between `offset` and `size` to `step`; returns where the last whole line ends.

    Raises:
        StorageFormat: a line in the middle is damaged, or a step cannot be understood.
    """
    with path.open("rb") as file:
        file.seek(offset)
        lines = BytesIO(file.read(size - offset)).readlines()
    end = offset
    for place, line in enumerate(lines):
        data = decode_line(line)
        if data is None:
            if place < len(lines) - 1 or _is_json(line):
                raise _damaged(path, end, "its check sum does not match")
            break
        try:
            step(data)
        except (PresetEngineError, KeyError) as error:
            raise _damaged(path, end, str(error)) from error
        end += len(line)
    return end


def last_step(path: Path, size: int) -> JsonObject | None:
    """The newest whole line of a file, read from its end; None when there is none."""
    with path.open("rb") as file:
        want = _CHUNK_BYTES
        while True:
            start = max(size - want, 0)
            file.seek(start)
            lines = BytesIO(file.read(size - start)).readlines()
            for line in reversed(lines if start == 0 else lines[1:]):
                data = decode_line(line)
                if data is not None:
                    return data
            if start == 0:
                return None
            want *= 4


def _damaged(path: Path, offset: int, why: str) -> StorageFormat:
    return StorageFormat(
        f"{path} is damaged in the line at byte {offset}: {why}; restore the file from a copy"
    )
