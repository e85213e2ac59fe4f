"""The working side of a SQL store: which connection a call uses, and where a transaction begins and ends.

A `Database` hands out connections; everything else is the same SQL text on both engines. A call inside a
transaction uses the transaction's connection, known by the running task. A nested transaction is a savepoint.
After a failed statement the whole transaction can only be rolled back, also when the caller swallowed the error.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Protocol

from preset_engine.errors import StorageError
from preset_engine.session.meta import stamp
from preset_engine.storage.schema import Row
from preset_engine.storage.threads import finish


class Connection(Protocol):
    """One connection of a driver; errors are ours already."""

    async def execute(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run one statement with `?` for values; gives all rows it returns."""
        ...

    async def execute_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for each row of values."""
        ...


class Database(Protocol):
    """A place that gives connections."""

    def writing(self) -> AbstractAsyncContextManager[Connection]:
        """A connection with an open transaction; commits at the end, rolls back on an exception."""
        ...

    async def read(self, sql: str, values: Sequence[object]) -> list[Row]:
        """Run one statement outside any transaction."""
        ...

    async def close(self) -> None:
        """Give all connections back; repeatable."""
        ...


class _Open:
    """The transaction that a task is in."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.is_open = True
        self.failure: StorageError | None = None
        self.depth = 0


class SqlWork:
    """Statements and transactions over a database, and the outside facts a store needs."""

    def __init__(
        self, database: Database, clock: Callable[[], datetime], new_id: Callable[[], str]
    ) -> None:
        self.database = database
        self.new_id = new_id
        self._clock = clock
        self._current: ContextVar[_Open | None] = ContextVar("transaction", default=None)

    def now(self) -> str:
        """The present time as it is stored."""
        return stamp(self._clock())

    def _joined(self) -> _Open | None:
        current = self._current.get()
        return current if current is not None and current.is_open else None

    async def fetch(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run a reading statement, inside the running transaction if there is one."""
        current = self._joined()
        if current is None:
            return await self.database.read(sql, values)
        with _noting(current):
            return await current.connection.execute(sql, values)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction: the running one, or a new one that ends here."""
        current = self._joined()
        if current is not None:
            with _noting(current):
                yield current.connection
            return
        async with self.database.writing() as connection:
            current = _Open(connection)
            token = self._current.set(current)
            try:
                with _noting(current):
                    yield connection
            finally:
                current.is_open = False
                self._current.reset(token)
            if current.failure is not None:
                raise current.failure

    @asynccontextmanager
    async def nested(self) -> AsyncIterator[None]:
        """A transaction; inside another one a savepoint of it."""
        current = self._joined()
        if current is None:
            async with self.writing():
                yield
            return
        current.depth += 1
        name = f"inner_{current.depth}"
        try:
            with _noting(current):
                await current.connection.execute(f"SAVEPOINT {name}")
                try:
                    yield
                except BaseException:
                    await _back_to(current, name)
                    raise
                await current.connection.execute(f"RELEASE SAVEPOINT {name}")
        finally:
            current.depth -= 1


async def _back_to(current: _Open, name: str) -> None:
    if current.failure is None:
        for word in ("ROLLBACK TO", "RELEASE"):
            await finish(current.connection.execute(f"{word} SAVEPOINT {name}"))


@contextmanager
def _noting(current: _Open) -> Iterator[None]:
    """Remember a failed statement, so that its transaction cannot be committed."""
    if current.failure is not None:
        raise current.failure
    try:
        yield
    except StorageError as error:
        current.failure = error
        raise
