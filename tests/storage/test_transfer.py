"""A forest that is exported and imported is equal, from any back end into any other."""

import json

import pytest

from preset_engine.errors import SessionError, UnreadableInput, WrongKind
from preset_engine.llm.request import ToolCall
from preset_engine.session.meta import CompressionSnapshot, FrozenConfig
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import SessionRecord
from preset_engine.storage.open import open_storage
from preset_engine.storage.transfer import export_forest, import_forest
from tests.storage.conftest import KINDS, make_place

pytestmark = pytest.mark.anyio


async def fill(store):
    root = await store.create_session(label="Harbour 港")
    other = await store.create_session(label="Other")
    kids = [await store.create_session(parent_id=root.id, label=f"kid {at}") for at in range(3)]
    deep = await store.create_session(parent_id=kids[1].id, source_session_id=kids[0].id)
    await store.add_ref(deep.id, other.id)
    await store.add_ref(deep.id, kids[2].id)
    await store.put_config(deep.id, FrozenConfig("frozen", ("a",)))
    await store.put_config(root.id, FrozenConfig())
    call = ToolCall("c1", "scan", {"deep": [1, None]})
    await store.commit_turn(
        root.id,
        TurnCommit(
            [SessionRecord("user", "hi\n"), SessionRecord("assistant", "", tool_calls=(call,))],
            variables={"x": 1},
            state={"start": 2},
            compression=CompressionSnapshot("sum", 1, "d"),
        ),
    )
    swiped = (await store.list_records(root.id))[1].with_alternative("swipe")
    await store.replace_record(root.id, swiped.edited("edit", "2025-03-14T09:26:53Z"))
    await store.append_records(root.id, [SessionRecord("tool", "x", tool_call_id="c1")] * 3)
    await store.trim_records(root.id, 3)
    await store.remove_records_after(root.id, 4)
    for id_ in (root.id, deep.id):
        await store.put_system_prompt(id_, "system")
        await store.put_insight(id_, "")
        await store.put_memory(id_, "memory")
    await store.archive(kids[0].id)


async def snapshot(store):
    return [await store.dump_session(node.id) for node in await store.list_all()]


async def lines_of(store):
    return [line async for line in export_forest(store)]


@pytest.mark.parametrize("target", KINDS)
async def test_an_import_gives_an_equal_forest(store, target, tmp_path):
    await fill(store)
    lines = await lines_of(store)
    other = await make_place(target, tmp_path / "target").open()
    assert await import_forest(other, lines) == 6
    assert await snapshot(other) == await snapshot(store)
    assert await other.get_tree() == await store.get_tree()
    assert await lines_of(other) == lines
    root = (await other.list_roots())[0]
    assert (await other.append_record(root.id, SessionRecord("user", "on"))).number == 6
    assert (await other.create_session(parent_id=root.id)).index == 3
    await other.close()


async def test_an_empty_forest_is_two_lines(store):
    lines = await lines_of(store)
    assert len(lines) == 2
    assert await import_forest(store, lines) == 0


async def filled_lines():
    store = await open_storage("memory:")
    await fill(store)
    return await lines_of(store)


async def test_a_taken_id_refuses_the_whole_import(store):
    lines = await filled_lines()
    ids = [json.loads(line)["session"]["meta"]["id"] for line in lines if '"session"' in line[:12]]
    await store.create_session(session_id=ids[-1])
    with pytest.raises(SessionError, match="already stored"):
        await import_forest(store, lines)
    assert [meta.id for meta in await store.list_sessions()] == [ids[-1]]


async def test_a_cut_export_is_refused_wherever_it_is_cut(store):
    lines = await filled_lines()
    for length in range(1, len(lines)):
        with pytest.raises(UnreadableInput, match="line"):
            await import_forest(store, lines[:length])
    assert await store.list_sessions() == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[1]", "no JSON object"),
        ("nonsense", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('{"session": {}}', "needs 'meta'"),
        ('{"other": 1}', "neither session"),
        (
            '{"session": {"meta": {"id": "a", "label": 3}, "node": {"id": "a"}}}',
            "'label' must be a text",
        ),
        ('{"session": {"meta": {"id": "a", "label": "a"}, "node": {"id": "b"}}}', "node 'b' under"),
        (
            '{"session": {"meta": {"id": "a", "label": "a"}, "node": {"id": "a", "parent_id": "p", "depth": 1}}}',
            "parent 'p' of 'a' is missing",
        ),
        (
            '{"session": {"meta": {"id": "a", "label": "a"}, "node": {"id": "a", "depth": 7}}}',
            "a depth that its parent",
        ),
        (
            '{"session": {"meta": {"id": "a", "label": "a"}, "node": {"id": "a"}, "slots": {"secret": "x"}}}',
            "slot 'secret' is unknown",
        ),
        (
            '{"session": {"meta": {"id": "a", "label": "a", "turn_count": -1}, "node": {"id": "a"}}}',
            "'turn_count' must be a whole number",
        ),
    ],
)
async def test_a_line_that_cannot_be_used_is_named(store, line, why):
    head = (await filled_lines())[0]
    with pytest.raises(UnreadableInput, match=why) as caught:
        await import_forest(store, [head, line])
    assert str(caught.value).startswith("line 2 ")
    assert "\n" not in str(caught.value)


async def test_records_out_of_order_are_refused(store):
    head = (await filled_lines())[0]
    session = '{"session": {"meta": {"id": "a", "label": "a"}, "node": {"id": "a"}, "records": 2}}'
    record = '{"record": {"number": 1, "role": "user", "content": "x"}}'
    with pytest.raises(UnreadableInput, match=r"line 4 .* 1 does not follow 1"):
        await import_forest(store, [head, session, record, record])


async def test_another_kind_of_file_is_named_as_such(store):
    for head in ('{"prompts": []}', '{"kind": "preset_engine.forest", "format": 2}'):
        with pytest.raises(WrongKind):
            await import_forest(store, [head])


async def test_unstorable_characters_of_an_export_are_replaced(store):
    session = {"meta": {"id": "a", "label": "l\0"}, "node": {"id": "a"}, "slots": {"memory": "m\0"}}
    record = {"number": 1, "role": "user", "content": "x\ud800"}
    lines = [
        {"kind": "preset_engine.forest", "format": 1},
        {"session": {**session, "records": 1}},
        {"record": record},
        {"end": {"sessions": 1}},
    ]
    assert await import_forest(store, map(json.dumps, lines)) == 1
    assert (await store.get("a")).label == "l\ufffd"
    assert await store.get_memory("a") == "m\ufffd"
    assert (await store.list_records("a"))[0].content == "x\ufffd"
