"""What every back end promises: one set of claims, run over all four."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from preset_engine.errors import (
    SessionArchived,
    SessionChanged,
    SessionError,
    SessionNotFound,
)
from preset_engine.llm.request import ToolCall
from preset_engine.session.meta import (
    CompressionSnapshot,
    FrozenConfig,
    MetaUpdate,
    SessionFilter,
    SessionMeta,
    SessionStatus,
    stamp,
)
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import RecordQuery, SessionRecord
from tests.truth import ROOT

pytestmark = pytest.mark.anyio


def said(role, text, **more):
    return SessionRecord(role, text, **more)


async def talk(store, *roles):
    node = await store.create_session()
    await store.append_records(
        node.id, [said(role, f"{role} {at}") for at, role in enumerate(roles)]
    )
    return node.id


async def texts(store, session_id, **query):
    return [record.content for record in await store.list_records(session_id, RecordQuery(**query))]


# ---- sessions ----


async def test_an_empty_store_lists_nothing(store):
    assert await store.list_sessions() == []
    assert await store.list_all() == []
    assert await store.get_tree() == []
    assert await store.list_roots() == []


async def test_a_session_is_readable_through_both_halves_under_one_id(store):
    node = await store.create_session(label="Harbour")
    meta = await store.get_session(node.id)
    assert meta == await store.get(node.id)
    assert (meta.id, meta.label, meta.status, meta.turn_count) == (
        node.id,
        "Harbour",
        SessionStatus.ACTIVE,
        0,
    )
    assert meta.created_at == meta.updated_at == meta.last_active_at != ""


async def test_the_two_views_of_one_record_show_their_own_fields(store):
    node = await store.create_session(label="Harbour")
    meta = await store.get(node.id)
    assert "last_active_at" in meta.tree_view()
    assert "last_active_at" not in meta.content_view()
    for shape in ("parent_id", "children", "depth", "refs"):
        assert shape not in meta.to_json()
        assert hasattr(node, shape)


async def test_a_session_put_without_a_node_is_a_root(store):
    stored = await store.put_session(SessionMeta("own-id", "Mine"))
    assert stored.created_at
    node = await store.get_node("own-id")
    assert (node.parent_id, node.depth, node.label) == (None, 0, "Mine")


async def test_putting_a_session_again_replaces_its_fields_but_not_its_version(store):
    node = await store.create_session(label="old")
    await store.append_record(node.id, said("user", "hello"))
    old = await store.get(node.id)
    new = await store.put_session(
        SessionMeta(node.id, "new", SessionStatus.ARCHIVED, turn_count=7, version=99)
    )
    assert new == await store.get(node.id)
    assert (new.label, new.status, new.turn_count) == ("new", SessionStatus.ARCHIVED, 7)
    assert (new.version, new.created_at) == (old.version, old.created_at)
    assert await texts(store, node.id) == ["hello"]


async def test_sessions_are_listed_in_order_of_creation_and_filtered_by_status(store):
    ids = [(await store.create_session()).id for _ in range(4)]
    await store.archive(ids[1])
    assert [meta.id for meta in await store.list_sessions()] == ids
    active = await store.list_sessions(SessionFilter(SessionStatus.ACTIVE))
    assert [meta.id for meta in active] == [ids[0], ids[2], ids[3]]
    archived = await store.list_sessions(SessionFilter(SessionStatus.ARCHIVED))
    assert [meta.id for meta in archived] == [ids[1]]


async def test_reads_of_an_unknown_session_find_nothing(store):
    assert await store.get_session("ghost") is None
    assert await store.get("ghost") is None
    assert await store.get_node("ghost") is None
    assert await store.list_records("ghost") == []
    assert await store.get_system_prompt("ghost") is None
    assert await store.get_insight("ghost") is None
    assert await store.get_memory("ghost") is None
    assert await store.get_compression_cache("ghost") is None
    assert await store.get_variables("ghost") == {}
    assert await store.get_state("ghost") == {}
    assert await store.get_config("ghost") is None
    assert await store.dump_session("ghost") is None


WRITES = {
    "append_record": lambda s, i: s.append_record(i, said("user", "x")),
    "append_records": lambda s, i: s.append_records(i, []),
    "replace_record": lambda s, i: s.replace_record(i, said("user", "x", number=1)),
    "trim_records": lambda s, i: s.trim_records(i, 1),
    "remove_records_after": lambda s, i: s.remove_records_after(i, 1),
    "commit_turn": lambda s, i: s.commit_turn(i, TurnCommit([said("user", "x")])),
    "put_system_prompt": lambda s, i: s.put_system_prompt(i, "x"),
    "put_insight": lambda s, i: s.put_insight(i, "x"),
    "clear_insight": lambda s, i: s.clear_insight(i),
    "put_memory": lambda s, i: s.put_memory(i, "x"),
    "put_compression_cache": lambda s, i: s.put_compression_cache(i, CompressionSnapshot("x", 1)),
    "clear_compression_cache": lambda s, i: s.clear_compression_cache(i),
    "put_variables": lambda s, i: s.put_variables(i, {}),
    "put_state": lambda s, i: s.put_state(i, {}),
    "archive": lambda s, i: s.archive(i),
    "update_meta": lambda s, i: s.update_meta(i, MetaUpdate(label="x")),
    "put_config": lambda s, i: s.put_config(i, FrozenConfig()),
    "add_ref": lambda s, i: s.add_ref(i, i),
    "get_ancestors": lambda s, i: s.get_ancestors(i),
    "get_siblings": lambda s, i: s.get_siblings(i),
    "create_session": lambda s, i: s.create_session(parent_id=i),
}


async def test_writes_to_an_unknown_session_are_refused(store):
    for name, write in WRITES.items():
        with pytest.raises(SessionNotFound, match=r"no session 'ghost\\x00'|no session 'ghost'"):
            await write(store, "ghost")
        with pytest.raises(SessionNotFound):
            await write(store, "ghost\x00")
        assert await store.list_sessions() == [], name


async def test_a_taken_id_is_refused_and_a_strange_one_too(store):
    node = await store.create_session(session_id="one")
    assert node.id == "one"
    with pytest.raises(SessionError, match="already stored"):
        await store.create_session(session_id="one")
    for strange in ("", "a\x00b", "\ud800", "x" * 201):
        with pytest.raises(SessionError, match="cannot be a session id"):
            await store.create_session(session_id=strange)


@pytest.mark.parametrize(
    "strange", ["../../etc/passwd", "a/b", ".", "..", "名前 %41", "x" * 200, "CON"]
)
async def test_an_id_of_any_characters_works_and_stays_in_its_place(store, strange):
    await store.create_session(session_id=strange)
    await store.append_record(strange, said("user", "here"))
    assert await texts(store, strange) == ["here"]
    assert [meta.id for meta in await store.list_sessions()] == [strange]


# ---- records ----


async def test_records_come_back_as_they_were_numbered_from_one(store):
    node = await store.create_session()
    given = [
        said("system", "frame"),
        said("user", "look\nup", timestamp="2025-03-14T09:26:53Z"),
        said(
            "assistant",
            "",
            tool_calls=(ToolCall("c1", "scan", {"deep": [1, {"x": None}], "名": "值"}),),
        ),
        said("tool", "stars", tool_call_id="c1"),
        said("assistant", "Stars ✨", extra={"name": "Maren", "hidden": False}),
    ]
    stored = await store.append_records(node.id, given)
    assert [record.number for record in stored] == [1, 2, 3, 4, 5]
    assert stored == tuple(replace(record, number=at) for at, record in enumerate(given, 1))
    assert await store.list_records(node.id) == list(stored)


async def test_the_role_filter_comes_first_then_offset_then_limit(store):
    id_ = await talk(store, "user", "assistant", "user", "assistant", "user", "tool")
    assert await texts(store, id_, role="user") == ["user 0", "user 2", "user 4"]
    assert await texts(store, id_, role="user", offset=1) == ["user 2", "user 4"]
    assert await texts(store, id_, role="user", offset=1, limit=1) == ["user 2"]
    assert await texts(store, id_, offset=4) == ["user 4", "tool 5"]
    assert await texts(store, id_, limit=2) == ["user 0", "assistant 1"]
    assert await texts(store, id_, limit=0) == []
    assert await texts(store, id_, offset=9) == []
    assert await texts(store, id_, after=3, role="user") == ["user 4"]
    assert await texts(store, id_, after=4, offset=1) == ["tool 5"]
    assert await texts(store, id_, role="poet") == []


async def test_sessions_keep_their_records_apart(store):
    one, two = await talk(store, "user"), await talk(store, "assistant", "user")
    assert await texts(store, one) == ["user 0"]
    assert await texts(store, two) == ["assistant 0", "user 1"]


async def test_a_listed_record_cannot_change_the_store(store):
    node = await store.create_session()
    extra = {"tags": ["a"]}
    await store.append_record(node.id, said("user", "x", extra=extra))
    extra["tags"].append("b")
    (await store.list_records(node.id)).clear()
    assert (await store.list_records(node.id))[0].extra == {"tags": ["a"]}


async def test_trimming_keeps_the_newest_and_never_reuses_a_number(store):
    id_ = await talk(store, "user", "assistant", "user", "assistant")
    assert await store.trim_records(id_, 9) == 0
    assert await store.trim_records(id_, 4) == 0
    assert await store.trim_records(id_, 3) == 1
    assert await texts(store, id_) == ["assistant 1", "user 2", "assistant 3"]
    assert await store.trim_records(id_, 0) == 3
    assert await store.trim_records(id_, -1) == 0
    assert (await store.append_record(id_, said("user", "again"))).number == 5


async def test_the_end_of_a_session_can_be_removed(store):
    id_ = await talk(store, "user", "assistant", "user", "assistant")
    assert await store.remove_records_after(id_, 2) == 2
    assert await store.remove_records_after(id_, 2) == 0
    assert await texts(store, id_) == ["user 0", "assistant 1"]
    assert (await store.append_record(id_, said("user", "new"))).number == 5
    assert await texts(store, id_) == ["user 0", "assistant 1", "new"]


async def test_a_swipe_and_an_edit_replace_the_record_in_its_place(store):
    id_ = await talk(store, "user", "assistant", "user")
    reply = (await store.list_records(id_))[1]
    swiped = reply.with_alternative("another")
    await store.replace_record(id_, swiped)
    assert await texts(store, id_) == ["user 0", "another", "user 2"]
    await store.replace_record(id_, swiped.choose(0).edited("mended", stamp(datetime.now(UTC))))
    record = (await store.list_records(id_))[1]
    assert (record.content, record.alternatives, record.chosen) == (
        "mended",
        ("mended", "another"),
        0,
    )
    assert record.edited_at
    with pytest.raises(SessionNotFound, match="has no record 9"):
        await store.replace_record(id_, replace(record, number=9))


async def test_every_change_of_records_raises_the_version_and_slots_do_not(store):
    id_ = await talk(store, "user", "assistant", "user")
    versions = [(await store.get(id_)).version]

    async def grew(by):
        versions.append((await store.get(id_)).version)
        return versions[-1] - versions[-2] == by

    await store.append_record(id_, said("user", "x"))
    assert await grew(1)
    await store.replace_record(id_, said("user", "y", number=1))
    assert await grew(1)
    await store.trim_records(id_, 2)
    assert await grew(1)
    await store.trim_records(id_, 2)
    assert await grew(0)
    await store.commit_turn(id_, TurnCommit())
    assert await grew(1)
    await store.put_insight(id_, "x")
    await store.put_memory(id_, "x")
    await store.update_meta(id_, MetaUpdate(label="x"))
    assert await grew(0)


async def test_a_write_that_expects_another_version_is_refused_and_changes_nothing(store):
    id_ = await talk(store, "user", "assistant")
    before = await store.dump_session(id_)
    stale = before.meta.version - 1
    for write in (
        lambda: store.append_records(id_, [said("user", "x")], stale),
        lambda: store.append_records(id_, [], stale),
        lambda: store.replace_record(id_, said("user", "x", number=1), stale),
        lambda: store.trim_records(id_, 0, stale),
        lambda: store.remove_records_after(id_, 0, stale),
        lambda: store.commit_turn(id_, TurnCommit([said("user", "x")], expected_version=stale)),
    ):
        with pytest.raises(SessionChanged, match="another writer was first"):
            await write()
    assert await store.dump_session(id_) == before


# ---- turns ----


async def test_a_committed_turn_stores_all_its_parts_at_once(store):
    node = await store.create_session()
    await store.put_insight(node.id, "be brief")
    done = await store.commit_turn(
        node.id,
        TurnCommit(
            records=[said("user", "hi"), said("assistant", "yo")],
            expected_version=0,
            consumed_insight="be brief",
            variables={"mood": "calm", "n": 3},
            state={"window_start": 4},
            compression=CompressionSnapshot("so far", 2, "d1"),
        ),
    )
    assert [record.number for record in done.records] == [1, 2]
    assert done.meta == await store.get(node.id)
    assert (done.meta.turn_count, done.meta.version) == (1, 1)
    assert await store.get_insight(node.id) is None
    assert await store.get_variables(node.id) == {"mood": "calm", "n": 3}
    assert await store.get_state(node.id) == {"window_start": 4}
    assert await store.get_compression_cache(node.id) == CompressionSnapshot("so far", 2, "d1")


async def test_an_insight_that_was_put_during_the_turn_is_kept(store):
    node = await store.create_session()
    await store.put_insight(node.id, "newer")
    await store.commit_turn(node.id, TurnCommit([said("user", "x")], consumed_insight="older"))
    assert await store.get_insight(node.id) == "newer"
    await store.commit_turn(node.id, TurnCommit([said("user", "x")]))
    assert await store.get_insight(node.id) == "newer"


async def test_turns_are_counted_as_the_commit_says(store):
    node = await store.create_session()
    await store.commit_turn(node.id, TurnCommit([said("user", "a")], completed_turns=0))
    await store.commit_turn(node.id, TurnCommit([said("assistant", "b")], completed_turns=1))
    assert (await store.get(node.id)).turn_count == 1


async def test_an_archived_session_takes_no_turn(store):
    id_ = await talk(store, "user", "assistant")
    await store.archive(id_)
    before = await store.dump_session(id_)
    with pytest.raises(SessionArchived, match="fork it"):
        await store.commit_turn(id_, TurnCommit([said("user", "x")]))
    assert await store.dump_session(id_) == before


# ---- slots ----


@pytest.mark.parametrize("slot", ["system_prompt", "insight", "memory"])
async def test_a_text_slot_is_empty_at_first_and_replaced_as_a_whole(store, slot):
    one, two = (await store.create_session()).id, (await store.create_session()).id
    get, put = getattr(store, f"get_{slot}"), getattr(store, f"put_{slot}")
    assert await get(one) is None
    await put(one, "first\nline")
    await put(one, "second")
    assert await get(one) == "second"
    await put(one, "")
    assert await get(one) == ""
    assert await get(two) is None


async def test_an_insight_can_be_cleared_again_and_again(store):
    node = await store.create_session()
    await store.put_insight(node.id, "look east")
    await store.clear_insight(node.id)
    await store.clear_insight(node.id)
    assert await store.get_insight(node.id) is None


async def test_the_kept_summary_can_be_replaced_and_cleared(store):
    node = await store.create_session()
    await store.put_compression_cache(node.id, CompressionSnapshot("a", 3, "x"))
    await store.put_compression_cache(node.id, CompressionSnapshot("b", 5, "y"))
    assert await store.get_compression_cache(node.id) == CompressionSnapshot("b", 5, "y")
    await store.clear_compression_cache(node.id)
    assert await store.get_compression_cache(node.id) is None


async def test_variables_and_state_keep_json_types(store):
    node = await store.create_session()
    value = {
        "text": "7",
        "number": 7,
        "half": 0.5,
        "yes": True,
        "none": None,
        "list": [1, {"a": "b"}],
    }
    await store.put_variables(node.id, value)
    await store.put_state(node.id, {"inner": value})
    assert await store.get_variables(node.id) == value
    assert await store.get_state(node.id) == {"inner": value}
    await store.put_variables(node.id, {})
    assert await store.get_variables(node.id) == {}


# ---- the border ----


async def test_nul_and_lone_surrogates_are_replaced_everywhere(store):
    bad, good = "a\x00b\ud83d", "a\ufffdb\ufffd"
    node = await store.create_session(label=bad)
    assert node.label == good
    stored = await store.append_record(
        node.id,
        said(
            "assistant",
            bad,
            tool_calls=(ToolCall(bad, bad, {bad: [bad]}),),
            tool_call_id=bad,
            timestamp=bad,
            alternatives=(bad, "x"),
            edited_at=bad,
            extra={bad: {bad: bad}},
        ),
    )
    assert stored == said(
        "assistant",
        good,
        tool_calls=(ToolCall(good, good, {good: [good]}),),
        tool_call_id=good,
        timestamp=good,
        number=1,
        alternatives=(good, "x"),
        edited_at=good,
        extra={good: {good: good}},
    )
    assert await store.list_records(node.id) == [stored]
    await store.put_system_prompt(node.id, bad)
    await store.put_insight(node.id, bad)
    await store.put_memory(node.id, bad)
    await store.put_variables(node.id, {bad: bad})
    await store.put_compression_cache(node.id, CompressionSnapshot(bad, 1, bad))
    await store.put_config(node.id, FrozenConfig(bad, (bad,)))
    await store.update_meta(node.id, MetaUpdate(label=bad + "2"))
    assert await store.get_system_prompt(node.id) == good
    assert await store.get_insight(node.id) == good
    assert await store.get_memory(node.id) == good
    assert await store.get_variables(node.id) == {good: good}
    assert await store.get_compression_cache(node.id) == CompressionSnapshot(good, 1, good)
    assert await store.get_config(node.id) == FrozenConfig(good, (good,))
    assert (await store.get(node.id)).label == good + "2"
    await store.commit_turn(node.id, TurnCommit(consumed_insight=bad))
    assert await store.get_insight(node.id) is None


async def test_a_value_that_is_no_json_is_refused_and_stores_nothing(store):
    node = await store.create_session()
    for write in (
        lambda: store.append_record(node.id, said("user", "x", extra={"at": datetime.now(UTC)})),
        lambda: store.put_variables(node.id, {"set": {1, 2}}),
        lambda: store.commit_turn(node.id, TurnCommit([said("user", "x")], state={"a": [b"x"]})),
    ):
        with pytest.raises(SessionError, match="is no JSON"):
            await write()
    assert await store.list_records(node.id) == []
    assert (await store.get(node.id)).version == 0


async def test_text_that_tears_lines_apart_comes_back_whole(store):
    node = await store.create_session()
    text = "a\u2028b\u2029c\x85d\x0be\r\nf\n\n😀"
    await store.append_record(node.id, said("user", text))
    assert await texts(store, node.id) == [text]


# ---- lasting ----


async def test_everything_is_there_after_opening_again(lasting_place):
    store = await lasting_place.open()
    root = await store.create_session(label="root")
    child = await store.create_session(parent_id=root.id, source_session_id=root.id)
    await store.add_ref(root.id, (await store.create_session()).id)
    await store.put_config(child.id, FrozenConfig("frozen", ()))
    await store.commit_turn(child.id, TurnCommit([said("user", "hi"), said("assistant", "yo")]))
    await store.put_memory(child.id, "was greeted")
    await store.append_record(child.id, said("user", "more"))
    await store.trim_records(child.id, 2)
    before = [await store.dump_session(node.id) for node in await store.list_all()]
    tree = await store.get_tree()
    await store.close()

    again = await lasting_place.open()
    assert await again.list_sessions() == [dump.meta for dump in before]
    assert [await again.dump_session(node.id) for node in await again.list_all()] == before
    assert await again.get_tree() == tree
    assert (await again.append_record(child.id, said("user", "x"))).number == 4
    await again.close()


async def test_two_stores_over_one_place_see_each_other(lasting_place):
    one, two = await lasting_place.open(), await lasting_place.open()
    node = await one.create_session(label="shared")
    assert (await two.get_node(node.id)).label == "shared"
    await two.append_record(node.id, said("user", "from two"))
    await one.append_record(node.id, said("user", "from one"))
    assert await texts(two, node.id) == await texts(one, node.id) == ["from two", "from one"]
    await two.update_meta(node.id, MetaUpdate(label="renamed"))
    assert [meta.label for meta in await one.list_sessions()] == ["renamed"]
    await one.close()
    await two.close()


async def test_a_store_that_is_not_closed_does_not_keep_the_process_alive(lasting_place):
    code = """
import asyncio, sys
from preset_engine.storage.open import open_storage

async def main():
    store = await open_storage(*sys.argv[1:])
    await store.create_session(session_id="a")

asyncio.run(main())
"""
    command = [sys.executable, "-W", "ignore", "-c", code, lasting_place.url, lasting_place.tenant]
    done = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, timeout=60, check=False)
    assert done.returncode == 0
    store = await lasting_place.open()
    assert await store.get("a") is not None
    await store.close()


async def test_a_closed_store_says_so_and_closes_twice(lasting_place):
    from preset_engine.errors import StorageLost

    store = await lasting_place.open()
    await store.create_session()
    await store.close()
    await store.close()
    with pytest.raises(StorageLost, match="closed"):
        await store.create_session()
