"""A transaction is all or nothing, joins when nested, and keeps other writers out."""

import asyncio

import pytest

from preset_engine.errors import SessionChanged, SessionNotFound
from preset_engine.session.meta import FrozenConfig, MetaUpdate
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import SessionRecord
from tests.storage.filling import user

pytestmark = pytest.mark.anyio


async def snapshot(store):
    return [await store.dump_session(meta.id) for meta in await store.list_sessions()]


async def change_everything(store, id_):
    child = await store.create_session(parent_id=id_, label="child")
    other = await store.create_session(label="other")
    await store.add_ref(child.id, other.id)
    await store.put_config(id_, FrozenConfig("new", ()))
    await store.append_records(id_, [user("a"), user("b")])
    await store.replace_record(id_, SessionRecord("user", "other", number=1))
    await store.trim_records(id_, 2)
    await store.remove_records_after(id_, 3)
    await store.commit_turn(id_, TurnCommit([user("turn")], variables={"x": 1}))
    await store.put_insight(id_, "new")
    await store.clear_insight(child.id)
    await store.update_meta(id_, MetaUpdate(label="new"))
    await store.archive(id_)
    await store.append_record(child.id, user("child's"))


@pytest.fixture
async def root(store):
    node = await store.create_session(label="root")
    await store.append_records(node.id, [user("one"), user("two")])
    await store.put_insight(node.id, "old")
    await store.put_config(node.id, FrozenConfig("old"))
    return node.id


async def test_an_exception_takes_back_every_kind_of_change(store, root):
    before = await snapshot(store)

    async def work(inner):
        await change_everything(inner, root)
        assert len(await inner.list_sessions()) == 3
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        await store.transaction(work)
    assert await snapshot(store) == before
    assert (await store.get_node(root)).children == ()


async def test_a_cancelled_transaction_leaves_nothing(store, root):
    before = await snapshot(store)
    started = asyncio.Event()

    async def work(inner):
        await change_everything(inner, root)
        started.set()
        await asyncio.sleep(60)

    task = asyncio.ensure_future(store.transaction(work))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await snapshot(store) == before


async def test_a_transaction_stores_all_and_gives_the_result(store, root):
    async def work(inner):
        await change_everything(inner, root)
        return "done"

    assert await store.transaction(work) == "done"
    assert [record.content for record in await store.list_records(root)] == ["a", "turn"]
    assert (await store.get(root)).label == "new"


async def test_calls_inside_see_what_was_written_inside(store, root):
    async def work(inner):
        await inner.append_record(root, user("three"))
        assert len(await inner.list_records(root)) == 3
        assert len(await store.list_records(root)) == 3
        node = await inner.create_session(parent_id=root)
        assert (await inner.get_node(root)).children == (node.id,)
        assert await inner.get_ancestors(node.id) != []

    await store.transaction(work)


async def test_a_nested_transaction_joins_the_outer_one(store, root):
    before = await snapshot(store)

    async def inner_work(inner):
        await inner.append_record(root, user("inner"))

    async def work(outer):
        await outer.append_record(root, user("outer"))
        await outer.transaction(inner_work)
        raise KeyError("after the inner one had ended")

    with pytest.raises(KeyError):
        await store.transaction(work)
    assert await snapshot(store) == before


async def test_an_exception_that_leaves_only_the_inner_one_takes_back_only_its_part(store, root):
    async def inner_work(inner):
        await change_everything(inner, root)
        raise KeyError

    async def work(outer):
        await outer.append_record(root, user("outer"))
        with pytest.raises(KeyError):
            await outer.transaction(inner_work)
        await outer.append_record(root, user("after"))

    await store.transaction(work)
    assert [r.content for r in await store.list_records(root)] == ["one", "two", "outer", "after"]
    assert (await store.get(root)).label == "root"
    assert await store.get_insight(root) == "old"
    assert len(await store.list_sessions()) == 1


async def test_a_refusal_inside_does_not_end_the_transaction(store, root):
    async def work(inner):
        with pytest.raises(SessionNotFound):
            await inner.append_record("ghost", user("x"))
        with pytest.raises(SessionChanged):
            await inner.commit_turn(root, TurnCommit([user("x")], expected_version=99))
        await inner.append_record(root, user("three"))

    await store.transaction(work)
    assert [r.content for r in await store.list_records(root)] == ["one", "two", "three"]


async def test_others_see_nothing_before_the_end(lasting_place):
    store, other = await lasting_place.open(), await lasting_place.open()
    node = await store.create_session()
    written, seen = asyncio.Event(), []

    async def work(inner):
        await inner.append_record(node.id, user("hidden"))
        written.set()
        await asyncio.sleep(0.05)

    async def look():
        await written.wait()
        seen.append(len(await other.list_records(node.id)))

    await asyncio.gather(store.transaction(work), look())
    assert seen == [0]
    assert len(await other.list_records(node.id)) == 1
    await store.close()
    await other.close()


async def test_a_task_of_another_time_does_not_join_an_ended_transaction(store, root):
    later = []

    async def work(inner):
        later.append(asyncio.ensure_future(wait_and_write()))

    async def wait_and_write():
        await asyncio.sleep(0.02)
        await store.append_record(root, user("later"))

    await store.transaction(work)
    await later[0]
    assert [r.content for r in await store.list_records(root)][-1] == "later"


async def test_parallel_turns_on_one_session_follow_each_other(store):
    node = await store.create_session()

    async def turn(name):
        return await store.commit_turn(node.id, TurnCommit([user(f"{name}?"), user(f"{name}!")]))

    await asyncio.gather(*(turn(str(at)) for at in range(12)))
    records = await store.list_records(node.id)
    assert [record.number for record in records] == list(range(1, 25))
    for question, answer in zip(records[::2], records[1::2], strict=True):
        assert question.content[:-1] == answer.content[:-1]
    assert (await store.get(node.id)).turn_count == 12


async def test_of_two_turns_from_the_same_version_one_loses_and_can_retry(store):
    node = await store.create_session()

    async def turn(name):
        while True:
            meta = await store.get(node.id)
            try:
                await store.commit_turn(
                    node.id, TurnCommit([user(name)], expected_version=meta.version)
                )
            except SessionChanged:
                continue
            return

    await asyncio.gather(*(turn(str(at)) for at in range(6)))
    assert sorted(r.content for r in await store.list_records(node.id)) == list("012345")


@pytest.mark.parametrize("pause", range(6))
async def test_a_second_cancellation_does_not_stop_the_way_back(lasting_place, pause):
    store = await lasting_place.open()
    node = await store.create_session()
    written = asyncio.Event()

    async def work(inner):
        await inner.append_records(node.id, [user("never"), user("stored")])
        written.set()
        await asyncio.sleep(60)

    task = asyncio.ensure_future(store.transaction(work))
    await written.wait()
    task.cancel()
    for _ in range(pause):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await store.append_record(node.id, user("next"))
    assert [record.content for record in await store.list_records(node.id)] == ["next"]
    await store.close()


@pytest.mark.parametrize("pause", range(0, 40, 8))
async def test_what_a_cancelled_commit_stored_is_seen_as_soon_as_it_ends(lasting_place, pause):
    store, other = await lasting_place.open(), await lasting_place.open()
    node = await store.create_session()
    task = asyncio.ensure_future(store.commit_turn(node.id, TurnCommit([user("turn")])))
    for _ in range(pause):
        await asyncio.sleep(0.0003)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    seen = len(await other.list_records(node.id))
    await store.append_record(node.id, user("next"))
    assert len(await other.list_records(node.id)) == seen + 1
    await store.close()
    await other.close()
