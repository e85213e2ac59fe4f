"""Odd names and values at the store's border: the same answer of every back end, and never somebody else's session."""

import json
from hashlib import sha256

import pytest

from preset_engine.errors import InvalidReference, SessionError, SessionNotFound, UnreadableInput
from preset_engine.session.meta import FrozenConfig, MetaUpdate, SessionMeta
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import RecordQuery, SessionRecord
from preset_engine.storage.transfer import export_forest, import_forest
from tests.storage.filling import user

pytestmark = pytest.mark.anyio

LONG = "é" * 150
OF_LONG = "~" + sha256(LONG.encode()).hexdigest()
IDS = [
    ".",
    "..",
    "a/b",
    "../x",
    LONG,
    OF_LONG,
    "~",
    "A",
    " ",
    "a\nb",
    "%2F",
    "\U0001f600",
    "x" * 200,
]
NO_IDS = ["x\x00", "x\ud800", "", "y" * 300]
HUGE = 2**70


async def test_every_id_has_a_session_of_its_own(place):
    store = await place.open()
    for id_ in IDS:
        await store.create_session(session_id=id_, label=id_)
        await store.append_record(id_, user(id_))
    found = store if place.kind == "memory" else await place.open()
    for id_ in IDS:
        assert [record.content for record in await found.list_records(id_)] == [id_]
        assert (await found.get_session(id_)).label == id_
    await store.close()
    await found.close()


async def test_a_tenant_named_like_another_ones_folder_sees_nothing_of_it(store):
    long = store.for_tenant(store.tenant[:20] + LONG)
    alike = store.for_tenant("~" + sha256(long.tenant.encode()).hexdigest())
    await long.create_session(session_id="secret")
    assert await alike.get_session("secret") is None
    assert await alike.list_all() == []


@pytest.mark.parametrize("id_", NO_IDS)
async def test_an_id_that_cannot_be_finds_nothing(store, id_):
    for known in ("x\ufffd", "good"):
        await store.create_session(session_id=known)
        await store.append_records(known, [user("1"), user("2")])
    assert await store.get_session(id_) is None
    assert await store.get_node(id_) is None
    assert await store.list_records(id_) == []
    assert await store.get_insight(id_) is None
    assert await store.get_config(id_) is None
    assert await store.dump_session(id_) is None
    refused = [
        store.trim_records(id_, 1),
        store.remove_records_after(id_, 1),
        store.append_record(id_, user("x")),
        store.replace_record(id_, SessionRecord("user", "x", number=1)),
        store.commit_turn(id_, TurnCommit([user("x")])),
        store.get_ancestors(id_),
        store.get_siblings(id_),
        store.add_ref("good", id_),
        store.add_ref(id_, "good"),
        store.put_config(id_, FrozenConfig("x")),
        store.update_meta(id_, MetaUpdate(label="x")),
        store.archive(id_),
        store.put_insight(id_, "x"),
        store.clear_insight(id_),
        store.create_session(parent_id=id_),
    ]
    for call in refused:
        with pytest.raises(SessionNotFound):
            await call
    assert len(await store.list_records("x\ufffd")) == 2


async def test_numbers_beyond_every_count_are_as_good_as_endless(store):
    node = await store.create_session()
    await store.append_records(node.id, [user("1"), user("2")])
    assert await store.list_records(node.id, RecordQuery(after=HUGE)) == []
    assert await store.list_records(node.id, RecordQuery(offset=HUGE)) == []
    assert len(await store.list_records(node.id, RecordQuery(limit=HUGE))) == 2
    assert await store.trim_records(node.id, HUGE) == 0
    assert await store.remove_records_after(node.id, HUGE) == 0
    assert len(await store.list_records(node.id, RecordQuery(after=-HUGE))) == 2
    refused = [
        store.replace_record(node.id, SessionRecord("user", "x", number=HUGE)),
        store.put_session(SessionMeta(node.id, "x", turn_count=HUGE)),
        store.update_meta(node.id, MetaUpdate(turn_count=HUGE)),
        store.commit_turn(node.id, TurnCommit(completed_turns=HUGE)),
        store.commit_turn(node.id, TurnCommit(expected_version=HUGE)),
    ]
    for call in refused:
        with pytest.raises(SessionError):
            await call
    assert (await store.get_session(node.id)).turn_count == 0


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


UNSOUND = {"deep": nested(20_000), "key": {1: 2}, "set": {"s": {1, 2}}, "long": 10**5000}


@pytest.mark.parametrize("value", [pytest.param(v, id=name) for name, v in UNSOUND.items()])
async def test_what_is_no_sound_json_is_refused_and_stores_nothing(store, value):
    node = await store.create_session()
    with pytest.raises(SessionError, match="cannot be stored"):
        await store.append_record(node.id, SessionRecord("user", "x", extra={"v": value}))
    with pytest.raises(SessionError, match="cannot be stored"):
        await store.commit_turn(node.id, TurnCommit([user("x")], variables={"v": value}))
    assert await store.list_records(node.id) == []


async def test_numbers_that_json_has_not_become_null(store):
    node = await store.create_session()
    await store.put_variables(node.id, {"n": float("nan"), "i": [float("inf")], "x": 0.5})
    assert await store.get_variables(node.id) == {"n": None, "i": [None], "x": 0.5}


async def test_an_export_with_an_endless_number_is_refused_as_a_whole(store):
    node = await store.create_session()
    await store.append_record(node.id, user("1"))
    lines = [json.loads(line) async for line in export_forest(store)]
    lines[1]["session"]["meta"]["id"] = lines[1]["session"]["node"]["id"] = "other"
    lines[2]["record"]["number"] = HUGE
    with pytest.raises(UnreadableInput, match="number"):
        await import_forest(store, map(json.dumps, lines))
    assert len(await store.list_all()) == 1


async def test_a_reference_to_itself_is_named_as_such(store):
    node = await store.create_session()
    with pytest.raises(InvalidReference):
        await store.add_ref(node.id, node.id)
