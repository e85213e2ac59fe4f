"""The SQLite back end: one file in WAL mode, one connection that writes and one that reads.

Writers of this process queue before the writing connection; other processes wait by SQLite's own lock, taken at the
start (`BEGIN IMMEDIATE`). Readers never wait. Every commit is on the disk when it returns (`synchronous=FULL`).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Thread

import aiosqlite
from anyio import Lock

from preset_engine.errors import StorageError, StorageFormat, StorageFull, StorageLost
from preset_engine.session.meta import stamp
from preset_engine.storage.schema import Row, migrate
from preset_engine.storage.sql import SqlStore
from preset_engine.storage.sql_work import Connection, SqlWork
from preset_engine.storage.threads import finish, run_to_end

BUSY_SECONDS = 60
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


async def open_sqlite(
    path: str, tenant: str, clock: Callable[[], datetime], new_id: Callable[[], str]
) -> SqlStore:
    """Open the file, creating and migrating it where needed; `:memory:` keeps nothing."""
    database = SqliteDatabase(path)
    try:
        await database.open(stamp(clock()))
    except BaseException:
        await database.close()
        raise
    return SqlStore(tenant, SqlWork(database, clock, new_id))


class SqliteDatabase:
    """`Database` over one file."""

    def __init__(self, path: str) -> None:
        self._is_file = path != ":memory:"
        self._path = str(Path(path).expanduser().absolute()) if self._is_file else path
        self._lock = Lock(fast_acquire=True)
        self._writer: _SqliteConnection | None = None
        self._reader: _SqliteConnection | None = None
        self._file: os.stat_result | None = None  # the file that is open

    async def open(self, now: str) -> None:
        """Connect, set the modes, take the missing schema steps."""
        if self._is_file:
            await run_to_end(self._make_folder)
        self._writer = await _connect(self._path)
        await self._writer.execute("PRAGMA foreign_keys = ON")
        if self._is_file:
            await self._writer.execute("PRAGMA journal_mode = WAL")
            await self._writer.execute("PRAGMA synchronous = FULL")
        async with self.writing() as connection:
            await migrate(connection.execute, now, self._path)
        if self._is_file:
            self._reader = await _connect(self._path)
            await self._reader.execute("PRAGMA query_only = ON")
            self._file = _stat(self._path)

    def _check_file(self) -> None:
        """Refuse to write into a file that nobody would find again."""
        if self._file is not None:
            found = _stat(self._path)
            if found is None or not os.path.samestat(found, self._file):
                raise StorageLost(
                    f"{self._path} was moved or removed; put it back or open it again"
                )

    def _make_folder(self) -> None:
        folder = Path(self._path).absolute().parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageLost(f"cannot make the folder {folder}: {error.strerror}") from error

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Connection]:
        """The writing connection with an open transaction."""
        async with self._lock:
            writer = self._writer
            if writer is None:
                raise _closed(self._path)
            self._check_file()
            try:
                await writer.execute("BEGIN IMMEDIATE")
                yield writer
                await finish(writer.execute("COMMIT"))
            except BaseException:
                await finish(writer.back())
                raise

    async def read(self, sql: str, values: Sequence[object]) -> list[Row]:
        """Run one statement outside any transaction."""
        if self._reader is not None:
            return await self._reader.execute(sql, values)
        async with self._lock:
            if self._writer is None:
                raise _closed(self._path)
            return await self._writer.execute(sql, values)

    async def close(self) -> None:
        """Close both connections; repeatable."""
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        for connection in (reader, writer):
            if connection is not None:
                await connection.close()


class _SqliteConnection:
    """One connection whose errors are ours."""

    def __init__(self, connection: aiosqlite.Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    async def execute(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run one statement and give all rows it returns."""
        try:
            return [*map(tuple, await self._connection.execute_fetchall(sql, values))]
        except (sqlite3.Error, ValueError) as error:
            raise self._ours(error) from error

    async def execute_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for each row."""
        try:
            cursor = await self._connection.executemany(sql, rows)
            await cursor.close()
        except (sqlite3.Error, ValueError) as error:
            raise self._ours(error) from error

    async def back(self) -> None:
        """Roll back whatever is open, after a statement that a cancelled caller left running."""
        with suppress(StorageError):
            await self.execute("SELECT 1")
            if self._connection.in_transaction:
                await self.execute("ROLLBACK")

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    def _ours(self, error: Exception) -> StorageError:
        code = getattr(error, "sqlite_errorcode", None) or 0
        if code in _FULL or (code & 0xFF) in _FULL:
            return StorageFull(
                f"no room left for {self._path}: nothing of this change was stored; free space and retry"
            )
        if (code & 0xFF) in _DAMAGED:
            return StorageFormat(f"{self._path} is no SQLite store or is damaged: {error}")
        if (code & 0xFF) in _BUSY:
            return StorageError(
                f"another process has held {self._path} for {BUSY_SECONDS} seconds; end it and retry"
            )
        if isinstance(error, sqlite3.IntegrityError):
            return StorageError(f"{self._path} refused the change: {error}")
        return StorageLost(f"cannot use {self._path}: {error}")


async def _connect(path: str) -> _SqliteConnection:
    opening = aiosqlite.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    # A store that was not closed must not keep the process alive; a commit under way is whole or absent anyway.
    thread = getattr(opening, "_thread", opening)
    if isinstance(thread, Thread):
        thread.daemon = True
    try:
        return _SqliteConnection(await opening, path)
    except sqlite3.Error as error:
        raise StorageLost(f"cannot open {path}: {error}") from error


def _stat(path: str) -> os.stat_result | None:
    try:
        return Path(path).stat()
    except OSError:
        return None


def _closed(path: str) -> StorageLost:
    return StorageLost(f"the store at {path} is closed; open it again")
