"""Writes log lines to a file a local day, from any number of threads and processes, without ever stopping a turn.

`write` puts a line into a bounded queue and returns; one thread of the process does the rest. When the queue is
full or the disk refuses, lines are dropped and counted, and the first line that gets through afterwards says so.
A batch of whole lines goes to the file in one call, in append mode, under a lock on the folder's lock file, so
that a write cut short (a full disk) can be taken back before another process writes: no line is ever torn. The
day of a file is the line's own local day; old days are removed under the same lock.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Protocol

from preset_engine.errors import Note
from preset_engine.log.line import timestamp
from preset_engine.messages import JsonObject

_FILE = re.compile(r"(?P<name>.+)-(?P<day>\d{4}-\d\d-\d\d)\.jsonl")
_BATCH = 256


class Line(Protocol):
    """Something that is written as one JSON line."""

    @property
    def at(self) -> datetime:
        """Its moment; aware."""
        ...

    def to_json(self) -> JsonObject:
        """Its object."""
        ...


@dataclass(frozen=True, slots=True)
class Dropped:
    """The line that tells how many lines were lost before it."""

    at: datetime
    count: int

    def to_json(self) -> JsonObject:
        """The object, under our schema name."""
        return {
            "schema": "preset-engine.dropped/1",
            "timestamp": timestamp(self.at),
            "preset_engine.dropped_lines": self.count,
        }


class LogWriter:
    """Appends lines to `FOLDER/NAME-YYYY-MM-DD.jsonl`; use it in a `with`, or call `close`.

    Args:
        folder: made when missing.
        name: first part of the files' names.
        capacity: lines that may wait; more are dropped.
        keep_days: files older than this many days are removed at the first line of a new day; None keeps all.
        zone: the zone of the days; None is the machine's local zone.
        clock: the present moment, for the line about dropped lines.
    """

    def __init__(
        self,
        folder: Path,
        name: str = "calls",
        *,
        capacity: int = 10_000,
        keep_days: int | None = None,
        zone: tzinfo | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._folder, self._name, self._keep_days = folder, name, keep_days
        self._zone, self._clock = zone, clock
        self._queue: queue.Queue[Line] = queue.Queue(capacity)
        self._is_closing = threading.Event()
        self._count = threading.Lock()
        self._dropped = self._unsaid = 0
        self._last_fault = ""
        self._day: date | None = None
        self._thread = threading.Thread(target=self._work, name=f"log writer {name}", daemon=True)
        self._thread.start()

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def dropped(self) -> int:
        """Lines lost so far: the queue was full, the disk refused, or the writer was closed."""
        return self._dropped

    def write(self, line: Line) -> bool:
        """Hand a line over; never waits and never raises. False when the line was dropped."""
        if self._is_closing.is_set():
            self._drop(1)
            return False
        try:
            self._queue.put_nowait(line)
        except queue.Full:
            self._drop(1)
            return False
        return True

    def flush(self, timeout_seconds: float = 10.0) -> bool:
        """Wait until what was handed over is written; False when that took too long."""
        deadline = time.monotonic() + timeout_seconds
        while self._queue.unfinished_tasks:
            if time.monotonic() > deadline or not self._thread.is_alive():
                return False
            time.sleep(0.002)
        return True

    def close(self, timeout_seconds: float = 10.0) -> None:
        """Write what waits, at most for this long, and end the thread."""
        self._is_closing.set()
        self._thread.join(timeout_seconds)

    def notes(self) -> tuple[Note, ...]:
        """What went wrong so far; empty when nothing was lost."""
        if not self._dropped:
            return ()
        reason = self._last_fault or "the queue was full"
        text = f"log lines were dropped: {reason}"
        advice = "check the disk and the folder's rights, or raise the capacity"
        return (Note("log-dropped", text, str(self._folder), advice, count=self._dropped),)

    def _drop(self, count: int, reason: str = "") -> None:
        with self._count:
            self._dropped += count
            self._unsaid += count
            self._last_fault = reason or self._last_fault

    def _work(self) -> None:
        while not (self._is_closing.is_set() and self._queue.empty()):
            batch = self._take()
            if not batch:
                continue
            try:
                self._write_batch(batch)
            except Exception as error:  # noqa: BLE001  # a log must never end a turn, whatever a line holds
                self._drop(len(batch), f"{type(error).__name__}: {error}".splitlines()[0])
            finally:
                for _ in batch:
                    self._queue.task_done()

    def _take(self) -> list[Line]:
        try:
            batch = [self._queue.get(timeout=0.05)]
        except queue.Empty:
            return []
        with contextlib.suppress(queue.Empty):
            while len(batch) < _BATCH:
                batch.append(self._queue.get_nowait())
        return batch

    def _write_batch(self, batch: list[Line]) -> None:
        by_day: dict[date, list[Line]] = {}
        for line in batch:
            by_day.setdefault(line.at.astimezone(self._zone).date(), []).append(line)
        self._folder.mkdir(parents=True, exist_ok=True)
        for day, lines in by_day.items():
            try:
                self._append(day, lines)
            except OSError as error:
                self._drop(len(lines), error.strerror or str(error))

    def _append(self, day: date, lines: list[Line]) -> None:
        encoded = []
        for line in lines:
            try:
                encoded.append(_encode(line))
            except (TypeError, ValueError, RecursionError) as error:
                self._drop(1, f"a line that is no JSON: {error}")
        unsaid = self._unsaid
        if unsaid:
            encoded.insert(0, _encode(Dropped(self._clock(), unsaid)))
        with _locked(self._folder / f".{self._name}.lock"):
            if day != self._day:
                today = self._clock().astimezone(self._zone).date()
                self._remove_old(min(day, today))  # a line from the future makes nothing old
                self._day = day
            _append_whole(self._folder / f"{self._name}-{day.isoformat()}.jsonl", b"".join(encoded))
        with self._count:
            self._unsaid -= unsaid

    def _remove_old(self, today: date) -> None:
        if self._keep_days is None:
            return
        oldest = today - timedelta(days=self._keep_days)
        for path in self._folder.glob(f"{self._name}-*.jsonl"):
            found = _FILE.fullmatch(path.name)
            if found and found["name"] == self._name and found["day"] < oldest.isoformat():
                path.unlink(missing_ok=True)


def _encode(line: Line) -> bytes:
    text = json.dumps(line.to_json(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


def _append_whole(path: Path, data: bytes) -> None:
    """Append all of the bytes or none: what a full disk cut short is taken back. The lock must be held.

    A line that a crash cut short before is closed first, so that it takes no other with it.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(file).st_size
        if size and _last_byte(file, size) != b"\n":
            data = b"\n" + data
        written = 0
        try:
            while written < len(data):
                written += os.write(file, data[written:])
        except OSError:
            os.ftruncate(file, size)
            raise
    finally:
        os.close(file)


def _last_byte(file: int, size: int) -> bytes:
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes; it ends with the process, so a crash leaves none behind."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(file)
        yield
    finally:
        os.close(file)


try:
    import fcntl
except ImportError:  # pragma: no cover  # Windows

    def _lock(file: int) -> None:
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]  # Windows only

else:

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
