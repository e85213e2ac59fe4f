"""The file back end: readable, safe against torn writes, safe for several processes."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.errors import StorageFormat, StorageLost
from preset_engine.session.protocols import TurnCommit
from preset_engine.storage.disk import Part, ProcessLock, append, recover, write_whole
from preset_engine.storage.journal import file_name
from preset_engine.storage.lines import decode_line, encode_line, last_step, replay
from preset_engine.storage.open import open_storage
from tests.storage.filling import user
from tests.truth import ROOT

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


async def opened(folder):
    return await open_storage(f"files:{folder}")


def session_file(folder, session_id):
    return folder / "tenants/default/sessions" / f"{session_id}.jsonl"


async def contents(folder, session_id="s"):
    store = await opened(folder)
    found = [record.content for record in await store.list_records(session_id)]
    await store.close()
    return found


@pytest.fixture
async def filled(folder):
    """A session `s` with three turns of one record each."""
    store = await opened(folder)
    await store.create_session(session_id="s")
    for text in ("one", "two", "three"):
        await store.commit_turn("s", TurnCommit([user(text)]))
    await store.close()
    return folder


# ---- lines ----


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5).filter(str.isascii), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=5).filter(str.isascii), json_values, max_size=4))
def test_a_line_is_one_line_of_json_that_reads_back(data):
    line = encode_line(data)
    assert line.count(b"\n") == 1
    assert decode_line(line) == data == json.loads(line)["data"]


@given(st.data())
def test_a_line_that_is_cut_or_changed_is_no_line(data):
    line = encode_line({"a": "ö", "b": [1, 2, {"c": None}]})
    cut = data.draw(st.integers(0, len(line) - 1))
    assert decode_line(line[:cut]) is None
    place = data.draw(st.integers(0, len(line) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[place]))
    assert decode_line(line[:place] + bytes([byte]) + line[place + 1 :]) is None


def test_the_last_line_is_found_from_the_end_of_a_long_file(tmp_path):
    path = tmp_path / "f"
    lines = [encode_line({"n": n, "text": "x" * 5000}) for n in range(20)]
    path.write_bytes(b"".join(lines) + lines[0][:100])
    assert last_step(path, path.stat().st_size)["n"] == 19
    path.write_bytes(lines[0][:-1])
    assert last_step(path, path.stat().st_size) is None
    path.write_bytes(encode_line({"big": "x" * 200_000}) + b"torn")
    assert len(last_step(path, path.stat().st_size)["big"]) == 200_000


def test_replaying_stops_at_a_torn_end_and_refuses_damage_before_it(tmp_path):
    path, seen = tmp_path / "f", []
    lines = [encode_line({"n": n}) for n in range(3)]
    path.write_bytes(b"".join(lines) + lines[0][:9])
    end = replay(path, 0, path.stat().st_size, seen.append)
    assert (end, [step["n"] for step in seen]) == (sum(map(len, lines)), [0, 1, 2])
    path.write_bytes(lines[0] + b"x" + lines[1][1:] + lines[2])
    with pytest.raises(StorageFormat, match=f"at byte {len(lines[0])}"):
        replay(path, 0, path.stat().st_size, seen.append)


# ---- steps over several files ----


def test_an_unfinished_step_over_several_files_is_undone(tmp_path):
    one, two, pending = tmp_path / "one", tmp_path / "two", tmp_path / "pending.json"
    append([Part(one, 0, b"a\n"), Part(two, 0, b"b\n")], pending)
    assert not pending.exists()
    write_whole(pending, json.dumps({"one": 2, "two": 2, "three": 0}).encode())
    one.write_bytes(b"a\nc\n")
    two.write_bytes(b"b\nd")
    recover(pending)
    assert (one.read_bytes(), two.read_bytes(), pending.exists()) == (b"a\n", b"b\n", False)
    recover(pending)


def test_a_step_that_cannot_be_written_is_undone_at_once(tmp_path):
    one, pending = tmp_path / "one", tmp_path / "pending.json"
    one.write_bytes(b"a\n")
    with pytest.raises(StorageLost, match="cannot use"):
        append([Part(one, 2, b"b\n"), Part(tmp_path / "missing/two", 0, b"c\n")], pending)
    assert (one.read_bytes(), pending.exists()) == (b"a\n", False)


async def test_a_step_that_a_killed_writer_left_is_undone_by_the_next_reader(filled):
    path = session_file(filled, "s")
    whole = path.read_bytes()
    path.write_bytes(whole + encode_line({"meta": {"id": "s", "label": "x"}, "ops": []}))
    pending = filled / "tenants/default/pending.json"
    pending.write_text(json.dumps({"sessions/s.jsonl": len(whole)}))
    assert await contents(filled) == ["one", "two", "three"]
    assert path.read_bytes() == whole
    assert not pending.exists()


async def test_a_damaged_undo_file_is_refused(filled):
    (filled / "tenants/default/pending.json").write_text("nonsense")
    store = await opened(filled)
    with pytest.raises(StorageFormat, match="is damaged"):
        await store.list_records("s")
    await store.close()


# ---- torn and damaged files ----


async def test_a_file_cut_anywhere_holds_whole_turns_and_takes_the_next(filled):
    path = session_file(filled, "s")
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    for length in range(0, len(whole) + 1, 7):
        path.write_bytes(whole[:length])
        turns = sum(end <= length for end in ends)
        assert await contents(filled) == ["one", "two", "three"][:turns]
    path.write_bytes(whole[:-5])
    store = await opened(filled)
    await store.commit_turn("s", TurnCommit([user("again")]))
    assert (await store.get("s")).turn_count == 3
    await store.close()
    assert await contents(filled) == ["one", "two", "again"]
    assert path.read_bytes().startswith(whole[: ends[1]])


async def test_a_torn_tree_holds_whole_nodes(folder):
    store = await opened(folder)
    for name in ("a", "b", "c"):
        await store.create_session(session_id=name)
    await store.close()
    tree = folder / "tenants/default/tree.jsonl"
    tree.write_bytes(tree.read_bytes()[:-3])
    store = await opened(folder)
    assert [node.id for node in await store.list_all()] == ["a", "b"]
    await store.create_session(session_id="d")
    assert [node.id for node in await store.list_all()] == ["a", "b", "d"]
    await store.close()


@pytest.mark.parametrize("name", ["tree.jsonl", "sessions/s.jsonl"])
async def test_damage_in_the_middle_is_refused_with_the_place(filled, name):
    store = await opened(filled)
    await store.create_session(session_id="t")
    await store.close()
    path = filled / "tenants/default" / name
    damaged = bytearray(path.read_bytes())
    damaged[40] ^= 1
    path.write_bytes(damaged)
    store = await opened(filled)
    for _ in range(2):
        with pytest.raises(StorageFormat, match=r"damaged in the line at byte 0.*restore"):
            await store.list_records("s")
    await store.close()


async def test_a_line_of_an_unknown_change_is_refused(filled):
    path = session_file(filled, "s")
    meta = {"id": "s", "label": "x"}
    path.write_bytes(path.read_bytes() + encode_line({"meta": meta, "ops": [{"op": "dance"}]}))
    store = await opened(filled)
    with pytest.raises(StorageFormat, match="unknown change 'dance'"):
        await store.list_records("s")
    await store.close()


async def test_a_file_put_back_from_a_copy_is_read_anew(filled):
    store = await opened(filled)
    path = session_file(filled, "s")
    copy = path.read_bytes()
    await store.commit_turn("s", TurnCommit([user("four")]))
    path.write_bytes(copy)
    assert [record.content for record in await store.list_records("s")] == ["one", "two", "three"]
    assert (await store.get("s")).turn_count == 3
    await store.close()


async def test_a_tree_put_back_from_a_copy_is_read_anew_with_the_present_metas(filled):
    store = await opened(filled)
    tree = filled / "tenants/default/tree.jsonl"
    copy = tree.read_bytes()
    await store.create_session(session_id="t")
    assert len(await store.list_sessions()) == 2
    tree.write_bytes(copy)
    assert [(meta.id, meta.turn_count) for meta in await store.list_sessions()] == [("s", 3)]
    await store.close()


# ---- form ----


async def test_the_files_are_json_lines_that_a_person_can_read(folder):
    store = await opened(folder)
    await store.create_session(session_id="s", label="港")
    await store.commit_turn("s", TurnCommit([user("你好")]))
    await store.close()
    lines = session_file(folder, "s").read_text("utf-8").splitlines()
    assert [json.loads(line)["data"]["ops"][0]["records"][0]["content"] for line in lines] == [
        "你好"
    ]
    assert "你好" in lines[0]
    assert "港" in (folder / "tenants/default/tree.jsonl").read_text("utf-8")


async def test_a_turn_appends_one_line_and_rewrites_nothing(filled):
    path = session_file(filled, "s")
    before, inode = path.read_bytes(), path.stat().st_ino
    others = {p: p.stat().st_mtime_ns for p in filled.rglob("*") if p.is_file() and p != path}
    store = await opened(filled)
    await store.commit_turn("s", TurnCommit([user("four"), user("five")]))
    await store.close()
    after = path.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 1
    assert path.stat().st_ino == inode
    assert {p: p.stat().st_mtime_ns for p in others} == others


async def test_a_newer_format_is_refused(folder):
    await (await opened(folder)).close()
    mark = folder / "store.json"
    mark.write_text('{"kind": "preset_engine sessions", "format": 2}')
    with pytest.raises(StorageFormat, match="format 2, this version knows 1; update"):
        await opened(folder)
    mark.write_text("{}")
    with pytest.raises(StorageFormat, match="damaged or of another program"):
        await opened(folder)


async def test_a_place_that_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageLost, match="cannot use"):
        await opened(tmp_path / "file")


@given(
    st.text(min_size=1, max_size=200).filter(lambda text: "\x00" not in text),
    st.text(min_size=1, max_size=200),
)
def test_file_names_are_safe_and_differ_for_different_ids(one, two):
    one, two = (text.encode("utf-8", "replace").decode() for text in (one, two))
    name = file_name(one)
    assert name.isascii()
    assert "/" not in name
    assert not name.startswith(".")
    assert len(name) <= 200
    assert (name == file_name(two)) == (one == two)


async def test_a_folder_that_was_removed_is_not_written_to(filled):
    store = await opened(filled)
    shutil.rmtree(filled)
    with pytest.raises(StorageLost, match="was moved or removed"):
        await store.create_session()
    await store.close()


def test_a_forked_process_does_not_share_the_lock(tmp_path):
    lock = ProcessLock(tmp_path / "lock")
    assert lock.try_now()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other tests may have left threads
        child = os.fork()
    if child == 0:
        os._exit(0 if not lock.try_now() else 1)
    assert os.waitpid(child, 0)[1] == 0
    lock.close()


async def test_a_listing_reads_no_whole_session(filled):
    store = await opened(filled)
    (meta,) = await store.list_sessions()
    assert meta.turn_count == 3
    other = await opened(filled)
    await other.commit_turn("s", TurnCommit([user("four")]))
    (meta,) = await store.list_sessions()
    assert meta.turn_count == 4
    (view,) = await store.get_tree()
    assert view.turn_count == 4
    await store.close()
    await other.close()


async def test_sessions_beyond_the_limit_are_unloaded_and_read_again(folder):
    store = await opened(folder)
    ids = [f"s{at}" for at in range(300)]

    async def work(inner):
        for id_ in ids:
            await inner.create_session(session_id=id_)
            await inner.append_record(id_, user(id_))

    await store.transaction(work)
    for id_ in [*ids, *ids[:3]]:
        assert [record.content for record in await store.list_records(id_)] == [id_]
    assert all(meta.version == 1 for meta in await store.list_sessions())
    await store.close()


async def test_a_cancelled_commit_is_either_stored_or_not(filled):
    store = await opened(filled)
    for at in range(12):
        task = asyncio.ensure_future(store.commit_turn("s", TurnCommit([user(f"c{at}")])))
        for _ in range(at):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    mine = [record.content for record in await store.list_records("s")]
    turns = (await store.get("s")).turn_count
    await store.close()
    assert await contents(filled) == mine
    assert turns == len(mine)


WRITER = """
import asyncio, sys
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import SessionRecord
from preset_engine.storage.open import open_storage

async def main(url, name):
    store = await open_storage(url)
    for at in range(15):
        records = [SessionRecord("user", f"{name} {at}"), SessionRecord("assistant", f"{name} {at}")]
        await store.commit_turn("s", TurnCommit(records))
        if at % 5 == 0:
            await store.create_session(parent_id="s")
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


def start_writer(folder, name):
    command = [sys.executable, "-c", WRITER, f"files:{folder}", str(name)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)})


async def test_several_processes_on_one_session_lose_and_tear_nothing(folder):
    store = await opened(folder)
    await store.create_session(session_id="s")
    writers = [start_writer(folder, name) for name in range(3)]
    while any(writer.poll() is None for writer in writers):
        records = await store.list_records("s")
        assert len(records) % 2 == 0
        await asyncio.sleep(0.02)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    records = await store.list_records("s")
    assert [record.number for record in records] == list(range(1, 91))
    assert all(one.content == two.content for one, two in zip(records[::2], records[1::2]))
    assert sorted(node.index for node in await store.list_all() if node.parent_id) == list(range(9))
    assert (await store.get("s")).turn_count == 45
    await store.close()


# ---- damage that is not a writer's ----


def turned_line_ends(data):
    return data.replace(b"\n", b"\r\n")


def edited_last_line(data):
    return data.replace(b"three", b"drei!")


def two_bad_lines_at_the_end(data):
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:-2], b"x" + lines[-2], b"x" + lines[-1]])


def line_of_another_session(data):
    return data + encode_line({"meta": {"id": "other", "label": "x"}, "ops": []})


def change_of_a_record_that_is_not_there(data):
    record = {"number": 99, "role": "user", "content": "x"}
    ops = [{"op": "record", "record": record}]
    return data + encode_line({"meta": {"id": "s", "label": "x"}, "ops": ops})


@pytest.mark.parametrize(
    "change",
    [
        turned_line_ends,
        edited_last_line,
        two_bad_lines_at_the_end,
        line_of_another_session,
        change_of_a_record_that_is_not_there,
    ],
)
async def test_what_no_killed_writer_leaves_is_damage_and_never_cut_off(filled, change):
    path = session_file(filled, "s")
    path.write_bytes(change(path.read_bytes()))
    before = path.read_bytes()
    store = await opened(filled)
    with pytest.raises(StorageFormat, match="damaged"):
        await store.list_records("s")
    with pytest.raises(StorageFormat, match="damaged"):
        await store.commit_turn("s", TurnCommit([user("four")]))
    await store.close()
    assert path.read_bytes() == before


async def test_a_lost_tree_is_said_and_nothing_is_written_over(filled):
    tree, path = filled / "tenants/default/tree.jsonl", session_file(filled, "s")
    before = path.read_bytes()
    tree.rename(filled / "tree.jsonl")
    with pytest.raises(StorageFormat, match="tree"):
        await opened(filled)
    (filled / "tree.jsonl").rename(tree)
    store = await opened(filled)
    tree.write_bytes(b"")
    with pytest.raises(StorageFormat, match="tree"):
        await store.transaction(lambda inside: make_and_fill(inside, "s"))
    await store.close()
    assert path.read_bytes() == before


async def make_and_fill(store, session_id):
    await store.create_session(session_id=session_id)
    await store.append_record(session_id, user("over it"))


@pytest.mark.parametrize("text", [b"\xff\xfe", b"[" * 100_000, b"{}", b'{"kind":"preset_engine'])
async def test_a_mark_that_is_none_is_refused(filled, text):
    (filled / "store.json").write_bytes(text)
    with pytest.raises(StorageFormat):
        await opened(filled)


@pytest.mark.parametrize("name", ["../../../victim", "/victim", "sessions/../../../../victim"])
async def test_an_undo_file_from_elsewhere_touches_nothing_outside(filled, name):
    victim = filled / "victim"
    victim.write_text("precious")
    name = str(victim) if name == "/victim" else name
    pending = filled / "tenants/default/pending.json"
    pending.write_text(json.dumps({name: 0}))
    store = await opened(filled)
    with pytest.raises(StorageFormat, match="damaged"):
        await store.list_records("s")
    await store.close()
    assert victim.read_text() == "precious"


async def test_an_undo_file_never_makes_a_file_longer(filled):
    path = session_file(filled, "s")
    before = path.read_bytes()
    (filled / "tenants/default/pending.json").write_text(json.dumps({"sessions/s.jsonl": 10**12}))
    assert await contents(filled) == ["one", "two", "three"]
    assert path.read_bytes() == before
