"""What only the SQL back ends have: schema steps, one text for both engines, failed statements."""

import asyncio
import re
import sqlite3
import subprocess
import sys

import pytest

from preset_engine.errors import (
    InputRefused,
    StorageError,
    StorageFormat,
    StorageLost,
)
from preset_engine.session.protocols import TurnCommit
from preset_engine.storage import schema, sql_content, sql_tree
from preset_engine.storage.open import open_storage
from preset_engine.storage.schema import MIGRATIONS, Migration, migrate
from tests.storage.filling import fill_up, user
from tests.truth import ROOT

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def sql_place(request, tmp_path):
    from tests.storage.conftest import make_place

    return make_place(request.param, tmp_path)


def database(store):
    return store._work.database


# ---- schema ----


def test_steps_are_numbered_from_one_without_a_gap():
    assert [step.number for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_every_key_begins_with_the_tenant():
    text = " ".join(statement for step in MIGRATIONS for statement in step.statements)
    keys = re.findall(r"PRIMARY KEY \((\w+)|FOREIGN KEY \((\w+)|REFERENCES \w+ \((\w+)", text)
    assert len(keys) >= 10
    assert {name for key in keys for name in key if name} == {"tenant"}


def test_every_statement_on_a_table_names_the_tenant():
    statements = [
        value
        for module in (sql_content, sql_tree)
        for name, value in vars(module).items()
        if isinstance(value, str) and re.search(r"\b(FROM|INTO|UPDATE) pe_", value)
    ]
    assert len(statements) > 8
    for statement in statements:
        parts = re.split(r"\bUNION ALL\b", statement)
        assert all("tenant" in part for part in parts), statement


class Undo(Exception):
    """Leaves a transaction, so that other tests on the same server see none of it."""


async def test_missing_steps_are_taken_in_order_and_only_once(sql_place):
    store = await sql_place.open()
    last = MIGRATIONS[-1].number
    later = (
        *MIGRATIONS,
        Migration(last + 1, "make", ("CREATE TABLE pe_probe (a BIGINT NOT NULL)",)),
        Migration(last + 2, "use", ("INSERT INTO pe_probe VALUES (7)",)),
    )

    async def take():
        async with database(store).writing() as connection:
            for steps in (later[:-1], later, later):
                await migrate(connection.execute, "now", "here", steps)
            assert await connection.execute("SELECT a FROM pe_probe") == [(7,)]
            taken = await connection.execute("SELECT number FROM pe_migrations ORDER BY number")
            assert [row[0] for row in taken] == list(range(1, last + 3))
            raise Undo

    with pytest.raises(Undo):
        await take()
    await store.close()


async def test_a_store_of_a_newer_version_is_refused(tmp_path):
    url = f"sqlite:{tmp_path / 's.db'}"
    await (await open_storage(url)).close()
    with sqlite3.connect(tmp_path / "s.db") as raw:
        raw.execute("INSERT INTO pe_migrations VALUES (2, 'later', 'x')")
    raw.close()
    with pytest.raises(StorageFormat, match="schema step 2, unknown to this version; update"):
        await open_storage(url)


async def test_a_failed_step_leaves_the_schema_as_it_was(sql_place):
    store = await sql_place.open()
    bad = Migration(999, "bad", ("CREATE TABLE pe_half (a BIGINT)", "CREATE NONSENSE"))
    with pytest.raises(StorageError):
        async with database(store).writing() as connection:
            await migrate(connection.execute, "now", "here", (*MIGRATIONS, bad))
    with pytest.raises(StorageError):
        await database(store).read("SELECT a FROM pe_half", ())
    taken = await database(store).read("SELECT max(number) FROM pe_migrations", ())
    assert taken == [(MIGRATIONS[-1].number,)]
    await store.close()


async def test_opening_at_the_same_time_makes_the_tables_once(tmp_path):
    url = f"sqlite:{tmp_path / 'new' / 's.db'}"
    stores = await asyncio.gather(*(open_storage(url) for _ in range(4)))
    await stores[0].create_session(session_id="a")
    assert [len(await store.list_all()) for store in stores] == [1] * 4
    for store in stores:
        await store.close()


# ---- failed statements ----


async def test_a_failed_statement_ends_the_whole_transaction_even_when_swallowed(sql_place):
    store = await sql_place.open()
    node = await store.create_session()

    async def work(inner):
        await inner.append_record(node.id, user("x"))
        with pytest.raises(StorageError):
            async with inner._work.writing() as connection:
                await connection.execute("SELECT nonsense FROM nowhere")

    with pytest.raises(StorageError):
        await store.transaction(work)
    assert await store.list_records(node.id) == []
    await store.append_record(node.id, user("y"))
    await store.close()


async def test_errors_are_one_line(sql_place):
    store = await sql_place.open()
    with pytest.raises(StorageError) as caught:
        await database(store).read("SELECT\nnonsense\nFROM nowhere", ())
    assert "\n" not in str(caught.value)
    await store.close()


# ---- SQLite ----


async def test_a_full_database_says_so_and_loses_nothing(tmp_path):
    store = await open_storage(f"sqlite:{tmp_path / 's.db'}")
    node = await store.create_session()
    async with database(store).writing() as connection:
        (pages,) = (await connection.execute("PRAGMA page_count"))[0]
        await connection.execute(f"PRAGMA max_page_count = {pages + 12}")
    stored = await fill_up(store, node.id)
    records = await store.list_records(node.id)
    assert len(records) == stored > 0
    assert (await store.get(node.id)).turn_count == stored
    async with database(store).writing() as connection:
        await connection.execute("PRAGMA max_page_count = 100000")
    await store.commit_turn(node.id, TurnCommit([user("again")]))
    assert (await store.list_records(node.id))[-1].number == stored + 1
    await store.close()


async def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "s.db").write_bytes(b"nonsense " * 500)
    with pytest.raises(StorageFormat, match="no SQLite store"):
        await open_storage(f"sqlite:{tmp_path / 's.db'}")


async def test_a_place_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageLost):
        await open_storage(f"sqlite:{tmp_path / 'file' / 's.db'}")
    with pytest.raises(StorageLost, match=r"cannot open|cannot use"):
        await open_storage(f"sqlite:{tmp_path}")


async def test_a_file_that_was_moved_away_is_not_written_to(tmp_path):
    path = tmp_path / "s.db"
    store = await open_storage(f"sqlite:{path}")
    await store.create_session(session_id="a")
    path.rename(tmp_path / "elsewhere.db")
    with pytest.raises(StorageLost, match="was moved or removed"):
        await store.create_session()
    (tmp_path / "elsewhere.db").rename(path)
    await store.append_record("a", user("x"))
    await store.close()


async def test_a_database_in_memory_works_for_reads_inside_and_outside(tmp_path):
    store = await open_storage("sqlite::memory:")
    node = await store.create_session()

    async def work(inner):
        await inner.append_record(node.id, user("x"))
        return len(await inner.list_records(node.id))

    assert await store.transaction(work) == len(await store.list_records(node.id)) == 1
    await store.close()


async def test_a_cancelled_turn_is_whole_or_absent(sql_place):
    store = await sql_place.open()
    node = await store.create_session()
    for at in range(25):
        turn = TurnCommit([user(f"{at}?"), user(f"{at}!")])
        task = asyncio.ensure_future(store.commit_turn(node.id, turn))
        for _ in range(at % 13):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await store.put_memory(node.id, f"after {at}")  # the next call meets nothing of it
    records = await store.list_records(node.id)
    meta = await store.get(node.id)
    assert len(records) == 2 * meta.turn_count
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    await store.commit_turn(node.id, TurnCommit([user("end")]))
    await store.close()


# ---- opening ----


@pytest.mark.parametrize("url", ["", "memory", "mysql://x", "files:", "sqlite:", "C:\\x", "redis:"])
async def test_an_address_of_no_known_form_is_refused_with_the_forms(url):
    if url == "memory":
        await open_storage(url)
        return
    with pytest.raises(InputRefused, match="use memory:, files:DIR, sqlite:PATH or postgresql:"):
        await open_storage(url)


def test_a_missing_driver_is_named_with_the_install_line():
    code = """
import asyncio, sys
sys.modules["psycopg_pool"] = None
from preset_engine import open_storage
from preset_engine.errors import MissingExtra
try:
    asyncio.run(open_storage("postgresql://nowhere/x"))
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert (
        done.stdout
        == "PostgreSQL storage needs an optional part: pip install 'preset-engine[postgres]'\n"
    )


def test_the_placeholder_is_the_only_difference():
    texts = [
        value
        for module in (schema, sql_content, sql_tree)
        for value in vars(module).values()
        if isinstance(value, str)
    ]
    assert texts
    assert not any("%" in text for text in texts)
