"""Log files as bytes: found in folders, opened whatever their compression, told by content.

Compression is told by the first bytes, not by the name. A folder stands for every log-like file below it, in the
order of their names; `-` is standard input, copied to a temporary file so that it can be told like any other.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from preset_engine.errors import MissingExtra, UnreadableInput

_ENDINGS = frozenset({".jsonl", ".json", ".ndjson", ".log", ".txt", ".sse", ".csv", ".gz", ".zst"})
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def find_files(given: Sequence[str]) -> list[Path]:
    """The files that these paths name; folders are searched, doubles are dropped.

    Raises:
        UnreadableInput: a path does not exist, or a folder holds no log.
    """
    found: dict[Path, None] = {}
    for name in given:
        path = Path(name)
        if path.is_dir():
            inside = [
                p for p in sorted(path.rglob("*")) if p.suffix.lower() in _ENDINGS and p.is_file()
            ]
            if not inside:
                raise UnreadableInput(
                    f"{name!r} holds no log file (.jsonl, .json, .log, .txt, .csv, .gz, .zst)"
                )
            found.update(dict.fromkeys(inside))
        elif path.exists():
            found[path] = None
        else:
            raise UnreadableInput(
                f"{name!r} does not exist; give log files, folders, or - for standard input"
            )
    return list(found)


@contextmanager
def standard_input() -> Iterator[Path]:
    """Standard input as a temporary file, gone afterwards."""
    import shutil  # only here
    import tempfile

    with tempfile.TemporaryDirectory(prefix="preset-engine-") as folder:
        path = Path(folder) / "standard-input"
        with path.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        yield path


def compression(path: Path) -> str:
    """`gzip`, `zstd` or `none`, by the first bytes."""
    with path.open("rb") as file:
        start = file.read(4)
    return "gzip" if start.startswith(_GZIP) else "zstd" if start == _ZSTD else "none"


@contextmanager
def open_log(path: Path) -> Iterator[BinaryIO]:
    """The plain bytes of a log file.

    Raises:
        UnreadableInput: the file cannot be opened.
        MissingExtra: it is compressed with zstd and `zstandard` is not installed.
    """
    try:
        kind = compression(path)
        raw = path.open("rb")
    except OSError as error:
        raise UnreadableInput(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    with raw:
        if kind == "gzip":
            with gzip.open(raw) as plain:
                yield cast("BinaryIO", plain)  # a buffered reader of bytes
        elif kind == "zstd":
            with _open_zstd(raw) as plain:
                yield plain
        else:
            yield raw


def _open_zstd(raw: BinaryIO) -> BinaryIO:
    try:
        import zstandard  # an extra
    except ImportError:
        raise MissingExtra("Reading a log compressed with zstd", "report") from None
    reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    return cast(
        "BinaryIO", io.BufferedReader(cast("io.RawIOBase", reader), 1 << 20)
    )  # it is one in all but its type
