"""History text to turns and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.characters import JS_SPACE
from preset_engine.errors import AssemblyError
from preset_engine.history.heads import HeadForm
from preset_engine.history.parse import (
    append_turn,
    fallback_history,
    parse_history,
    print_history,
)
from preset_engine.history.projection import project_history
from preset_engine.messages import ChatMessage, JsonObject
from tests import truth


@truth.seeds("seed.parse_history")
def test_a_history_text_becomes_turns_and_preamble(row: truth.Row) -> None:
    parsed = parse_history(row["input"]["text"])
    expected = row["expected"]
    assert [message.to_json() for message in parsed.messages] == expected["messages"]
    assert (parsed.preamble or None) == expected["preamble"]


@truth.seeds("wa.history_append")
def test_appending_writes_the_heading_form(row: truth.Row) -> None:
    turn = row["input"]["turn"]
    text = append_turn(row["input"]["existing"], turn["role"], turn["text"])
    assert text == row["expected"]["text"]


@truth.seeds("wa.history_fallback")
def test_a_missing_history_falls_back(row: truth.Row) -> None:
    given_texts = row["input"]
    text = fallback_history(
        given_texts.get("dialogueHistory", ""),
        given_texts.get("eventStream", ""),
        given_texts.get("latestUser", ""),
    )
    assert text == row["expected"]["text"]


@truth.seeds("wa.history_projection")
def test_an_old_projection_keeps_the_newest_blocks(row: truth.Row) -> None:
    projected = project_history(row["input"]["text"], row["input"]["projection"])
    notice = row["expected"]["notice"]
    assert projected.body == row["expected"]["body"]
    assert projected.notice == (notice and notice["kind"])
    assert projected.kept_blocks == (notice or {}).get("kept", 0)


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("## User\n\nknock\n\n## Assistant\n\nrain", [("user", "knock"), ("assistant", "rain")]),
        ("User: knock\nAssistant: rain", [("user", "knock"), ("assistant", "rain")]),
        ("【user】knock\n【SYSTEM】dark", [("user", "knock"), ("system", "dark")]),
        ("用户：一\n二\n\n三", [("user", "一\n二\n\n三")]),
        ("## 用户\n\n看：\n## 小标题\n\nx", [("user", "看：\n## 小标题\n\nx")]),
        ("用户：说「用户：」", [("user", "说「用户：」")]),
        ("用户：a\n 助手：b", [("user", "a\n 助手：b")]),
        ("用户：a\nuser: b", [("user", "a\nuser: b")]),
    ],
)
def test_heads_count_only_at_the_start_of_a_line(text: str, turns: list[tuple[str, str]]) -> None:
    parsed = parse_history(text)
    assert [(message.role, message.text) for message in parsed.messages] == turns


def test_text_before_the_first_head_is_preamble() -> None:
    parsed = parse_history("很久以前。\n\n用户：推门")
    assert parsed.preamble == "很久以前。"
    assert parsed.messages == (ChatMessage("user", "推门"),)


def test_a_fallback_shows_events_before_the_newest_input() -> None:
    assert fallback_history("", " 雨停 ", "推门") == "## 事件流\n\n雨停\n\n## 用户\n\n推门"
    assert fallback_history("", "雨停", " ") == "## 事件流\n\n雨停"


def test_appended_turns_read_back() -> None:
    text = append_turn(append_turn("", "user", "推门"), "助手", "用户：这行不是头")
    turns = [(message.role, message.text) for message in parse_history(text).messages]
    assert turns == [("user", "推门"), ("assistant", "用户：这行不是头")]


def test_a_role_without_a_head_is_refused_by_name() -> None:
    with pytest.raises(AssemblyError, match="'tool'"):
        append_turn("", "tool", "result")
    assert append_turn("x", "tool", " ") == "x"


_lines = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12),
    st.sampled_from(
        ["用户：x", "## 助手", "【系统】", "\\用户：y", "\\\\## 用户", "User: z", "", "  "]
    ),
)
_bodies = st.lists(_lines, min_size=1, max_size=4).map("\n".join)
_turns = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), _bodies), max_size=6)


@given(turns=_turns, preamble=_bodies, form=st.sampled_from(HeadForm), english=st.booleans())
def test_printed_turns_read_back(
    turns: list[tuple[str, str]], preamble: str, form: HeadForm, english: bool
) -> None:
    messages = [ChatMessage(role, body) for role, body in turns]
    text = print_history(messages, preamble, form, english=english).text
    again = parse_history(text)
    kept = [ChatMessage(role, clean) for role, body in turns if (clean := body.strip(JS_SPACE))]
    assert [(m.role, m.text) for m in again.messages] == [(m.role, m.text) for m in kept]
    assert print_history(again.messages, again.preamble, form, english=english).text == text


def test_what_a_text_cannot_hold_is_noted() -> None:
    call: JsonObject = {"id": "c1", "function": {"name": "roll", "arguments": "{}"}}
    printed = print_history(
        [
            ChatMessage("user", "roll"),
            ChatMessage("assistant", None, tool_calls=(call,)),
            ChatMessage("tool", "6", tool_call_id="c1"),
        ]
    )
    assert printed.text == "## 用户\n\nroll"
    assert [(note.code, note.count) for note in printed.notes] == [
        ("transcript-text-incomplete", 2)
    ]


@pytest.mark.parametrize("level", ["fixed", "fields", "summary", "full", None])
def test_a_projection_of_nothing_is_empty(level: str | None) -> None:
    assert project_history(" \n ", level).body == ""


def test_a_projection_says_in_words_what_is_missing() -> None:
    projected = project_history("\n".join(f"line {n}" for n in range(7)), "fields")
    assert projected.text.endswith("line 5\n\nline 6")
    assert "5" in projected.text.split("\n")[0]
