"""SillyTavern chat files, OpenAI lists and texts, told apart by their content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.errors import UnreadableInput
from preset_engine.history.chat_file import ChatFile, read_chat, write_chat
from preset_engine.history.load import load_history
from preset_engine.history.names import expand_names
from preset_engine.messages import ChatMessage, ChatRecord, JsonObject
from tests import truth


@truth.corpus("chats")
def test_a_real_chat_is_read_whole_and_written_back(path: Path) -> None:
    source = path.read_bytes()
    chat = read_chat(source)
    lines = [json.loads(line) for line in source.decode("utf-8-sig").split("\n") if line.strip()]
    said = [line for line in lines if "mes" in line]
    assert [record.text for record in chat.records] == [line["mes"] for line in said]
    assert [record.is_user for record in chat.records] == [bool(line["is_user"]) for line in said]
    assert chat.notes == ()
    assert bool(chat.header) == (len(said) < len(lines))
    again = read_chat(write_chat(chat))
    assert again.records == chat.records
    assert again.header == chat.header


HEADER: JsonObject = {
    "user_name": "Noa",
    "character_name": "Mira",
    "chat_metadata": {"variables": {"n": 1}},
}


def _line(**fields: object) -> str:
    return json.dumps({"name": "Mira", "is_user": False, "mes": "hi", **fields})


def test_a_header_is_optional() -> None:
    assert read_chat(_line()).header == {}
    chat = read_chat("\n".join([json.dumps(HEADER), _line()]))
    assert (chat.user, chat.char, chat.metadata) == ("Noa", "Mira", {"variables": {"n": 1}})


def test_names_come_from_the_records_where_the_header_has_none() -> None:
    header = json.dumps({"user_name": "unused", "character_name": "unused"})
    chat = read_chat("\n".join([header, _line(), _line(name="Noa", is_user=True)]))
    assert (chat.user, chat.char) == ("Noa", "Mira")


def test_a_record_keeps_its_swipes_and_unknown_keys() -> None:
    record = read_chat(
        _line(swipes=["hi", "ho"], swipe_id=1, mes="ho", is_system=True, extra={"type": "narrator"})
    ).records[0]
    assert (record.text, record.swipes, record.swipe_index) == ("ho", ("hi", "ho"), 1)
    assert record.is_hidden
    assert record.extra == {"extra": {"type": "narrator"}}


def test_a_damaged_line_is_a_note_and_the_rest_is_taken() -> None:
    chat = read_chat("\n".join([_line(mes="a"), '{"mes": "b', "[1]", _line(mes="c")]))
    assert [record.text for record in chat.records] == ["a", "c"]
    assert [(note.code, note.path) for note in chat.notes] == [
        ("chat-line-skipped", "line 2"),
        ("chat-line-skipped", "line 3"),
    ]


def test_a_file_of_another_kind_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="no line is a chat message"):
        read_chat("just words")
    with pytest.raises(UnreadableInput, match="not UTF-8"):
        read_chat(b"\xff\xfe{")


def test_names_are_put_in_once_with_a_note() -> None:
    records = (
        ChatRecord("Mira", "{{char}} greets {{User}} and <USER>."),
        ChatRecord("Noa", "{{other}} stays", is_user=True),
    )
    expanded, notes = expand_names(records, "Noa", "Mira")
    assert expanded[0].text == "Mira greets Noa and Noa."
    assert expanded[1] is records[1]
    assert [(note.code, note.count) for note in notes] == [("chat-names-expanded", 1)]
    assert expand_names(expanded, "Noa", "Mira") == (expanded, ())


def test_an_unknown_name_leaves_its_macro() -> None:
    records = (ChatRecord("Mira", "{{char}} greets {{user}}."),)
    assert expand_names(records, "", "Mira")[0][0].text == "Mira greets {{user}}."


@pytest.mark.parametrize(
    "source",
    [
        '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]',
        '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}',
        '{"role": "user", "content": "a"}\n{"role": "assistant", "content": "b"}\n',
        "用户：a\n助手：b",
        "\ufeffUser: a\nAssistant: b",
    ],
)
def test_any_form_of_a_history_is_told_by_its_content(source: str) -> None:
    loaded = load_history(source)
    assert loaded.history == (ChatMessage("user", "a"), ChatMessage("assistant", "b"))
    assert load_history(source.encode()).history == loaded.history


def test_a_chat_is_loaded_with_its_names() -> None:
    source = "\n".join([json.dumps(HEADER), _line(mes="Hello, {{user}}.")])
    loaded = load_history(source)
    assert [record.text for record in loaded.history] == ["Hello, Noa."]
    assert loaded.chat is not None
    assert [note.code for note in loaded.notes] == ["chat-names-expanded"]
    assert load_history(source, user="Ada").history[0].text == "Hello, Ada."
    assert load_history(f"[{_line()}]").history[0].text == "hi"
    assert load_history(_line()).history[0].text == "hi"


def test_items_without_a_role_are_left_out_with_a_note() -> None:
    loaded = load_history('[{"role": "user", "content": "a"}, 7, {"content": "b"}]')
    assert loaded.history == (ChatMessage("user", "a"),)
    assert [(note.code, note.count) for note in loaded.notes] == [("history-item-skipped", 2)]


def test_text_without_heads_is_preamble() -> None:
    loaded = load_history("{a story in braces}\nIt rains.")
    assert loaded.history == ()
    assert loaded.preamble == "{a story in braces}\nIt rains."


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_records = st.builds(
    ChatRecord,
    name=_texts,
    text=_texts,
    is_user=st.booleans(),
    is_hidden=st.booleans(),
    swipes=st.lists(_texts, max_size=3).map(tuple),
    swipe_index=st.integers(0, 3),
    sent_at=st.one_of(st.none(), _texts, st.integers(0, 10**13)),
    extra=st.dictionaries(st.sampled_from(["extra", "force_avatar", "title"]), _texts, max_size=3),
)


@given(st.lists(_records, min_size=1, max_size=5).map(tuple))
def test_a_written_chat_reads_back(records: tuple[ChatRecord, ...]) -> None:
    chat = ChatFile(records, HEADER)
    assert read_chat(write_chat(chat)) == chat
    assert read_chat(write_chat(chat).encode()) == chat
