"""Tool groups are whole or absent."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.history.tool_groups import call_ids, clean_tool_groups, keep_whole_groups
from preset_engine.messages import ChatMessage
from tests import truth


def _message(record: dict[str, Any]) -> ChatMessage:
    return ChatMessage(
        record["role"],
        record["content"],
        tool_calls=tuple(record.get("toolCalls", ())),
        tool_call_id=record.get("toolCallId"),
    )


@truth.seeds("stello.tool_groups")
def test_incomplete_groups_go_and_complete_ones_stay(row: truth.Row) -> None:
    kept = keep_whole_groups([_message(record) for record in row["input"]["records"]])
    assert list(kept) == [_message(record) for record in row["expected"]["records"]]


def _asks(*ids: str) -> ChatMessage:
    return ChatMessage("assistant", "", tool_calls=tuple({"id": call} for call in ids))


def _answer(call: str | None) -> ChatMessage:
    return ChatMessage("tool", "ok", tool_call_id=call)


def test_a_history_without_tools_passes_as_it_is() -> None:
    messages = (ChatMessage("user", "a"), ChatMessage("assistant", "b"))
    assert clean_tool_groups(messages).messages is messages
    assert clean_tool_groups(messages).notes == ()


def test_answers_without_an_open_call_are_dropped_with_a_note() -> None:
    given_messages = [_asks("a"), _answer("a"), _answer("stranger"), _answer("a")]
    clean = clean_tool_groups(given_messages)
    assert clean.messages == (_asks("a"), _answer("a"))
    assert [note.code for note in clean.notes] == ["tool-answer-unmatched"] * 2
    assert [note.path for note in clean.notes] == ["history[2]", "history[3]"]


def test_an_incomplete_group_names_the_call_without_answer() -> None:
    clean = clean_tool_groups([ChatMessage("user", "q"), _asks("a", "b"), _answer("a")])
    assert clean.messages == (ChatMessage("user", "q"),)
    assert clean.notes[0].code == "tool-group-incomplete"
    assert "'b'" in clean.notes[0].message
    assert clean.notes[0].count == 2


def test_a_call_without_an_id_makes_a_group_incomplete() -> None:
    broken = ChatMessage("assistant", "", tool_calls=({"type": "function"},))
    assert keep_whole_groups([broken, _answer(None)]) == ()


_ids = st.sampled_from(["a", "b", "c"])
_records = st.lists(
    st.one_of(
        st.sampled_from(["user", "assistant", "system"]).map(lambda role: ChatMessage(role, "x")),
        st.lists(_ids, min_size=1, max_size=3).map(lambda ids: _asks(*ids)),
        st.one_of(_ids, st.none()).map(_answer),
    ),
    max_size=12,
)


@given(_records)
def test_what_is_left_is_linked_and_cleaning_again_changes_nothing(
    records: list[ChatMessage],
) -> None:
    clean = clean_tool_groups(records).messages
    open_calls: set[str] = set()
    for message in clean:
        if message.role == "tool":
            assert message.tool_call_id in open_calls
            open_calls.discard(message.tool_call_id)
            continue
        assert not open_calls
        open_calls = set(call_ids(message))
    assert not open_calls
    assert clean_tool_groups(clean) == type(clean_tool_groups(clean))(clean)
    assert keep_whole_groups(keep_whole_groups(records)) == keep_whole_groups(records)
