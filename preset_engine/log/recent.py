"""The newest lines of our log, newest first, without reading the rest of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from preset_engine.messages import JsonObject

_BLOCK = 64 * 1024


def recent_lines(folder: Path, name: str = "calls", limit: int = 500) -> list[JsonObject]:
    """At most `limit` lines of the files that a `LogWriter` of this name wrote; damaged lines are skipped."""
    days = sorted(folder.glob(f"{name}-????-??-??.jsonl"), reverse=True)
    parsed = (_parse(line) for path in days for line in _backwards(path))
    return list(islice((line for line in parsed if line is not None), limit))


def _parse(line: bytes) -> JsonObject | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _backwards(path: Path) -> Iterator[bytes]:
    """Lines from the end; a line that is still being written (no newline behind it) is left out."""
    with path.open("rb") as file:
        place = file.seek(0, os.SEEK_END)
        held, is_end = b"", True
        while place:
            size = min(_BLOCK, place)
            place -= size
            file.seek(place)
            lines = (file.read(size) + held).split(b"\n")
            held = lines[0]
            whole = lines[1:-1] if is_end else lines[1:]
            is_end = is_end and len(lines) == 1
            yield from (line for line in reversed(whole) if line.strip())
    if held.strip() and not is_end:
        yield held
