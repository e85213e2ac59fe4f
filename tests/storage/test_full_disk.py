"""A full disk is said clearly, and nothing that was acknowledged is lost."""

import os
import subprocess
import sys

import pytest

from preset_engine.errors import StorageFull
from preset_engine.session.protocols import TurnCommit
from preset_engine.storage.open import open_storage
from tests.storage.filling import fill_up, user
from tests.storage.small_disk import small_disk
from tests.truth import ROOT

pytestmark = pytest.mark.anyio


@pytest.fixture
def disk():
    with small_disk(megabytes=2) as folder:
        yield folder


@pytest.mark.parametrize("form", ["files:{}/store", "sqlite:{}/store.db"])
async def test_a_full_disk_says_so_and_loses_nothing(form, disk):
    url = form.format(disk)
    ballast = disk / "ballast"
    ballast.write_bytes(b"x" * 300_000)
    store = await open_storage(url)
    node = await store.create_session(session_id="s")
    stored = await fill_up(store, node.id)
    assert stored > 10

    async def check(opened):
        records = await opened.list_records("s")
        assert [record.number for record in records] == list(range(1, stored + 1))
        assert (await opened.get("s")).turn_count == stored
        return opened

    await check(store)
    with pytest.raises(StorageFull):
        await store.commit_turn("s", TurnCommit([user("x" * 400_000)]))
    await check(store)
    ballast.unlink()
    await (await check(await open_storage(url))).close()
    await store.commit_turn("s", TurnCommit([user("fits again")]))
    assert (await store.list_records("s"))[-1].number == stored + 1
    await store.close()


async def test_a_transaction_over_several_files_that_does_not_fit_leaves_none(disk):
    store = await open_storage(f"files:{disk}/store")
    await store.create_session(session_id="s")

    async def fork(inner):
        for at in range(20):
            node = await inner.create_session(parent_id="s")
            await inner.append_record(node.id, user(f"{at} " + "x" * 150_000))

    with pytest.raises(StorageFull):
        await store.transaction(fork)
    assert [node.id for node in await store.list_all()] == ["s"]
    again = await open_storage(f"files:{disk}/store")
    assert [node.id for node in await again.list_all()] == ["s"]
    await again.close()
    await store.create_session(parent_id="s")
    await store.close()


LIMITED = """
import asyncio, resource, sys
from preset_engine.errors import StorageFull
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import SessionRecord
from preset_engine.storage.open import open_storage

async def main(url):
    store = await open_storage(url)
    await store.create_session(session_id="s")
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    try:
        for at in range(1000):
            await store.commit_turn("s", TurnCommit([SessionRecord("user", "x" * 700)]))
    except StorageFull:
        print(at)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await store.commit_turn("s", TurnCommit([SessionRecord("user", "more")]))
    await store.close()

asyncio.run(main(sys.argv[1]))
"""


async def test_a_file_at_its_size_limit_counts_as_full(tmp_path):
    url = f"files:{tmp_path / 'store'}"
    stored = int(run_limited(url))
    assert stored > 5
    store = await open_storage(url)
    assert len(await store.list_records("s")) == stored + 1
    await store.close()


def run_limited(url):
    command = [sys.executable, "-c", LIMITED, url]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout
