"""Bytes on a disk that are there or not there: append with a way back, a lock among processes, errors in our words.

All but the waiting for the lock blocks and runs in a thread. An append to several files is one step by an undo file::

    pending.json (names and old lengths) is written -> lines are appended -> pending.json is removed = committed

Whoever finds `pending.json` while holding the lock cuts the files back to the old lengths: its writer was killed
before it could acknowledge anything.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from preset_engine.errors import StorageError, StorageFormat, StorageFull, StorageLost

LOCK_SECONDS = 60.0
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes for one file: where its whole lines end, and what comes next."""

    path: Path
    offset: int
    line: bytes


@contextmanager
def our_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into `StorageFull` or `StorageLost`."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFull(
                f"no room left for {path}: nothing of this change was stored; free space and retry"
            ) from error
        raise StorageLost(f"cannot use {path}: {error.strerror or error}") from error


def append(parts: Sequence[Part], pending: Path) -> None:
    """Append all parts as one step, on the disk when this returns; on an error none is there."""
    with our_errors(parts[0].path):
        if len(parts) == 1:
            _append(parts[0])
            return
        _write_pending(parts, pending)
        try:
            for part in parts:
                _append(part)
            pending.unlink()
            _sync_folder(pending.parent)
        except OSError:
            recover(pending)
            raise


def recover(pending: Path) -> None:
    """Cut the files of an unfinished step back to their old lengths."""
    with our_errors(pending):
        try:
            data = pending.read_bytes()
        except FileNotFoundError:
            return
        for path, length in _lengths(data, pending).items():
            if size_of(path) > length:
                os.truncate(path, length)
        pending.unlink()
        _sync_folder(pending.parent)


def _lengths(data: bytes, pending: Path) -> dict[Path, int]:
    """The old length of each file; a name that leads out of the folder is not ours and is refused."""
    try:
        names = {Path(name): int(length) for name, length in json.loads(data).items()}
        if any(name.is_absolute() or ".." in name.parts for name in names):
            raise ValueError("a name leads out of the folder")
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise StorageFormat(f"{pending} is damaged; restore it from a copy") from error
    return {pending.parent / name: length for name, length in names.items()}


def cut(path: Path, length: int) -> None:
    """Cut off the torn end of a file, which was never acknowledged."""
    with our_errors(path):
        os.truncate(path, length)


def size_of(path: Path) -> int:
    """Length of the file in bytes; 0 when there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def write_whole(path: Path, data: bytes) -> None:
    """Write a small file by write-then-rename, on the disk when this returns."""
    fresh = path.with_suffix(path.suffix + ".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    except OSError:
        fresh.unlink()
        raise
    finally:
        os.close(descriptor)
    fresh.replace(path)
    _sync_folder(path.parent)


def _write_pending(parts: Sequence[Part], pending: Path) -> None:
    lengths = {str(part.path.relative_to(pending.parent)): part.offset for part in parts}
    write_whole(pending, json.dumps(lengths).encode())


def _append(part: Part) -> None:
    is_new = part.offset == 0
    descriptor = os.open(part.path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.lseek(descriptor, part.offset, os.SEEK_SET)
        _write_all(descriptor, part.line)
        os.fsync(descriptor)
        if is_new:
            _sync_folder(part.path.parent)
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, part.offset)
        raise
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class ProcessLock:
    """An exclusive lock among processes and among stores of one process; ends with its holder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open()

    def _open(self) -> None:
        with our_errors(self._path):
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        self._process = os.getpid()

    def try_now(self) -> bool:
        """Take the lock if it is free."""
        if self._descriptor < 0:
            raise StorageLost(f"the store at {self._path.parent} is closed; open it again")
        if (
            self._process != os.getpid()
        ):  # a forked process shares the parent's lock, so it needs its own
            self._open()
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if not _is_at(self._path, os.fstat(self._descriptor)):
            self.let_go()
            raise StorageLost(
                f"{self._path.parent} was moved or removed; put it back or open it again"
            )
        return True

    async def wait(self) -> None:
        """Take the lock, waiting for others; raises `StorageError` when they do not let go."""
        deadline, pause = time.monotonic() + LOCK_SECONDS, 0.0005
        while not self.try_now():
            if time.monotonic() > deadline:
                raise StorageError(
                    f"another process has held {self._path} for {LOCK_SECONDS:.0f} seconds; end it and retry"
                )
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.01)

    def let_go(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give the file back; repeatable."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _is_at(path: Path, known: os.stat_result) -> bool:
    """Whether the path still leads to the known file."""
    try:
        return os.path.samestat(path.stat(), known)
    except FileNotFoundError:
        return False
