"""Lost connections, a full server and a server that is not there."""

import asyncio
import os
import shutil
from pathlib import Path
from uuid import uuid4

import pytest

from preset_engine.errors import InputRefused, StorageLost
from preset_engine.session.meta import MetaUpdate
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import SessionRecord
from preset_engine.storage.open import open_storage
from tests.storage.filling import fill_up, user
from tests.storage.small_disk import small_disk

pytestmark = [pytest.mark.anyio, pytest.mark.postgres]


class Named:
    """A store whose connections carry a name, and an administrator who can end them."""

    def __init__(self, address, tenant="default"):
        self.name = f"test-{uuid4().hex[:8]}"
        self.address = address
        joint = "&" if "?" in address else "?"
        self.url = f"{address}{joint}application_name={self.name}"
        self.tenant = tenant

    async def open(self):
        return await open_storage(self.url, self.tenant)

    def other(self, name):
        """The same server's database of this name."""
        from psycopg.conninfo import conninfo_to_dict

        parts = conninfo_to_dict(self.address)
        host = f"host={parts.get('host', '')}&port={parts.get('port', 5432)}"
        login = f"{parts.get('user', 'postgres')}:{parts.get('password', '')}"
        return Named(f"postgresql://{login}@/{name}?{host}")

    async def end_connections(self):
        sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
        return len(await self.run(sql, self.name))

    async def run(self, sql, *values):
        import psycopg

        async with await psycopg.AsyncConnection.connect(self.address, autocommit=True) as admin:
            cursor = await admin.execute(sql, values or None)
            return await cursor.fetchall() if cursor.description else []


@pytest.fixture
def named(postgres_place):
    return Named(postgres_place.url, postgres_place.tenant)


async def test_connections_lost_while_idle_are_replaced_unnoticed(named):
    store = await named.open()
    node = await store.create_session()
    assert await named.end_connections() >= 1
    await store.commit_turn(node.id, TurnCommit([user("one")]))
    assert await named.end_connections() >= 1
    assert len(await store.list_records(node.id)) == 1
    await store.close()


async def test_a_connection_lost_inside_a_transaction_stores_nothing_and_the_next_call_works(named):
    store = await named.open()
    node = await store.create_session()

    async def work(inner):
        await inner.append_record(node.id, user("half"))
        await named.end_connections()
        await inner.append_record(node.id, user("other half"))

    with pytest.raises(StorageLost, match=r"cannot be reached.*then retry") as caught:
        await store.transaction(work)
    assert "\n" not in str(caught.value)
    assert await store.list_records(node.id) == []
    await store.commit_turn(node.id, TurnCommit([user("whole")]))
    assert [record.content for record in await store.list_records(node.id)] == ["whole"]
    await store.close()


@pytest.mark.full
async def test_connections_lost_while_writing_lose_no_acknowledged_turn(named):
    store = await named.open()
    node = await store.create_session()
    acknowledged, unknown, done = [], [], asyncio.Event()

    async def write():
        for at in range(120):
            turn = TurnCommit([user(f"{at}"), SessionRecord("assistant", f"{at}")])
            try:
                await store.commit_turn(node.id, turn)
                acknowledged.append(str(at))
            except StorageLost as error:
                if "unknown" in str(error):
                    unknown.append(str(at))
        done.set()

    async def interrupt():
        while not done.is_set():
            await asyncio.sleep(0.02)
            await named.end_connections()

    await asyncio.gather(write(), interrupt())
    records = await store.list_records(node.id)
    stored = [record.content for record in records[::2]]
    assert stored == [record.content for record in records[1::2]]
    assert set(acknowledged) <= set(stored) <= {*acknowledged, *unknown}
    assert len(stored) == len(set(stored))
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    await store.close()


@pytest.mark.full
async def test_transactions_that_wait_for_each_other_end_with_one_loser_who_can_retry(named):
    store = await named.open()
    ids = [(await store.create_session()).id for _ in range(2)]
    both = asyncio.Barrier(2)

    def work(first, second):
        async def inside(inner):
            await inner.append_record(first, user("x"))
            await both.wait()
            await inner.append_record(second, user("y"))

        return store.transaction(inside)

    results = await asyncio.gather(work(*ids), work(*reversed(ids)), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["NoneType", "SessionChanged"]
    assert [len(await store.list_records(id_)) for id_ in ids] == [1, 1]
    await store.close()


async def test_a_server_that_is_not_there_is_said_in_one_line():
    with pytest.raises(StorageLost, match="cannot be reached") as caught:
        await open_storage("postgresql://someone:hush@127.0.0.1:9/nothing")
    assert "\n" not in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("login", ["hush%zz", "hu@hush", "hush/hu", "hush#@", "%00hush"])
async def test_an_address_that_cannot_be_read_is_refused_without_showing_it(login):
    with pytest.raises(InputRefused, match="cannot be read") as caught:
        await open_storage(f"postgresql://someone:{login}@nowhere.invalid:port/nothing")
    assert "hush" not in str(caught.value)
    assert "hush" not in str(caught.value.__cause__)


async def test_a_password_cut_at_its_own_sign_is_not_shown():
    with pytest.raises(InputRefused, match="cannot be read") as caught:
        await open_storage("postgresql://someone:hu@hush@nowhere.invalid/nothing")
    assert "hush" not in str(caught.value)


async def test_stores_opened_at_the_same_time_on_an_empty_database_make_its_tables_once(named):
    name = f"pe_{uuid4().hex[:8]}"
    await named.run(f"CREATE DATABASE {name}")
    database = named.other(name)
    stores = await asyncio.gather(*(database.open() for _ in range(4)))
    await stores[0].create_session()
    assert [len(await store.list_all()) for store in stores] == [1] * 4
    for store in stores:
        await store.close()
    await named.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def disk(postgres_place):
    """A folder with 12 MB of room that the server may write to."""
    if os.environ.get("PRESET_ENGINE_POSTGRES"):
        pytest.skip("the server at PRESET_ENGINE_POSTGRES cannot be given a small disk")
    with small_disk(megabytes=12) as folder:
        data = folder / "data"
        data.mkdir(mode=0o777)
        shutil.chown(data, Path(postgres_place.url.partition("host=")[2]).owner())
        yield data


@pytest.mark.full
async def test_a_full_server_disk_says_so_and_loses_nothing(named, disk):
    name = f"pe_{uuid4().hex[:8]}"
    await named.run(f"CREATE TABLESPACE {name} LOCATION '{disk}'")
    await named.run(f"CREATE DATABASE {name}")
    database = named.other(name)
    store = await database.open()
    node = await store.create_session()
    await database.run(f"ALTER TABLE pe_records SET TABLESPACE {name}")
    stored = await fill_up(store, node.id, lambda: os.urandom(6000).hex())
    records = await store.list_records(node.id)
    assert len(records) == stored > 100
    assert (await store.get(node.id)).turn_count == stored
    await store.update_meta(node.id, MetaUpdate(label="still works"))
    await store.close()
    await named.run(f"DROP DATABASE {name} WITH (FORCE)")
    await named.run(f"DROP TABLESPACE {name}")
