"""`preset-engine squash` as a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preset_engine.cli.squash import answer_row
from preset_engine.errors import InputRefused
from preset_engine.messages import JsonObject, JsonValue
from tests import truth
from tests.program import run_program

MESSAGES = [
    {"role": "system", "content": "A"},
    {"role": "system", "content": "B"},
    {"role": "assistant", "content": "hi"},
]


def _differs(found: Any, expected: Any) -> bool:
    """Whether an answer is not the captured one; where SillyTavern fails any answer will do."""
    is_fault = isinstance(expected, dict) and (
        "throws" in expected or "leaks_random_placeholder" in expected
    )
    return not is_fault and found != expected


@truth.table("postprocess_table.jsonl", "postprocess_table", key="kind")
def test_a_row_is_answered_as_sillytavern_does(row: truth.Row) -> None:
    answer = answer_row({key: value for key, value in row.items() if not key.startswith("out")})
    assert answer["id"] == row["id"]
    if row["kind"] == "post_process":
        out: Any = answer["out"]
        assert out.keys() == row["out"].keys()
        assert [
            mode for mode, expected in row["out"].items() if _differs(out[mode], expected)
        ] == []
        return
    assert not _differs(answer["out"], row["out"])
    if "out_cached_messages" in row and not (
        isinstance(row["out"], dict) and row["out"].get("throws")
    ):
        assert not _differs(answer["out_cached_messages"], row["out_cached_messages"])


def test_a_list_is_shaped_with_the_chosen_mode() -> None:
    done = run_program("squash", "--mode", "strict", "--json", given=json.dumps(MESSAGES))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [
        {"role": "system", "content": "A\n\nB"},
        {"role": "user", "content": "[Start a new chat]"},
        {"role": "assistant", "content": "hi"},
    ]


def test_the_boolean_joins_system_messages_only(tmp_path: Path) -> None:
    source = tmp_path / "messages.json"
    source.write_text(json.dumps({"messages": MESSAGES}), "utf-8")
    done = run_program("squash", str(source), "--system", given="")
    assert json.loads(done.stdout) == [
        {"role": "system", "content": "A\nB"},
        {"role": "assistant", "content": "hi"},
    ]


def test_each_line_gets_one_answer_and_a_bad_one_ends_with_status_1() -> None:
    rows = [
        {"id": "a", "kind": "openai_shape_cache", "messages": MESSAGES[:1], "caching_at_depth": 0},
        {"id": "b", "kind": "other", "messages": []},
        {"id": "c", "kind": "post_process", "messages": [1]},
    ]
    done = run_program("squash", "--lines", given="\n".join(map(json.dumps, rows)) + "\n{\n")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == ["a", "b", "c", None]
    assert ["error" in answer for answer in answers] == [False, True, True, True]
    assert done.returncode == 1
    assert done.stdout.isascii()


@pytest.mark.parametrize("given", ["", "{}", "[1]", "\x00"])
def test_unreadable_input_is_one_line_and_status_2(given: str) -> None:
    done = run_program("squash", given=given)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_mode_is_named() -> None:
    done = run_program("squash", "--mode", "strictest", given="[]")
    assert done.returncode == 2
    assert "'strictest'" in done.stderr


def test_a_missing_text_and_a_null_one_stay_apart_in_system_blocks() -> None:
    messages: list[JsonValue] = [{"role": "system"}, {"role": "system", "content": None}]
    row: JsonObject = {"kind": "claude", "use_system_prompt": True, "messages": messages}
    out: Any = answer_row(row)["out"]
    assert out["systemPrompt"] == [{"type": "text"}, {"type": "text", "text": None}]


def test_a_row_without_a_kind_is_refused() -> None:
    with pytest.raises(InputRefused, match="kind"):
        answer_row({"id": "x"})
