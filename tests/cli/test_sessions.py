"""`preset-engine sessions`: what is stored, shown to people and machines."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner

from preset_engine.cli.app import build
from preset_engine.errors import PresetEngineError
from preset_engine.llm.request import ToolCall
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import SessionRecord
from preset_engine.storage.open import open_storage
from tests.program import run_program
from tests.storage.conftest import make_place


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(*words, text=None, env=None):
    """Run the command in this process; errors of ours become status and line as in `main`."""
    done = CliRunner().invoke(build(), ["sessions", *map(str, words)], input=text, env=env)
    if isinstance(done.exception, PresetEngineError):
        return Done(2, done.stdout, f"preset-engine: {done.exception}\n")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def answer(*words):
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


async def fill(url):
    store = await open_storage(url)
    await store.create_session(session_id="root-1", label="Harbour [bold]")
    await store.create_session(session_id="child-1", parent_id="root-1", label="Pier")
    call = ToolCall("c1", "scan", {})
    reply = SessionRecord("assistant", "Evening.\x1b[31m", tool_calls=(call,))
    await store.commit_turn("root-1", TurnCommit([SessionRecord("user", "Hello."), reply]))
    stored = (await store.list_records("root-1"))[1]
    await store.replace_record("root-1", stored.with_alternative("Good evening."))
    await store.put_memory("root-1", "was greeted")
    await store.close()


@pytest.fixture(params=["files", "sqlite"])
def url(request, tmp_path):
    place = make_place(request.param, tmp_path)
    asyncio.run(fill(place.url))
    return place.url


def test_the_list_names_sessions_with_status_and_turns(url):
    listed = answer("list", "--store", url)
    assert [(row["id"], row["turn_count"]) for row in listed] == [("root-1", 1), ("child-1", 0)]
    done = run("list", "--store", url)
    assert "Harbour [bold]" in done.stdout
    assert answer("list", "--store", url, "--status", "archived") == []
    assert answer("list", "--store", url, "--tenant", "stranger") == []


def test_a_session_is_shown_by_the_beginning_of_its_id(url):
    shown = answer("show", "root", "--store", url)
    assert shown["meta"]["id"] == "root-1"
    assert shown["slots"] == {"memory": "was greeted"}
    assert [record["content"] for record in shown["records"]] == ["Hello.", "Good evening."]
    assert len(answer("show", "root-1", "--store", url, "--last", 1)["records"]) == 1
    done = run("show", "root", "--store", url)
    for words in ("Harbour [bold]", "swipe 2/2", "Good evening.", "calls scan", "was greeted"):
        assert words in done.stdout
    assert "\x1b[31m" not in done.stdout


def test_the_tree_nests(url):
    (root,) = answer("tree", "--store", url)
    assert [child["label"] for child in root["children"]] == ["Pier"]
    done = run("tree", "--store", url)
    assert done.stdout.index("Harbour") < done.stdout.index("Pier")


def test_trim_and_archive_change_the_session(url):
    assert answer("trim", "root-1", "--keep", 1, "--store", url)["removed"] == 1
    assert answer("archive", "root-1", "--store", url)["status"] == "archived"
    shown = answer("show", "root-1", "--store", url)
    assert (shown["meta"]["status"], shown["record_count"]) == ("archived", 1)


def test_an_export_is_imported_elsewhere_unchanged(url, tmp_path):
    out, other = tmp_path / "all.jsonl", f"sqlite:{tmp_path / 'other.db'}"
    assert run("export", "--out", out, "--store", url).returncode == 0
    assert answer("import", out, "--store", other) == {"sessions": 2}
    assert run("export", "--store", other).stdout == out.read_text("utf-8")
    piped = run(
        "import", "-", "--store", f"files:{tmp_path / 'third'}", text=out.read_text("utf-8")
    )
    assert "2 sessions imported" in piped.stdout
    again = run("import", out, "--store", other)
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "already stored" in again.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["show", "ghost"], "no session 'ghost'"),
        (["list", "--status", "odd"], "no status 'odd'"),
        (["import", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
        (["export", "--out", "/nowhere/x"], "cannot write /nowhere/x"),
        (["trim", "", "--keep", "1"], "no session ''"),
    ],
)
def test_wrong_use_ends_with_status_2_and_one_line(tmp_path, words, why):
    done = run(*words, "--store", f"sqlite:{tmp_path / 's.db'}")
    assert done.returncode == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_two_sessions_that_begin_alike_are_not_guessed(tmp_path):
    url = f"sqlite:{tmp_path / 's.db'}"

    async def make():
        store = await open_storage(url)
        for name in ("abc1", "abc2"):
            await store.create_session(session_id=name)
        await store.close()

    asyncio.run(make())
    done = run("show", "abc", "--store", url)
    assert done.returncode == 2
    assert "2 sessions begin with 'abc'" in done.stderr


def test_the_store_can_come_from_the_environment(url):
    done = run("list", "--json", env={"PRESET_ENGINE_STORE": url})
    assert len(json.loads(done.stdout)) == 2


def test_a_refusal_of_the_program_itself_is_one_line_and_status_2(tmp_path):
    done = run_program("sessions", "show", "ghost", "--store", f"sqlite:{tmp_path / 's.db'}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "preset-engine: no session 'ghost' here; `sessions list` shows the ids\n"


def test_a_fork_starts_empty_or_with_the_records(url):
    empty = answer("fork", "root", "--store", url, "--label", "Empty")
    assert (empty["label"], empty["record_count"]) == ("Empty", 0)
    copy = answer("fork", "root", "--store", url, "--context", "inherit", "--id", "copy")
    assert (copy["id"], copy["label"], copy["parent_id"]) == ("copy", "Harbour [bold]", "root-1")
    # The reply's call was never answered, so its group is not inherited.
    assert [r["content"] for r in answer("show", "copy", "--store", url)["records"]] == ["Hello."]
    under = answer("fork", "root-1", "--store", url, "--parent", "child", "--opening", "Well?")
    assert (under["parent_id"], under["source_session_id"]) == ("child-1", "root-1")
    assert (under["record_count"], under["turn_count"]) == (1, 0)
    done = run("fork", "root-1", "--store", url)
    assert done.returncode == 0
    assert "starts from root-1 with 0 records" in done.stdout


@pytest.mark.parametrize(
    "words", [("--context", "compress"), ("--id", "child-1"), ("--parent", "nobody")]
)
def test_a_fork_that_cannot_be_is_one_line(url, words):
    before = answer("list", "--store", url)
    done = run("fork", "root-1", "--store", url, *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert answer("list", "--store", url) == before


def test_digests_hold_memory_and_unread_insight(url):
    asyncio.run(put_insight(url))
    found = answer("digest", "--store", url)
    assert [(row["id"], row["memory"], row["insight"]) for row in found] == [
        ("root-1", "was greeted", None),
        ("child-1", None, "go on"),
    ]
    assert answer("digest", "--store", url, "--status", "archived") == []
    done = run("digest", "--store", url)
    assert "was greeted" in done.stdout
    assert run("digest", "--store", url, "--status", "odd").returncode == 2


async def put_insight(url):
    store = await open_storage(url)
    await store.put_insight("child-1", "go on")
    await store.close()


@pytest.mark.full
def test_a_chain_of_two_thousand_generations_is_shown(tmp_path):
    place = make_place("sqlite", tmp_path)
    asyncio.run(chain(place.url, 2000))
    done = run("tree", "--json", "--store", place.url)
    assert done.returncode == 0
    assert done.stdout.count('"children": [{') == 1999
    assert done.stdout.startswith('[{"id": "s0", "label": "\\"children\\": []"')
    assert done.stdout.endswith("]}" * 2000 + "]\n")
    assert run("tree", "--store", place.url).returncode == 0


async def chain(url, length):
    async def work(store):
        above = None
        for place in range(length):
            label = '"children": []'
            node = await store.create_session(session_id=f"s{place}", parent_id=above, label=label)
            above = node.id

    store = await open_storage(url)
    await store.transaction(work)
    (root,) = await store.get_tree()
    assert root.to_json()["id"] == "s0"
    await store.close()


def piped(*words, text=b"", encoding="ascii"):
    """The program itself, with streams of another encoding than UTF-8."""
    env = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "preset_engine", "sessions", *words]
    return subprocess.run(
        command, input=text, env=env, capture_output=True, timeout=60, check=False
    )


def test_an_export_through_pipes_loses_no_character(tmp_path):
    here, there = (make_place("sqlite", tmp_path / name).url for name in ("here", "there"))
    asyncio.run(fill_with(here, "Grüße 你好 \U0001f600"))
    done = piped("export", "--store", here)
    assert "你好" in done.stdout.decode()
    assert piped("import", "-", "--store", there, text=done.stdout).returncode == 0
    assert [row["label"] for row in answer("list", "--store", there)] == ["Grüße 你好 \U0001f600"]


async def fill_with(url, label):
    store = await open_storage(url)
    await store.create_session(label=label)
    await store.close()


def test_a_reader_that_leaves_early_is_no_failure(tmp_path):
    place = make_place("sqlite", tmp_path)
    asyncio.run(chain(place.url, 2000))
    command = [sys.executable, "-m", "preset_engine", "sessions", "export", "--store", place.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.readline()
        program.stdout.close()
        assert (program.wait(60), program.stderr.read()) == (0, b"")
