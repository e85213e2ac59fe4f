"""JSON at the border: what goes in, what comes out, and what happens when a stream is gone."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from preset_engine.cli.json_io import (
    MAX_BYTES,
    answer_line,
    parse_json,
    read_bytes,
    read_text,
    to_json,
)
from preset_engine.errors import InputTooLarge, UnreadableInput
from preset_engine.messages import JsonObject
from tests.cli.test_assemble import SCENARIO
from tests.program import run_program


def test_a_number_beyond_every_range_is_null_as_javascript_prints_it() -> None:
    value = {"a": [math.inf, -math.inf, {"b": math.nan}, 1.5]}
    assert json.loads(to_json(value)) == {"a": [None, None, {"b": None}, 1.5]}


def test_what_steers_a_terminal_is_escaped_and_means_the_same() -> None:
    value = {"\x9b31m": ["a\x85\u202eb\x7f", "\u2066文"]}
    text = to_json(value, ascii_only=False)
    assert json.loads(text) == value
    assert text == r'{"\u009b31m": ["a\u0085\u202eb\u007f", "\u2066文"]}'


def test_a_row_that_fails_is_named_and_leaves_the_next_alone() -> None:
    def answer(row: JsonObject) -> JsonObject:
        if row["id"] == 2:
            raise ZeroDivisionError("odd\nrow")
        return {"id": row["id"], "out": row["in"]}

    rows = (b'{"id": 1, "in": 5}', b'{"id": 2}', b"[]", b"\xff", b"{")
    made = [answer_line(row, "id", answer) for row in rows]
    assert made[0] == {"id": 1, "out": 5}
    assert made[1]["id"] == 2
    assert "ZeroDivisionError: odd row" in str(made[1]["error"])
    assert [row["id"] for row in made[2:]] == [None, None, None]
    assert all("\n" not in str(row["error"]) for row in made[1:])


def test_a_line_of_bad_bytes_fails_alone() -> None:
    good = json.dumps(SCENARIO).encode()
    done = run_program("assemble", "-", "--lines", given=good + b"\n\xff\xfe\n" + good)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (1, b"")
    assert [("error" in answer) for answer in answers] == [False, True, False]


def test_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputTooLarge, match="give a smaller file"):
        read_bytes(path)


def test_what_is_no_text_or_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf[]")
    assert read_text(path) == "[]"
    with pytest.raises(UnreadableInput, match="cannot be read"):
        read_text(tmp_path)
    with pytest.raises(UnreadableInput, match=r"a\.json: not JSON"):
        parse_json("[" * 100_000, "a.json")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "command", [("assemble", "-", "--lines"), ("assemble", "-"), ("expand",), ("expand", "--list")]
)
def test_an_output_that_is_full_is_one_line_and_status_2(command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = run_program(*command, given=json.dumps(SCENARIO).encode(), stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith(b"preset-engine: output: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("command", ["expand", "squash -", "assemble - --lines", "probe --json x"])
def test_closed_streams_give_no_traceback(command: str) -> None:
    shell = f'"{sys.executable}" -m preset_engine {command} <&- >&-'
    done = subprocess.run(["sh", "-c", shell], capture_output=True, timeout=60, check=False)
    assert b"Traceback" not in done.stderr
    assert done.returncode in {0, 2}


def test_a_file_name_cannot_steer_the_terminal() -> None:
    for command in ("assemble", "squash", "import", "probe"):
        done = run_program(command, "a\nb\x1b[31m\u202e", given=b"")
        assert done.stderr.count(b"\n") == 1
        assert b"\x1b" not in done.stderr
        assert "\u202e".encode() not in done.stderr


def test_a_device_without_an_end_is_no_preset() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("needs /dev/zero")
    done = run_program("import", "/dev/zero", given=b"")
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
