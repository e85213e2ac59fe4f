"""Anthropic's shape and the cache marks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.messages import ChatMessage, JsonObject
from preset_engine.squash.anthropic_shape import to_anthropic
from preset_engine.squash.cache_marks import mark_messages, mark_places
from preset_engine.squash.names import Names
from tests import truth
from tests.squash.made import IMAGE, message_lists


@truth.cases("cache-markers")
def test_a_reported_fault_is_not_ours(row: truth.Row) -> None:
    marked = mark_messages(row["input"]["messages"], row["input"]["depth"])
    found = [number for number, message in enumerate(marked) if "cache_control" in str(message)]
    assert found == row["expected"]["marked"]


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def test_leading_system_messages_become_blocks_and_later_ones_the_users() -> None:
    shape = to_anthropic(
        [
            ChatMessage("system", "A"),
            ChatMessage("system", "hi", "example_user"),
            ChatMessage("user", "u"),
            ChatMessage("system", "B"),
            ChatMessage("assistant", "c", "Mira"),
        ],
        names=Names("Mira", "Noa"),
        prefill="So ",
    )
    assert shape.system == [_text("A"), _text("Noa: hi")]
    assert shape.messages == [
        {"role": "user", "content": [_text("u"), _text("B")]},
        {"role": "assistant", "content": [_text("Mira: c"), _text("So")]},
    ]


def test_tools_become_parts_or_texts() -> None:
    function: JsonObject = {"name": "roll", "arguments": '{"sides": 6}'}
    messages = [
        ChatMessage("user", "roll"),
        ChatMessage("assistant", None, tool_calls=({"id": "c", "function": function},)),
        ChatMessage("tool", "4", tool_call_id="c"),
    ]
    with_tools = to_anthropic(messages).messages
    assert with_tools[1:] == [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c", "name": "roll", "input": {"sides": 6}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": "4"}],
        },
    ]
    without = to_anthropic(messages, use_tools=False).messages
    assert without[1:] == [
        {"role": "assistant", "content": [_text('{"sides":6}')]},
        {"role": "user", "content": [_text("4")]},
    ]


@pytest.mark.parametrize(("arguments", "read"), [("", {}), ("{", {"arguments": "{"}), (None, {})])
def test_arguments_that_are_no_json_are_handed_on(arguments: str | None, read: JsonObject) -> None:
    call: JsonObject = {"id": "c", "function": {"name": "f", "arguments": arguments}}
    shape = to_anthropic([ChatMessage("assistant", None, tool_calls=(call,))])
    assert shape.messages[0]["content"] == [
        {"type": "tool_use", "id": "c", "name": "f", "input": read}
    ]


def test_an_assistants_image_moves_to_the_next_user_message() -> None:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
    }
    linked: JsonObject = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    shape = to_anthropic(
        [
            ChatMessage("assistant", (_text("here"), IMAGE)),
            ChatMessage("user", "thanks"),
            ChatMessage("assistant", (linked,)),
        ]
    )
    assert shape.messages == [
        {"role": "assistant", "content": [_text("here")]},
        {"role": "user", "content": [_text("thanks"), image]},
        {"role": "assistant", "content": []},
        {
            "role": "user",
            "content": [
                {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}}
            ],
        },
    ]


def test_system_messages_alone_get_a_placeholder() -> None:
    shape = to_anthropic([ChatMessage("system", "A")], placeholder="go")
    assert shape.messages == [{"role": "user", "content": [_text("go")]}]


@pytest.mark.parametrize(
    ("roles", "depth", "places"),
    [
        ("uaua", 0, [2, 0]),
        ("uauau", 0, [4, 2]),
        ("uauau", 1, [3, 1]),
        ("suauus", 0, [4, 1]),
        ("uas", 0, [1]),
        ("ua", 4, []),
        ("ua", -1, []),
        ("aaa", 0, []),
    ],
)
def test_marks_count_switches_of_the_speaker(roles: str, depth: int, places: list[int]) -> None:
    names = {"u": "user", "a": "assistant", "s": "system"}
    assert mark_places([names[role] for role in roles], depth) == places


@pytest.mark.parametrize("content", [[], ["text"], [{"type": "text"}, None]])
def test_a_message_without_a_last_part_that_is_an_object_stays_unmarked(content: Any) -> None:
    messages: list[JsonObject] = [{"role": "user", "content": content}]
    assert mark_messages(messages, 0) == messages


@given(message_lists, st.integers(-1, 4), st.booleans(), st.booleans())
def test_the_shape_has_two_roles_in_turn_and_marks_change_nothing_in_place(
    messages: list[ChatMessage], depth: int, use_system: bool, use_tools: bool
) -> None:
    shape = to_anthropic(messages, use_system_prompt=use_system, use_tools=use_tools)
    roles = [message["role"] for message in shape.messages]
    assert set(roles) <= {"user", "assistant"}
    assert all(first != second for first, second in pairwise(roles))
    before = repr(shape.messages)
    marked = mark_messages(shape.messages, depth)
    assert repr(shape.messages) == before
    assert sum("cache_control" in str(message) for message in marked) <= 2
