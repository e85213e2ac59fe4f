"""Two processes change one session by hand at the same moment: each one's change stands afterwards."""

import asyncio

import pytest

from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import SessionRecord
from preset_engine.session.stored import StoredSession

pytestmark = pytest.mark.anyio

ROUNDS = 6


@pytest.fixture
async def pair(lasting_place):
    one, two = await lasting_place.open(), await lasting_place.open()
    yield one, two
    await one.close()
    await two.close()


async def replied(store):
    node = await store.create_session(label="old")
    records = [SessionRecord("user", "q"), SessionRecord("assistant", "r")]
    await store.append_records(node.id, records)
    return node.id


async def test_no_alternative_is_lost(pair):
    one, two = pair
    for _ in range(ROUNDS):
        id_ = await replied(one)
        await asyncio.gather(
            StoredSession(one, id_).add_alternative(2, "x"),
            StoredSession(two, id_).add_alternative(2, "y"),
        )
        reply = (await one.list_records(id_))[1]
        assert sorted(reply.alternatives) == ["r", "x", "y"]


async def test_a_rename_takes_back_neither_a_turn_nor_the_archiving(pair):
    one, two = pair
    for _ in range(ROUNDS):
        id_ = await replied(one)
        turn = TurnCommit([SessionRecord("user", "a"), SessionRecord("assistant", "b")])
        await asyncio.gather(StoredSession(one, id_).rename("new"), two.commit_turn(id_, turn))
        meta = await one.get_session(id_)
        assert (meta.label, meta.turn_count) == ("new", 1)
        await asyncio.gather(
            StoredSession(one, id_).rename("newer"),
            StoredSession(two, id_).archive(),
            return_exceptions=True,  # the rename may come too late
        )
        assert (await one.get_session(id_)).is_archived
