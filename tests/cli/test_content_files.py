import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.cli.content_files import ContentFiles, gather_content
from preset_engine.cli.content_json import read_content
from preset_engine.cli.render import clip, one_line, visible
from preset_engine.content.card import read_card
from preset_engine.content.content import Block, Persona, Slots
from preset_engine.dialect import Dialect
from preset_engine.errors import InputRefused, InputTooLarge
from preset_engine.messages import ChatMessage, ChatRecord
from preset_engine.preset.model import Preset, PresetSource
from tests import truth
from tests.content.test_png import picture, text_chunk

PRESET = Preset("p", "p", PresetSource.NATIVE, (), ())
CHAT = [
    {"user_name": "Lin", "character_name": "Ada", "chat_metadata": {"variables": {"n": "7"}}},
    {"name": "Ada", "is_user": False, "mes": "Welcome, {{user}}."},
]


def gathered(dialect=Dialect.native, **files):
    return gather_content(ContentFiles(**files), PRESET, dialect)


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(map(json.dumps, CHAT)), "utf-8")
    return path


def test_every_field_of_content_is_read():
    content = read_content(
        {
            "before": [{"title": "A", "body": "b"}, "c"],
            "after": "d",
            "history": [{"role": "user", "content": "u"}],
            "slots": {"insight": "i"},
            "turn": "t",
            "persona": "A surveyor.",
            "card": {"name": "Ada"},
            "world_books": [{"entries": {}}],
            "variables": {"n": 1},
            "generation_type": "swipe",
        }
    )
    assert content.before == (Block("A", "b"), Block("", "c"))
    assert content.after == (Block("", "d"),)
    assert content.history == (ChatMessage("user", "u"),)
    assert content.slots == Slots(insight="i")
    assert content.persona == Persona(description="A surveyor.")
    assert (content.turn, content.generation_type, content.variables) == ("t", "swipe", {"n": 1})


def test_chat_lines_are_records_and_a_text_stays_a_text():
    assert read_content({"history": [{"name": "A", "mes": "x"}]}).history == (ChatRecord("A", "x"),)
    assert read_content({"history": "## 用户\n\n你好"}).history == "## 用户\n\n你好"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ([], "JSON object"),
        ({"turn": 3}, "'turn'"),
        ({"before": 3}, "'before'"),
        ({"history": [{"content": "x"}]}, "'history'"),
        ({"history": ["x"]}, r"'history\[0\]'"),
        ({"slots": {"memory": "x"}}, "'slots'"),
        ({"world_books": {}}, "'world_books'"),
    ],
)
def test_a_field_of_another_form_is_refused_by_name(body, named):
    with pytest.raises(InputRefused, match=named):
        read_content(body)


def test_names_in_a_chat_are_put_in_once_in_dialect_native(chat):
    given = gathered(chat=chat)
    assert [record.text for record in given.content.history] == ["Welcome, Noa."]
    assert given.content.turn == ""
    assert given.notes


def test_a_chat_stays_raw_in_dialect_sillytavern_and_brings_its_variables(chat):
    given = gathered(Dialect.sillytavern, chat=chat)
    assert [record.text for record in given.content.history] == ["Welcome, {{user}}."]
    assert given.content.variables == {"n": "7"}


def test_text_in_front_of_a_history_goes_before_it(tmp_path):
    path = tmp_path / "history.txt"
    path.write_text("It was foggy.\n\n## 用户\n\nHello.", "utf-8")
    content = gathered(chat=path).content
    assert content.before[-1] == Block("", "It was foggy.")
    assert [message.text for message in content.history] == ["Hello."]


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    with pytest.raises(InputTooLarge, match=r"large\.json"):
        gathered(card=path)


def test_a_world_book_is_added_to_those_of_the_content(tmp_path):
    content = tmp_path / "content.json"
    content.write_text('{"world_books": [{"name": "one"}]}', "utf-8")
    book = tmp_path / "book.json"
    book.write_text('{"name": "two"}', "utf-8")
    books = gathered(content=content, worlds=(book,)).content.world_books
    assert [one["name"] for one in books] == ["one", "two"]


@given(st.text())
def test_no_control_character_is_left_in_what_is_shown(text):
    shown = visible(text)
    assert all(
        character.isprintable() or ord(character) > 0x9F or character in "\n\t"
        for character in shown
    )
    assert visible(shown) == shown


@given(st.text(), st.integers(1, 5), st.integers(1, 50))
def test_a_clipped_text_is_a_beginning_and_says_what_is_missing(text, lines, characters):
    kept, _, left = clip(text, lines, characters)
    assert visible(text).startswith(kept)
    assert len(kept) <= characters
    assert (left == 0) == (kept.strip() == visible(text).strip())


@given(st.text(), st.integers(2, 40))
def test_one_line_is_one_line(text, width):
    line = one_line(text, width)
    assert "\n" not in line
    assert len(line) <= width


BOOK = {"entries": {"0": {"key": ["fog"], "content": "It is thick."}}}
SHEET = {"spec": "chara_card_v2", "data": {"name": "Ada", "description": "Keeps the light."}}
ORDERED = {"prompts": [{"identifier": "main", "content": "Hi"}], "prompt_order": []}


@pytest.mark.parametrize(
    ("option", "body", "named"),
    [
        ("card", BOOK, r"this is a world book .*: give it with --world"),
        ("card", ORDERED, r"this is a chat-completion preset.*first argument"),
        ("card", ["text"], r"holds no JSON object; a character card is needed"),
        ("world", SHEET, r"this is a character card.*: give it with --card"),
        ("chat", ORDERED, r"this is a chat-completion preset"),
        ("chat", BOOK, r"this is a world book"),
        ("persona", SHEET, r"this is a character card"),
    ],
)
def test_a_file_of_another_kind_is_refused_by_its_name(tmp_path, option, body, named):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(body), "utf-8")
    files = {"worlds": (path,)} if option == "world" else {option: path}
    with pytest.raises(InputRefused, match=named) as refusal:
        gathered(**files)
    assert "\n" not in str(refusal.value)


def test_a_picture_is_a_card_and_nothing_else(tmp_path):
    path = tmp_path / "ada.png"
    path.write_bytes(picture(text_chunk("chara", SHEET)))
    assert gathered(card=path).content.card == SHEET
    for option in ("persona", "chat"):
        with pytest.raises(InputRefused, match=r"ada\.png: not UTF-8 text"):
            gathered(**{option: path})
    path.write_bytes(picture())
    with pytest.raises(InputRefused, match=r"ada\.png: this PNG picture holds no character card"):
        gathered(card=path)


@truth.corpus("cards")
def test_a_real_card_is_taken_from_any_file(path):
    card = gathered(card=path).content.card
    assert isinstance(card, dict)
    assert read_card(card)


@truth.corpus("worldbooks")
def test_a_real_world_book_is_taken(path):
    assert gathered(worlds=(path,)).content.world_books
