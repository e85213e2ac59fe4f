"""Committing a turn and loading the next prompt at 100, 1,000 and 10,000 records, beside plain statements.

The measure is the same database without us: the same rows put by hand-written statements in one transaction, and
read by one `SELECT`; for files an append with fsync and `json.loads` of every line. A turn is a user and an assistant
record with variables. "Growth" compares 10,000 records with 100 in the same back end.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from benchmarks.figures import Figure
from preset_engine.messages import JsonValue
from preset_engine.session.protocols import Store, TurnCommit
from preset_engine.session.record import RecordQuery, SessionRecord
from preset_engine.storage.open import open_storage

SIZES = (100, 1_000, 10_000)
TURNS = 40
LOADS = 7
TEXT = "The lamp turns, the gulls talk, and the keeper writes it all down in the long book. " * 3
VARIABLES: dict[str, JsonValue] = {"mood": "calm", "count": 3}


@dataclass(frozen=True)
class Plain:
    """The same work by hand: commit one turn at the end, read everything."""

    commit: Callable[[int], Awaitable[None]]
    load: Callable[[], Awaitable[int]]
    close: Callable[[], Awaitable[None]]


def run() -> list[Figure]:
    """All figures; PostgreSQL is left out where there is no server."""
    return asyncio.run(_run())


async def _run() -> list[Figure]:
    from tests.storage.server import postgres_address

    figures = []
    with tempfile.TemporaryDirectory(prefix="preset-engine-bench-") as name:
        folder = Path(name)
        urls = {
            "memory": "memory:",
            "files": f"files:{folder / 'files'}",
            "sqlite": f"sqlite:{folder / 'store.db'}",
            "postgres": postgres_address(),
        }
        for kind, url in urls.items():
            if url is not None:
                figures += await _back_end(kind, url, folder)
    return figures


@dataclass
class Bout:
    """One size of one back end: the session, the measure, and the times of both."""

    store: Store
    session: str
    plain: Plain | None
    commits: list[float] = field(default_factory=list)
    plain_commits: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)
    plain_loads: list[float] = field(default_factory=list)
    recent: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)

    async def commit(self, at: int) -> None:
        """Commit one turn, ours and by hand."""
        self.commits.append(await _seconds(self._turn()))
        if self.plain is not None:
            self.plain_commits.append(await _seconds(self.plain.commit(at)))

    async def _turn(self) -> None:
        meta = await self.store.get(self.session)
        assert meta is not None
        records = [SessionRecord("user", TEXT), SessionRecord("assistant", TEXT)]
        turn = TurnCommit(records, expected_version=meta.version, variables=VARIABLES)
        await self.store.commit_turn(self.session, turn)

    async def load(self) -> None:
        """Load everything, ours and by hand, and what came since the last turn."""
        records = []

        async def read() -> None:
            records.extend(await self.store.list_records(self.session))

        self.loads.append(await _seconds(read()))
        if self.plain is not None:
            self.plain_loads.append(await _seconds(self.plain.load()))
        query = RecordQuery(after=records[-3].number)
        self.recent.append(await _seconds(self.store.list_records(self.session, query)))

    async def load_cold(self, url: str) -> None:
        """Load everything as a process does that has just started."""
        fresh = await open_storage(url, self.store.tenant)
        self.cold.append(await _seconds(fresh.list_records(self.session)))
        await fresh.close()


async def _back_end(kind: str, url: str, folder: Path) -> list[Figure]:
    store = await open_storage(url, f"bench-{uuid4().hex[:8]}")
    bouts = {
        size: Bout(store, await _session_of(store, size), await _plain(kind, url, folder, size))
        for size in SIZES
    }
    for at in range(TURNS):  # sizes and sides take turns, so that a busy machine meets all alike
        for bout in bouts.values():
            await bout.commit(at)
    for _ in range(LOADS):
        for bout in bouts.values():
            await bout.load()
            if bout.plain is not None:
                await bout.load_cold(url)
    for bout in bouts.values():
        if bout.plain is not None:
            await bout.plain.close()
    await store.close()
    return _figures(kind, bouts)


def _figures(kind: str, bouts: dict[int, Bout]) -> list[Figure]:
    figures = []
    for size, bout in bouts.items():
        about = f"{kind}, {size} records"
        figures += [
            _figure(f"{about}: commit a turn", bout.commits, bout.plain_commits),
            _figure(f"{about}: load all records", bout.loads, bout.plain_loads),
            *(
                [_figure(f"{about}: load all, just started", bout.cold, bout.plain_loads)]
                if bout.cold
                else []
            ),
            _figure(f"{about}: load what came since the last turn", bout.recent, []),
        ]
    small, large = bouts[SIZES[0]], bouts[SIZES[-1]]
    growth = Figure(
        f"{kind}: commit at {SIZES[-1]} records",
        statistics.median(large.commits),
        statistics.median(small.commits),
        f"at {SIZES[0]}",
        budget=1.5,
    )
    return [*figures, growth]


def _figure(name: str, ours: list[float], theirs: list[float]) -> Figure:
    if not theirs:
        return Figure(name, statistics.median(ours))
    return Figure(name, statistics.median(ours), statistics.median(theirs), "the same rows by hand")


async def _session_of(store: Store, size: int) -> str:
    node = await store.create_session()
    roles = ("user", "assistant")
    records = [SessionRecord(roles[at % 2], f"{at} {TEXT}") for at in range(size)]
    await store.append_records(node.id, records)
    return node.id


async def _seconds(work: Awaitable[object]) -> float:
    start = time.perf_counter()
    await work
    return time.perf_counter() - start


# ---- the measures ----


async def _plain(kind: str, url: str, folder: Path, size: int) -> Plain | None:
    match kind:
        case "files":
            return _plain_files(folder / f"plain-{size}.jsonl", size)
        case "sqlite":
            return await _plain_sqlite(folder / "plain.db", size)
        case "postgres":
            return await _plain_postgres(url, size)
        case _:
            return None


def _rows(size: int) -> list[tuple[int, str, str]]:
    return [(at, ("user", "assistant")[at % 2], f"{at} {TEXT}") for at in range(1, size + 1)]


def _plain_files(path: Path, size: int) -> Plain:
    path.write_text("".join(json.dumps(row) + "\n" for row in _rows(size)), "utf-8")

    def append() -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([["user", TEXT], ["assistant", TEXT], VARIABLES]) + "\n")
            file.flush()
            os.fsync(file.fileno())

    async def commit(_: int) -> None:
        await asyncio.to_thread(append)

    def read() -> int:
        return len([json.loads(line) for line in path.read_text("utf-8").splitlines()])

    async def load() -> int:
        return await asyncio.to_thread(read)

    async def close() -> None:
        await asyncio.to_thread(path.unlink)

    return Plain(commit, load, close)


_TABLE = "(session TEXT, number BIGINT, role TEXT, content TEXT, PRIMARY KEY (session, number))"


async def _plain_sqlite(path: Path, size: int) -> Plain:
    import aiosqlite

    connection = await aiosqlite.connect(path, isolation_level=None)
    await connection.execute("PRAGMA journal_mode = WAL")
    await connection.execute("PRAGMA synchronous = FULL")
    table, slots = f"plain_{size}", f"slots_{size}"
    await connection.execute(f"CREATE TABLE {table} {_TABLE}")
    await connection.execute(f"CREATE TABLE {slots} (session TEXT PRIMARY KEY, content TEXT)")
    put = f"INSERT INTO {table} VALUES ('s', ?, ?, ?)"
    await connection.execute("BEGIN")
    await connection.executemany(put, _rows(size))
    await connection.execute("COMMIT")

    async def commit(at: int) -> None:
        first = size + 1 + 2 * at
        await connection.execute("BEGIN IMMEDIATE")
        await connection.executemany(put, [(first, "user", TEXT), (first + 1, "assistant", TEXT)])
        variables = json.dumps(VARIABLES)
        await connection.execute(f"INSERT OR REPLACE INTO {slots} VALUES ('s', ?)", (variables,))
        await connection.execute("COMMIT")

    async def load() -> int:
        sql = f"SELECT number, role, content FROM {table} WHERE session = 's' ORDER BY number"
        return len(list(await connection.execute_fetchall(sql)))

    return Plain(commit, load, connection.close)


async def _plain_postgres(url: str, size: int) -> Plain:
    import psycopg

    connection = await psycopg.AsyncConnection.connect(url, autocommit=True)
    table, slots = f"plain_{uuid4().hex[:8]}", f"plain_slots_{uuid4().hex[:8]}"
    await connection.execute(f"CREATE TABLE {table} {_TABLE}".encode())
    await connection.execute(
        f"CREATE TABLE {slots} (session TEXT PRIMARY KEY, content TEXT)".encode()
    )
    put = f"INSERT INTO {table} VALUES ('s', %s, %s, %s)".encode()
    slot = (
        f"INSERT INTO {slots} VALUES ('s', %s) ON CONFLICT (session) DO UPDATE SET content = excluded.content"
    ).encode()
    async with connection.cursor() as cursor:
        await cursor.executemany(put, _rows(size))

    async def commit(at: int) -> None:
        first = size + 1 + 2 * at
        await connection.execute("BEGIN")
        async with connection.cursor() as cursor:
            rows = [(first, "user", TEXT), (first + 1, "assistant", TEXT)]
            await cursor.executemany(put, rows)
        await connection.execute(slot, (json.dumps(VARIABLES),))
        await connection.execute("COMMIT")

    async def load() -> int:
        sql = f"SELECT number, role, content FROM {table} WHERE session = 's' ORDER BY number"
        cursor = await connection.execute(sql.encode())
        return len(await cursor.fetchall())

    async def close() -> None:
        await connection.execute(f"DROP TABLE {table}, {slots}".encode())
        await connection.close()

    return Plain(commit, load, close)
