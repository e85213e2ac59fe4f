"""History records become messages; what was read once is not read again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.assembler.seen import shared_length
from preset_engine.assembler.turns import Style, clean_name, read_turns
from preset_engine.messages import ChatMessage, ChatRecord
from tests.assembler.generated import chats


def record(text, *, is_user=False, name="Mira", **extra):
    return ChatRecord(name, text, is_user, extra=extra)


def test_messages_that_need_no_change_are_the_same_objects():
    history = (ChatMessage("user", "a"), ChatMessage("assistant", "b"))
    assert all(a is b for a, b in zip(read_turns(history, Style()).messages, history, strict=True))


def test_a_hidden_record_is_left_out_and_a_narrator_is_system():
    records = (
        record("seen"),
        ChatRecord("Mira", "hidden", is_hidden=True),
        record("told", extra={"type": "narrator"}),
    )
    turns = read_turns(records, Style())
    assert [(m.role, m.content) for m in turns.messages] == [
        ("assistant", "seen"),
        ("system", "told"),
    ]
    assert [turns.source(number) for number in range(2)] == [0, 2]


def test_names_stand_in_the_text_in_mode_2_and_in_the_field_in_mode_1():
    records = (record("hi", name="苏晚"),)
    assert read_turns(records, Style(names=2)).messages[0].content == "苏晚: hi"
    assert read_turns(records, Style(names=1)).messages[0].name == "__"
    assert read_turns(records, Style(names=-1)).messages[0] == ChatMessage("assistant", "hi")


def test_a_name_is_cut_to_64_characters_counted_in_utf16():
    assert clean_name("a b" * 30) == ("a_b" * 30)[:64]
    assert clean_name("😀") == "__"


def test_carriage_returns_go():
    history = (ChatMessage("user", "a\r\nb"),)
    assert read_turns(history, Style()).messages[0].content == "a\nb"


def test_a_stored_tool_call_is_one_item_of_several_messages():
    call = {"id": "c1", "name": "tide", "parameters": "{}", "result": ""}
    records = (
        record("before"),
        ChatRecord("Mira", "calls", is_hidden=True, extra={"extra": {"tool_invocations": [call]}}),
        record("after"),
    )
    turns = read_turns(records, Style(keeps_tools=True))
    assert [m.role for m in turns.messages] == ["assistant", "assistant", "tool", "assistant"]
    assert turns.messages[2].content == "[No content]"
    assert turns.length == 3
    assert [turns.first_message(item) for item in range(4)] == [0, 1, 3, 4]
    assert read_turns(records, Style()).length == 2


def test_an_image_follows_the_text_and_a_gallery_sends_the_chosen_one():
    media = [{"type": "image", "url": "data:a"}, {"type": "image", "url": "data:b"}]
    shown = record("look", extra={"media": media, "media_display": "gallery", "media_index": 1})
    (message,) = read_turns((shown,), Style(quality="low")).messages
    assert message.content == (
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:b", "detail": "low"}},
    )


@given(chats(), chats(), st.integers(0, 8))
def test_a_known_beginning_changes_nothing(first, second, cut):
    style = Style()
    read_turns(first, style)
    longer = (*first[:cut], *second)
    again = read_turns(longer, style)
    fresh = read_turns(list(longer), style)
    assert (again.messages, again.marked, again.empty) == (
        fresh.messages,
        fresh.marked,
        fresh.empty,
    )


@given(st.lists(st.integers(0, 2), max_size=20), st.lists(st.integers(0, 2), max_size=20))
def test_shared_length_never_claims_too_much(first, second):
    length = shared_length(first, second)
    assert first[:length] == second[:length]
