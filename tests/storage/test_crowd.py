"""Many writers at once, from several processes: no turn is lost, doubled or interleaved."""

import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.truth import ROOT

pytestmark = pytest.mark.anyio


def run_crowd(place, processes, tasks, turns, sessions):
    """Run the writers and wait for them; gives the names of all turns."""
    command = [sys.executable, "-m", "tests.storage.crowd", place.url, place.tenant]
    crowd = [
        subprocess.Popen(
            [*command, f"p{process}", str(tasks), str(turns), str(sessions)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for process in range(processes)
    ]
    assert [writer.wait(200) for writer in crowd] == [0] * processes
    return Counter(
        f"p{process}-{task}.{turn}"
        for process in range(processes)
        for task in range(tasks)
        for turn in range(turns)
    )


async def check(place, sessions, expected, writers):
    store = await place.open()
    children = [node for node in await store.list_all() if node.parent_id == "s0"]
    assert sorted(node.index for node in children) == list(range(writers))
    assert len((await store.get_node("s0")).children) == writers
    found = Counter()
    for at in range(sessions):
        records = await store.list_records(f"s{at}")
        assert [record.number for record in records] == list(range(1, len(records) + 1))
        for question, answer in zip(records[::2], records[1::2], strict=True):
            assert (question.role, answer.role) == ("user", "assistant")
            assert question.content == answer.content
            found[question.content] += 1
        meta = await store.get(f"s{at}")
        assert (meta.turn_count, meta.version) == (len(records) // 2, len(records) // 2)
    assert found == expected
    assert await store.for_tenant(f"{place.tenant}-other").list_sessions() == []
    await store.close()


async def crowd(place, processes, tasks, turns, sessions):
    store = await place.open()
    for at in range(sessions):
        await store.create_session(session_id=f"s{at}")
    await store.close()
    expected = run_crowd(place, processes, tasks, turns, sessions)
    await check(place, sessions, expected, processes * tasks)


@pytest.mark.postgres
async def test_eight_writers_of_two_processes_on_one_session(postgres_place):
    await crowd(postgres_place, processes=2, tasks=4, turns=4, sessions=1)


@pytest.mark.full
async def test_sixteen_writers_of_four_processes_on_one_session(lasting_place):
    await crowd(lasting_place, processes=4, tasks=4, turns=12, sessions=1)


@pytest.mark.full
async def test_sixteen_writers_of_four_processes_on_two_hundred_sessions(lasting_place):
    await crowd(lasting_place, processes=4, tasks=4, turns=40, sessions=200)
