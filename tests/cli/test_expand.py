"""`preset-engine expand` as a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from preset_engine.cli.expand import register
from preset_engine.errors import PresetEngineError
from preset_engine.macros.registry import default_registry
from tests import truth
from tests.program import run_program

SCENARIO = {
    "now": "2026-02-03T16:00:00Z",
    "inputs": {
        "card": {"data": {"name": "Iva"}},
        "persona": {"name": "Jon"},
        "settings": {"chat_metadata": {"variables": {"n": "1"}}},
    },
}


def invoke(*arguments: str, given: bytes = b"") -> Result:
    """The command in this process."""
    app = typer.Typer()
    register(app)
    app.callback()(lambda: None)
    return CliRunner().invoke(app, ["expand", *arguments], input=given)


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(SCENARIO), "utf-8")
    return str(path)


def test_the_whole_of_standard_input_is_one_text(scenario: str) -> None:
    done = run_program(
        "expand", "--scenario", scenario, given="{{user}},\r\n{{char}} 文 {{x}}\n".encode()
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == "Jon,\r\nIva 文 {{x}}\n".encode()


def test_a_row_a_line_is_answered_in_order(scenario: str) -> None:
    rows: list[Any] = [
        {"id": "a", "input": "{{incvar::n}}"},
        {"id": "b", "input": "{{getvar::n}} 文"},
        {"id": "c"},
        {"id": "d", "input": "{{space::99999999999}}"},
        {"id": "e", "input": "{{getvar::m}}", "options": {"local": {"m": "x"}}},
    ]
    lines = [json.dumps(row) for row in rows]
    lines.insert(1, "{broken")
    done = invoke("--scenario", scenario, "--lines", given="\n".join(lines).encode())
    answers = [json.loads(line) for line in done.stdout_bytes.decode("ascii").splitlines()]
    assert done.exit_code == 1
    assert [answer.get("id") for answer in answers] == ["a", None, "b", "c", "d", "e"]
    assert answers[0] == {"id": "a", "output": "2", "local_after": {"n": 2}}
    assert [("error" in answer) for answer in answers] == [False, True, False, True, True, False]
    assert answers[2]["output"] == "1 文"


def test_json_tells_variables_volatility_and_notes(scenario: str) -> None:
    done = invoke("--scenario", scenario, "--json", given=b"{{setvar::k::v}}{{time}}{{foo}}")
    answer = json.loads(done.stdout)
    assert answer["output"] == "4:00 PM{{foo}}"
    assert answer["local_after"] == {"n": "1", "k": "v"}
    assert answer["volatile"] is True
    assert [note["code"] for note in answer["notes"]] == ["unknown-macro"]


@pytest.mark.parametrize(("engine", "value"), [("new", b"4"), ("legacy", b"{{.n = 4}}{{.n}}")])
def test_the_engine_can_be_chosen(scenario: str, engine: str, value: bytes) -> None:
    done = invoke("--scenario", scenario, "--engine", engine, given=b"{{.n = 4}}{{.n}}")
    assert done.stdout_bytes == value


def test_the_list_is_the_registry() -> None:
    done = invoke("--list", "--json", "--engine", "new")
    names = {entry["name"] for entry in json.loads(done.stdout)}
    assert names == {macro.name for macro in default_registry() if macro.names("new")}  # type: ignore[arg-type]
    assert "{{setvar::name::value}}" in invoke("--list", "--json", "--engine", "native").stdout


def test_the_list_is_a_table_for_people() -> None:
    assert "{{lastUserMessage}}" in invoke("--list", "--engine", "native").stdout


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (["--engine", "old"], b"", "--engine is one of new, legacy, native"),
        (["--scenario", "/nowhere/s.json"], b"", "/nowhere/s.json: cannot be read"),
        ([], b"\xff\xfe", "standard input: not UTF-8 text"),
        ([], b"{{space::99999999999}}", "standard input, character 0"),
    ],
)
def test_wrong_use_is_an_error_of_ours(arguments: list[str], given: bytes, said: str) -> None:
    error = invoke(*arguments, given=given).exception
    assert isinstance(error, PresetEngineError)
    assert said in str(error)


def test_an_error_is_one_line_and_status_two() -> None:
    done = run_program("expand", "--engine", "old", given=b"")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


def test_the_table_of_captures_runs_as_a_filter() -> None:
    golden = truth.folder("golden")
    table = golden / "macro_table.jsonl"
    if not table.is_file():
        pytest.skip("the folder of PRESET_ENGINE_GOLDEN is absent")
    given = table.read_bytes()
    for engine in ("new", "legacy"):
        where = str(golden / "macro_environment.json")
        done = invoke("--scenario", where, "--lines", "--engine", engine, given=given)
        answers = [json.loads(line) for line in done.stdout_bytes.decode("ascii").splitlines()]
        rows = [json.loads(line) for line in given.decode().splitlines()]
        assert answers == [{"id": row["id"], **row[engine]} for row in rows]
        assert done.exit_code == 0
