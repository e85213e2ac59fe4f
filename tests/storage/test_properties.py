"""Whatever is done in whatever order, every back end holds the same forest as the one in memory."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preset_engine.characters import clean_text
from preset_engine.errors import SessionError
from preset_engine.session.meta import FrozenConfig, MetaUpdate
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import RecordQuery, SessionRecord
from preset_engine.storage.open import open_storage
from tests.storage.conftest import LASTING, make_place

IDS = ["a", "b", "c", "d"]
ids = st.sampled_from(IDS)
words = st.sampled_from(["", "x", "a\nb", "港", "\x00", "\ud800", '"', "😀"])
records = st.builds(
    SessionRecord,
    st.sampled_from(["user", "assistant", "tool", "system"]),
    words,
    tool_call_id=st.none() | words,
    alternatives=st.just(()) | st.tuples(words, words),
    extra=st.just({}) | st.fixed_dictionaries({"name": words}),
)
numbers = st.integers(-1, 9)
versions = st.none() | st.integers(0, 6)

operations = st.one_of(
    st.tuples(st.just("create"), ids, st.none() | ids),
    st.tuples(st.just("append"), ids, st.lists(records, max_size=3), versions),
    st.tuples(st.just("replace"), ids, records, numbers, versions),
    st.tuples(st.just("trim"), ids, numbers, versions),
    st.tuples(st.just("cut"), ids, numbers, versions),
    st.tuples(st.just("turn"), ids, st.lists(records, max_size=2), versions, st.none() | words),
    st.tuples(st.just("insight"), ids, words),
    st.tuples(st.just("clear"), ids),
    st.tuples(st.just("memory"), ids, words),
    st.tuples(st.just("variables"), ids, st.dictionaries(words, words, max_size=2)),
    st.tuples(st.just("config"), ids, st.none() | words, st.none() | st.lists(words, max_size=2)),
    st.tuples(st.just("ref"), ids, ids),
    st.tuples(st.just("label"), ids, words),
    st.tuples(st.just("archive"), ids),
)
# A block is a transaction: its operations, and whether it is left by an exception.
blocks = st.lists(st.tuples(st.lists(operations, max_size=4), st.booleans()), max_size=6)


class Left(Exception):
    """Leaves a block."""


async def run(store, operation):
    name, id_, *rest = operation
    match name:
        case "create":
            await store.create_session(session_id=id_, parent_id=rest[0])
        case "append":
            await store.append_records(id_, *rest)
        case "replace":
            record, number, version = rest
            await store.replace_record(
                id_, SessionRecord(record.role, record.content, number=number), version
            )
        case "trim":
            await store.trim_records(id_, *rest)
        case "cut":
            await store.remove_records_after(id_, *rest)
        case "turn":
            turn = TurnCommit(rest[0], expected_version=rest[1], consumed_insight=rest[2])
            await store.commit_turn(id_, turn)
        case "insight":
            await store.put_insight(id_, rest[0])
        case "clear":
            await store.clear_insight(id_)
        case "memory":
            await store.put_memory(id_, rest[0])
        case "variables":
            await store.put_variables(id_, rest[0])
        case "config":
            skills = None if rest[1] is None else tuple(rest[1])
            await store.put_config(id_, FrozenConfig(rest[0], skills))
        case "ref":
            await store.add_ref(id_, rest[0])
        case "label":
            await store.update_meta(id_, MetaUpdate(label=rest[0]))
        case "archive":
            await store.archive(id_)


async def play(store, script):
    """Run all blocks; gives the refusals by name, in order."""
    refusals = []

    async def block(inner, steps, is_left):
        for step in steps:
            try:
                await run(inner, step)
            except SessionError as error:
                refusals.append(type(error).__name__)
        if is_left:
            raise Left

    for steps, is_left in script:
        try:
            await store.transaction(lambda inner, s=steps, left=is_left: block(inner, s, left))
        except Left:
            refusals.append("left")
    return refusals


def without_times(dump):
    meta = dump.meta.to_json()
    for name in ("created_at", "updated_at", "last_active_at"):
        del meta[name]
    return meta, dump.node, dump.config, dict(dump.slots), dump.records, dump.next_number


async def state(store):
    dumps = {node.id: await store.dump_session(node.id) for node in await store.list_all()}
    query = RecordQuery(role="user", after=1, offset=1, limit=2)
    listed = [await store.list_records(id_, query) for id_ in IDS]
    return {id_: without_times(dump) for id_, dump in dumps.items()}, listed


async def compare(kind, script):
    memory = await open_storage("memory:")
    refusals = await play(memory, script)
    expected = await state(memory)
    with tempfile.TemporaryDirectory() as folder:
        place = make_place(kind, Path(folder))
        store = await place.open()
        try:
            assert await play(store, script) == refusals
            assert await state(store) == expected
        finally:
            await store.close()
        again = await place.open()
        try:
            assert await state(again) == expected
        finally:
            await again.close()


@pytest.mark.parametrize("kind", LASTING)
@settings(max_examples=8)
@given(blocks)
def test_every_back_end_holds_what_memory_holds(kind, script):
    import asyncio

    asyncio.run(compare(kind, script))


@pytest.mark.full
@pytest.mark.parametrize("kind", LASTING)
@settings(max_examples=200)
@given(blocks)
def test_every_back_end_holds_what_memory_holds_at_length(kind, script):
    import asyncio

    asyncio.run(compare(kind, script))


@given(st.text())
def test_cleaning_is_idempotent_and_gives_storable_text(text):
    clean = clean_text(text)
    assert clean_text(clean) == clean
    assert "\x00" not in clean
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert len(clean) == len(text)


@given(records, st.lists(words, max_size=3), st.data())
def test_swipes_keep_the_chosen_text_among_the_alternatives(record, texts, data):
    for text in texts:
        record = record.with_alternative(text)
        assert record.content == text == record.alternatives[record.chosen]
    if texts:
        index = data.draw(st.integers(0, len(record.alternatives) - 1))
        chosen = record.choose(index)
        assert chosen.alternatives == record.alternatives
        assert chosen.content == record.alternatives[index]
        edited = chosen.edited("edit", "now")
        assert edited.alternatives[index] == edited.content == "edit"
        assert len(edited.alternatives) == len(chosen.alternatives)


@given(records)
def test_a_record_survives_its_json(record):
    assert SessionRecord.from_json(record.to_json()) == record
