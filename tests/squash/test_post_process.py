"""The modes of `custom_prompt_post_processing`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.errors import AssemblyError
from preset_engine.messages import ChatMessage, OriginKind, parse_messages
from preset_engine.squash.mode import Mode, mode_of
from preset_engine.squash.names import Names
from preset_engine.squash.post_process import post_process, shape
from tests import truth
from tests.squash.made import (
    IMAGE,
    draft,
    drafted,
    full_lists,
    message_lists,
    plain_lists,
    rebuilds,
    told,
)

NAMES = Names("Mira", "Noa", ("Lin",))


@truth.seeds("st.post_processing")
def test_a_mode_does_what_sillytavern_does(row: truth.Row) -> None:
    given_row = row["input"]
    names = Names(given_row["char_name"], given_row["user_name"])
    messages = parse_messages(given_row["messages"])
    shaped = post_process(messages, given_row["mode"], names, given_row["placeholder"])
    assert [message.to_json() for message in shaped] == row["expected"]["messages"]


@truth.cases("post-process")
def test_a_reported_fault_is_not_ours(row: truth.Row) -> None:
    given_row, expected = row["input"], row["expected"]
    placeholder = given_row.get("placeholder", "[Start a new chat]")
    shaped = post_process(
        parse_messages(given_row["messages"]), given_row["mode"], NAMES, placeholder
    )
    if "messages" in expected:
        assert [message.to_json() for message in shaped] == expected["messages"]
    if "tool_call_ids" in expected:
        calls = [call["id"] for message in shaped for call in message.tool_calls]
        assert calls == expected["tool_call_ids"]
    if "tool_results" in expected:
        answers = [message.tool_call_id for message in shaped if message.role == "tool"]
        assert answers == expected["tool_results"]


def test_names_become_prefixes_once() -> None:
    messages = [
        ChatMessage("system", "hello", "example_assistant"),
        ChatMessage("system", "Lin: hello", "example_assistant"),
        ChatMessage("system", "hi", "example_user"),
        ChatMessage("system", "plain", "other"),
        ChatMessage("user", "Tom: there", "Tom"),
        ChatMessage("assistant", "here", "Mira"),
    ]
    assert told(post_process(messages, "merge", NAMES)) == [
        ("system", "Mira: hello\n\nLin: hello\n\nNoa: hi\n\nplain"),
        ("user", "Tom: there"),
        ("assistant", "Mira: here"),
    ]


def test_single_makes_one_user_message_with_prefixes() -> None:
    messages = [
        ChatMessage("system", "S"),
        ChatMessage("user", "a"),
        ChatMessage("assistant", "Lin: b"),
        ChatMessage("assistant", "c", "Tom"),
    ]
    assert told(post_process(messages, "single", NAMES)) == [
        ("user", "S\n\nNoa: a\n\nLin: b\n\nMira: Tom: c")
    ]


def test_media_survive_joins_and_name_prefixes() -> None:
    messages = [ChatMessage("user", (IMAGE,), "Tom"), ChatMessage("user", "look")]
    assert told(post_process(messages, "merge", NAMES)) == [
        (
            "user",
            (
                {"type": "text", "text": "Tom: "},
                IMAGE,
                {"type": "text", "text": "look"},
            ),
        )
    ]


def test_a_placeholder_has_an_origin_of_its_own() -> None:
    shaped = post_process([draft("system", "S"), draft("assistant", "hi")], "strict")
    assert told(one.message for one in shaped) == [
        ("system", "S"),
        ("user", "[Start a new chat]"),
        ("assistant", "hi"),
    ]
    assert [piece.origin.kind for piece in shaped[1].pieces] == [OriginKind.PLACEHOLDER]


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.NONE])
def test_an_empty_list_becomes_a_placeholder(mode: Mode) -> None:
    nothing: list[ChatMessage] = []
    assert told(post_process(nothing, mode, NAMES, "go")) == [("user", "go")]


def test_the_source_of_a_joined_text_is_kept() -> None:
    shaped = post_process([draft("system", "A"), draft("system", "B"), draft("user", "c")], "merge")
    assert [(piece.origin.kind.value, piece.text) for piece in shaped[0].pieces] == [
        ("entry", "A"),
        ("joiner", "\n\n"),
        ("entry", "B"),
    ]


def test_unchanged_messages_are_the_same_objects() -> None:
    messages = [ChatMessage("user" if n % 2 else "assistant", str(n)) for n in range(1, 9)]
    shaped = post_process(messages, "strict")
    assert all(after is before for after, before in zip(shaped, messages, strict=True))
    assert len(shape(messages, "strict").parts) == 1


def test_an_unknown_mode_is_refused_by_name() -> None:
    with pytest.raises(AssemblyError, match=r"'tight'.*strict"):
        mode_of("tight")
    assert (mode_of(""), mode_of("claude")) == (Mode.NONE, Mode.MERGE)


_modes = st.sampled_from(list(Mode))


@given(message_lists, _modes)
def test_drafts_and_messages_are_shaped_alike_and_pieces_rebuild_them(
    messages: list[ChatMessage], mode: Mode
) -> None:
    shaped = shape(messages, mode, NAMES, "go")
    drafts = list(shaped.drafts(drafted(messages)))
    assert [one.message for one in drafts] == shaped.messages()
    assert rebuilds(drafts)


@given(full_lists, st.sampled_from([mode for mode in Mode if mode is not Mode.SINGLE]))
def test_shaping_twice_is_shaping_once(messages: list[ChatMessage], mode: Mode) -> None:
    # Empty messages are kept apart in one pass and joined in the next, as in SillyTavern.
    once = post_process(messages, mode, NAMES, "go")
    assert post_process(once, mode, NAMES, "go") == once


@given(full_lists)
def test_single_without_names_twice_is_once(messages: list[ChatMessage]) -> None:
    once = post_process(messages, Mode.SINGLE)
    assert post_process(once, Mode.SINGLE) == once


@given(plain_lists, st.sampled_from([Mode.STRICT, Mode.STRICT_TOOLS]))
def test_strict_lists_begin_as_a_strict_provider_wants(
    messages: list[ChatMessage], mode: Mode
) -> None:
    roles = [message.role for message in post_process(messages, mode)]
    assert "system" not in roles[1:]
    assert roles[:1] == ["user"] or roles[:2] == ["system", "user"]


@given(plain_lists, _modes)
def test_no_text_is_lost_but_for_tools(messages: list[ChatMessage], mode: Mode) -> None:
    whole = "".join(message.text for message in post_process(messages, mode, placeholder=""))
    assert whole.replace("\n\n", "") == "".join(m.text for m in messages).replace("\n\n", "")


@pytest.mark.parametrize("kind", [[], {"a": 1}, None, 5, True])
def test_a_part_whose_type_is_no_word_leaves_no_text(kind: object) -> None:
    messages = parse_messages([{"role": "user", "content": ["x", {"type": kind, "text": "y"}]}])  # type: ignore[dict-item]
    assert [message.text for message in post_process(messages, Mode.MERGE, NAMES)] == [""]


def test_a_long_run_of_one_role_is_walked_once() -> None:
    """Walking back from every message to the first of its run would take minutes here."""
    many = tuple(ChatMessage("user", "x") for _ in range(100_000))
    joined = post_process(many, Mode.MERGE, NAMES)
    assert [len(message.text) for message in joined] == [3 * 100_000 - 2]
