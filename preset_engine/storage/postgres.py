"""The PostgreSQL back end: a pool of connections, safe for many processes and machines.

Isolation is "read committed" with row locks: a change of a session begins with an update of its row (`sql_content`).
A lost connection is noticed by the statement that meets it; the pool then tests all idle connections, so the next
call works as soon as the server does. Reads and beginnings are tried again by themselves. A change in the middle
never is: it ends in `StorageLost`, and nothing of it is stored. Only a `COMMIT` whose answer was lost leaves the
outcome open.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from preset_engine.errors import (
    InputRefused,
    MissingExtra,
    PresetEngineError,
    SessionChanged,
    StorageError,
    StorageFull,
    StorageLost,
)
from preset_engine.session.meta import stamp
from preset_engine.storage.schema import Row, migrate
from preset_engine.storage.sql import SqlStore
from preset_engine.storage.sql_work import Connection, SqlWork
from preset_engine.storage.threads import finish

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import AsyncConnectionPool

POOL_SIZE = 10
WAIT_SECONDS = 30.0
ATTEMPTS = 3
_MIGRATION_LOCK = 7_365_290_011  # any number that other programs on the server do not use


async def open_postgres(
    url: str, tenant: str, clock: Callable[[], datetime], new_id: Callable[[], str]
) -> SqlStore:
    """Connect and migrate; raises `MissingExtra` without psycopg and `StorageLost` without a server."""
    try:
        import psycopg_pool
    except ImportError as error:
        raise MissingExtra("PostgreSQL storage", "postgres") from error
    _check_address(url)
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
    pool = psycopg_pool.AsyncConnectionPool(
        url,
        kwargs={"autocommit": True},
        min_size=0,  # a connection still being made in the background could outlive a cancelled loop
        max_size=POOL_SIZE,
        timeout=WAIT_SECONDS,
        open=False,
        name="preset_engine",
    )
    database = PostgresDatabase(url, pool)
    try:
        await database.open(stamp(clock()))
    except BaseException:
        await database.close()
        raise
    return SqlStore(tenant, SqlWork(database, clock, new_id))


def _check_address(url: str) -> None:
    """Refuse an address that cannot be read, or whose password was cut at a sign that has a meaning there.

    The driver's own words about such an address may show a part of the password, so they are not passed on.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        parts = {"host": "@"}
    host, port = str(parts.get("host") or ""), str(parts.get("port") or "")
    if "@" in host or port.strip("0123456789,"):
        raise InputRefused(
            "this PostgreSQL address cannot be read; write special characters as %XX"
        ) from None


class PostgresDatabase:
    """`Database` over a pool."""

    def __init__(self, url: str, pool: AsyncConnectionPool) -> None:
        self._url = url
        self._pool = pool

    async def open(self, now: str) -> None:
        """Reach the server once, so that a wrong address fails at once, and take the missing steps."""
        import psycopg

        try:
            first = await psycopg.AsyncConnection.connect(
                self._url, autocommit=True, connect_timeout=10
            )
        except psycopg.Error as error:
            raise _lost(error) from error
        async with first:
            connection = _PostgresConnection(first)
            async with _transaction(connection):
                await connection.execute("SELECT pg_advisory_xact_lock(?)", (_MIGRATION_LOCK,))
                await migrate(connection.execute, now, "the database")
        await self._pool.open()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Connection]:
        """A connection with an open transaction."""
        connection = await self._begun()
        try:
            async with _finishing(connection):
                yield connection
        finally:
            await self._give_back(connection)

    async def read(self, sql: str, values: Sequence[object]) -> list[Row]:
        """Run one statement outside any transaction; a lost connection is replaced and the read repeated."""
        for attempt in range(ATTEMPTS):
            connection = await self._take()
            try:
                return await connection.execute(sql, values)
            except StorageLost:
                if attempt == ATTEMPTS - 1:
                    raise
            finally:
                await self._give_back(connection)
        raise AssertionError

    async def _begun(self) -> _PostgresConnection:
        for attempt in range(ATTEMPTS):
            connection = await self._take()
            try:
                await connection.execute("BEGIN")
            except BaseException as error:
                await self._give_back(connection)
                if not isinstance(error, StorageLost) or attempt == ATTEMPTS - 1:
                    raise
            else:
                return connection
        raise AssertionError

    async def _take(self) -> _PostgresConnection:
        import psycopg
        import psycopg_pool

        try:
            return _PostgresConnection(await self._pool.getconn())
        except psycopg_pool.PoolClosed as error:
            raise StorageLost("the store is closed; open it again") from error
        except psycopg_pool.PoolTimeout as error:
            raise StorageLost(
                f"no connection to the database within {WAIT_SECONDS:.0f} seconds; see whether it runs"
            ) from error
        except psycopg.Error as error:
            raise _lost(error) from error

    async def _give_back(self, connection: _PostgresConnection) -> None:
        await finish(self._put_back(connection))

    async def _put_back(self, connection: _PostgresConnection) -> None:
        is_lost = connection.raw.closed
        await self._pool.putconn(connection.raw)
        if is_lost:
            await self._pool.check()

    async def close(self) -> None:
        """Close the pool; repeatable."""
        await self._pool.close()


class _PostgresConnection:
    """One connection whose errors are ours."""

    def __init__(self, raw: psycopg.AsyncConnection) -> None:
        self.raw = raw

    async def execute(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run one statement and give all rows it returns."""
        import psycopg

        try:
            cursor = await self.raw.execute(_marked(sql), values or None)
            return await cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            raise _ours(error) from error

    async def execute_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for each row, without waiting between them."""
        import psycopg

        try:
            async with self.raw.cursor() as cursor:
                await cursor.executemany(_marked(sql), rows)
        except psycopg.Error as error:
            raise _ours(error) from error


@asynccontextmanager
async def _transaction(connection: _PostgresConnection) -> AsyncIterator[None]:
    await connection.execute("BEGIN")
    async with _finishing(connection):
        yield


@asynccontextmanager
async def _finishing(connection: _PostgresConnection) -> AsyncIterator[None]:
    try:
        yield
    except BaseException:
        await finish(_roll_back(connection))
        raise
    try:
        await finish(connection.execute("COMMIT"))
    except StorageLost as error:
        raise StorageLost(
            "the connection was lost while committing: whether the change was stored is unknown; "
            "load the session again"
        ) from error


async def _roll_back(connection: _PostgresConnection) -> None:
    if not connection.raw.closed:
        try:
            await connection.execute("ROLLBACK")
        except PresetEngineError:
            await connection.raw.close()


@cache
def _marked(sql: str) -> bytes:
    """The statement with psycopg's placeholders."""
    return sql.replace("?", "%s").encode()


def _ours(error: psycopg.Error) -> PresetEngineError:
    import psycopg

    match error:
        case psycopg.errors.DiskFull():
            return StorageFull(
                "no room left on the database server: nothing of this change was stored; free space and retry"
            )
        case psycopg.errors.DeadlockDetected() | psycopg.errors.SerializationFailure():
            return SessionChanged("another writer was first; load the session again and retry")
        case psycopg.OperationalError() | psycopg.InterfaceError():
            return _lost(error)
        case _:
            return StorageError(f"the database refused the change: {_line(error)}")


def _lost(error: psycopg.Error) -> StorageLost:
    return StorageLost(
        f"the database cannot be reached: {_line(error)}; see whether it runs, then retry"
    )


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
