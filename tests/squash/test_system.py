"""The boolean `squash_system_messages`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.messages import ChatMessage, parse_messages
from preset_engine.squash.system import shape_system, squash_messages, squash_system
from tests import truth
from tests.squash.made import draft, drafted, message_lists, rebuilds, told


@truth.seeds("st.squash_system_messages")
def test_neighbouring_system_messages_join_as_in_sillytavern(row: truth.Row) -> None:
    squashed = squash_messages(parse_messages(row["input"]["messages"]))
    assert [message.to_json() for message in squashed] == row["expected"]["messages"]


@truth.cases("squash")
def test_a_reported_fault_is_not_ours(row: truth.Row) -> None:
    squashed = squash_messages(parse_messages(row["input"]["messages"]))
    assert [message.to_json() for message in squashed] == row["expected"]["messages"]


def test_fixed_messages_stay_apart() -> None:
    drafts = [
        draft("system", "A"),
        draft("system", "[Start]", is_fixed=True),
        draft("system", ""),
        draft("system", "B"),
        draft("system", "C"),
    ]
    squashed = squash_system(drafts)
    assert told(one.message for one in squashed) == [
        ("system", "A"),
        ("system", "[Start]"),
        ("system", "B\nC"),
    ]
    assert [(p.origin.kind.value, p.text) for p in squashed[2].pieces] == [
        ("entry", "B"),
        ("joiner", "\n"),
        ("entry", "C"),
    ]


def test_blank_system_messages_stay_and_empty_ones_go() -> None:
    squashed = squash_messages([ChatMessage("system", " "), ChatMessage("system", "")])
    assert told(squashed) == [("system", " ")]


def test_an_empty_message_does_not_part_two_others() -> None:
    drafts = [draft("system", "A"), draft("system", "", "named"), draft("system", "B")]
    assert told(one.message for one in squash_system(drafts)) == [("system", "A\nB")]


@given(message_lists, st.sets(st.integers(0, 7)))
def test_squashing_twice_changes_nothing_and_pieces_rebuild(
    messages: list[ChatMessage], fixed: set[int]
) -> None:
    shaped = shape_system(messages, fixed)
    drafts = list(shaped.drafts(drafted(messages)))
    assert [one.message for one in drafts] == shaped.messages()
    assert rebuilds(drafts)
    once = squash_messages(messages)
    assert squash_messages(once) == once


@given(message_lists)
def test_nobody_but_the_system_is_touched(messages: list[ChatMessage]) -> None:
    others = [message for message in messages if message.role != "system"]
    squashed = [message for message in squash_messages(messages) if message.role != "system"]
    assert all(after is before for after, before in zip(squashed, others, strict=True))
