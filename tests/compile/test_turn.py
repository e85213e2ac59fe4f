"""`compile_turn`: one path for both dialects; pure, deterministic, explained."""

from __future__ import annotations

import json

import pytest

from preset_engine.compile.turn import compile_turn
from preset_engine.content.content import Content
from preset_engine.dialect import Dialect
from preset_engine.errors import AssemblyError, InputRefused
from preset_engine.messages import ChatMessage
from preset_engine.preset.importer import load_preset
from tests import truth


def compile_case(body, preset=None, history=None, dialect=Dialect.sillytavern):
    """A fault report's input, compiled."""
    macros = body.get("macros", {})
    character = body.get("character")
    content = Content(
        history=tuple(ChatMessage.from_json(m) for m in history or body.get("history", ())),
        user=macros.get("user", ""),
        char=macros.get("char", ""),
        card={"name": macros.get("char", ""), **character} if character else None,
        world_books=[body["world_info"]] if "world_info" in body else (),
        variables=body.get("variables", {}),
        generation_type=body.get("type", "normal"),
    )
    imported = load_preset(preset or body["preset"])
    turn = compile_turn(imported.preset, content, dialect=dialect)
    return turn, (*imported.notes, *turn.notes)


def bodies(turn):
    return [message.to_json() for message in turn.messages]


@truth.cases("assemble")
def test_reported_assemblies(row):
    dialect = Dialect.native if row["id"] == "BR-015" else Dialect.sillytavern
    turn, notes = compile_case(row["input"], dialect=dialect)
    assert bodies(turn) == row["expected"]["messages"]
    if "variables" in row["expected"]:
        assert turn.variables["local"] == row["expected"]["variables"]
    if "warnings" in row["expected"]:
        assert notes


@truth.cases("assemble-sequence")
def test_a_second_preset_in_one_process_gives_what_a_fresh_run_gives(row):
    body = row["input"]
    fresh, _ = compile_case(body, body["presets"][-1])
    for preset in body["presets"]:
        turn, _ = compile_case(body, preset)
    assert bodies(turn) == bodies(fresh) == row["expected"]["messages"]


@truth.cases("determinism")
def test_reported_determinism(row):
    body = row["input"]
    if "preset" not in body:
        messages = [ChatMessage.from_json(m) for m in body["messages"]]
        found = {json.dumps([m.to_json() for m in messages]) for _ in range(100)}
        assert len(found) == 1
        return
    found = {json.dumps(bodies(compile_case(body)[0])) for _ in range(20)}
    assert len(found) == 1


MINIMAL = {
    "new_chat_prompt": "",
    "prompts": [
        {
            "identifier": "main",
            "role": "system",
            "content": "You are {{char}}.",
            "system_prompt": True,
        },
        {"identifier": "chatHistory", "marker": True, "system_prompt": True},
        {
            "identifier": "deep",
            "role": "system",
            "content": "Deep.",
            "system_prompt": False,
            "injection_position": 1,
            "injection_depth": 1,
        },
    ],
    "prompt_order": [
        {
            "character_id": 100001,
            "order": [
                {"identifier": "main", "enabled": True},
                {"identifier": "chatHistory", "enabled": True},
                {"identifier": "deep", "enabled": True},
            ],
        }
    ],
}
PAST = (
    ChatMessage("assistant", "Welcome."),
    ChatMessage("user", "Good evening."),
    ChatMessage("assistant", "Tea?"),
)


@pytest.fixture
def preset():
    return load_preset(MINIMAL).preset


def test_the_new_message_ends_the_history_in_dialect_sillytavern(preset):
    turn = compile_turn(
        preset, Content(history=PAST, turn="Yes.", char="Ada"), dialect=Dialect.sillytavern
    )
    assert [(m.role, m.content) for m in turn.messages] == [
        ("system", "You are Ada."),
        ("assistant", "Welcome."),
        ("user", "Good evening."),
        ("assistant", "Tea?"),
        ("system", "Deep."),
        ("user", "Yes."),
    ]


def test_records_without_macros_are_the_very_objects_that_came_in(preset):
    turn = compile_turn(preset, Content(history=PAST), dialect=Dialect.sillytavern)
    assert all(any(sent is given for sent in turn.messages) for given in PAST)


def test_a_compilation_changes_none_of_its_inputs(preset):
    variables = {"mood": "calm"}
    body = json.loads(json.dumps(MINIMAL))
    body["prompts"][0]["content"] = "{{setvar::mood::wild}}{{getvar::mood}}"
    changing = load_preset(body).preset
    turn = compile_turn(changing, Content(variables=variables), dialect=Dialect.sillytavern)
    assert variables == {"mood": "calm"}
    assert turn.variables["local"] == {"mood": "wild"}


def test_the_same_inputs_give_the_same_messages_again(preset):
    content = Content(history=PAST, turn="{{random::a::b::c}}")
    first = compile_turn(preset, content, dialect=Dialect.sillytavern)
    again = compile_turn(preset, content, dialect=Dialect.sillytavern)
    assert first.messages == again.messages


def test_a_native_assembly_forgets_its_variables():
    body = json.loads(json.dumps(MINIMAL))
    body["prompts"][0]["content"] = "{{getvar::seen}}{{setvar::seen::yes}}Rule."
    native = load_preset(body).preset
    first = compile_turn(native, Content(), dialect=Dialect.native)
    again = compile_turn(native, Content(), dialect=Dialect.native)
    assert [m.content for m in first.messages] == [m.content for m in again.messages]
    assert first.messages[0].content == "Rule."


def test_given_parts_that_are_not_read_yet_are_named():
    book = {"entries": {"0": {"key": ["a"], "content": "lore"}}}
    content = Content(
        card={"data": {"name": "Ada", "character_book": book}},
        world_books=[book],
        regex_scripts=[{"findRegex": "a"}],
        turn="a",
    )
    found = {note.path: note.code for note in compile_turn(None, content).notes}
    assert found == {
        "world_books": "lore-unread",
        "card.character_book": "lore-unread",
        "regex_scripts": "scripts-unread",
    }
    assert compile_turn(None, Content(card={"name": "Ada"}, turn="a")).notes == ()


@pytest.mark.parametrize("dialect", Dialect)
def test_a_dialect_may_be_given_by_its_name(dialect):
    content = Content(turn="a")
    preset = load_preset({"prompts": [{"identifier": "main", "content": "b"}]}).preset
    named = compile_turn(preset, content, dialect=dialect.value)
    assert named.messages == compile_turn(preset, content, dialect=dialect).messages
    with pytest.raises(InputRefused, match="use native or sillytavern"):
        compile_turn(preset, content, dialect="tavern")


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        (
            "history",
            [{"role": "user", "content": "a"}],
            "a list of dict; give a text, or a list of",
        ),
        ("history", None, "give a text"),
        ("persona", "Noa", "give Persona"),
        ("card", "card.png", "the card's JSON object"),
        ("before", "A pier.", "a list of Block"),
        ("after", ["A pier."], "a list of Block"),
        ("world_books", {"entries": {}}, "a list of JSON objects"),
        ("turn", None, "a text"),
    ],
)
def test_a_field_of_the_wrong_type_is_named_with_what_belongs_there(field, value, wanted):
    with pytest.raises(AssemblyError, match=rf"Content\.{field} .*{wanted}"):
        compile_turn(None, Content(**{field: value}))


def test_what_load_preset_returns_is_not_taken_for_the_preset_in_it():
    imported = load_preset({"prompts": [{"identifier": "main", "content": "b"}]})
    with pytest.raises(AssemblyError, match=r"give load_preset\(…\)\.preset"):
        compile_turn(imported, Content(turn="a"))
