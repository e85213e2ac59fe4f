"""What the native dialect sends: holes filled, nothing beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from preset_engine.compile.turn import CompiledTurn, compile_turn
from preset_engine.content.content import Block, Content, Persona, Slots
from preset_engine.dialect import Dialect
from preset_engine.errors import AssemblyError
from preset_engine.messages import ChatMessage, ChatRecord, JsonObject, OriginKind, parse_messages
from preset_engine.preset.importer import load_preset
from preset_engine.preset.model import OrderItem, Preset, PresetSource, PromptEntry, PromptOrder
from tests import truth


def _blocks(entries: list[dict[str, str]]) -> tuple[Block, ...]:
    return tuple(Block(entry["name"], entry["content"]) for entry in entries)


@truth.seeds("wa.play_frame")
def test_a_play_frame_is_assembled(row: truth.Row) -> None:
    given_row = row["input"]
    body = {"id": "p", "name": "P", "source": "native", "generation": {}, **given_row["preset"]}
    pack, persona = given_row["pack"], given_row["persona"]
    # The rows hold the history as one text in the hole's role; the seed makes it a list of messages.
    roles = {entry["id"]: entry["role"] for entry in given_row["preset"]["prompts"]}
    role = roles.get("chatHistory", "system")
    content = Content(
        before=_blocks(pack["worldBookBefore"]),
        after=_blocks(pack["worldBookAfter"]),
        post_turn=_blocks(pack["postTurn"]),
        history=(ChatMessage(role, pack["history"]),) if pack["history"] else (),
        turn=pack["turn"],
        persona=Persona(persona["name"], persona["description"]) if persona else None,
        slots=Slots(system_prompt=given_row["systemPrompt"]),
    )
    turn = compile_turn(load_preset(body).preset, content, squash="none")
    assert [message.to_json() for message in turn.messages] == row["expected"]["messages"]


def _preset(*entries: PromptEntry, order: str = "", squash: str | None = "none") -> Preset:
    listed = order.split() if order else [entry.identifier for entry in entries]
    items = tuple(OrderItem(identifier) for identifier in listed)
    orders = (PromptOrder("", items),)
    return Preset("p", "P", PresetSource.NATIVE, entries, orders, squash=squash)


def _told(turn: CompiledTurn) -> list[tuple[str, object]]:
    return [(message.role, message.content) for message in turn.messages]


@truth.seeds("seed.depth_insert")
def test_depth_entries_stand_in_the_history_hole(row: truth.Row) -> None:
    entries = [
        PromptEntry(
            f"n{number}",
            role=one["role"],
            content=one["content"],
            position=1,
            depth=one["depth"],
            injection_order=one["order"],
        )
        for number, one in enumerate(row["input"]["injections"])
    ]
    history = parse_messages(row["input"]["history"])
    turn = compile_turn(_preset(*entries), Content(history=history))
    assert [message.to_json() for message in turn.messages] == row["expected"]["messages"]


@truth.seeds("seed.history_zone_shaping")
def test_only_neighbours_of_one_role_join_in_the_history(row: truth.Row) -> None:
    history = parse_messages(row["input"]["history"])
    turn = compile_turn(_preset(squash=row["input"]["mode"]), Content(history=history))
    groups = [
        {"role": message.role, "parts": message.text.split("\n\n")} for message in turn.messages
    ]
    assert groups == row["expected"]["groups"]


def _bag(given_row: dict[str, Any], key: str) -> tuple[Block, ...]:
    return (Block("", given_row[key]),) if given_row.get(key) else ()


@truth.seeds("seed.target_shape")
def test_every_message_comes_from_the_skeleton_or_a_hole(row: truth.Row) -> None:
    given_row: dict[str, Any] = row["input"]
    entries = [
        PromptEntry(identifier, role=role, content=identifier)
        for identifier, role in given_row["entries"].items()
    ]
    content = Content(
        before=_bag(given_row, "world_before"),
        after=_bag(given_row, "world_after"),
        post_turn=_bag(given_row, "post"),
        history=parse_messages(given_row["history"]),
        turn=given_row["turn"],
    )
    preset = _preset(*entries, order=" ".join(given_row["order"]))
    turn = compile_turn(preset, content)
    found = []
    for planned in turn.plan:
        origin = planned.pieces[0].origin
        source = "history" if origin.kind is OriginKind.HISTORY else origin.id
        found.append({"role": planned.message.role, "from": source})
    assert found == row["expected"]["sequence"]


MAIN = PromptEntry("main", content="MAIN")
LAST = PromptEntry("last", content="LAST")
HISTORY = (ChatMessage("assistant", "hi {{user}}"), ChatMessage("user", "go"))
CALL: JsonObject = {"id": "c1", "function": {"name": "look", "arguments": "{}"}}


def test_five_holes_are_filled_around_the_history() -> None:
    content = Content(
        before=(Block("A", "x"),),
        after=(Block("B", "y"),),
        post_turn=(Block("C", "z"),),
        history=HISTORY,
        turn="knock",
    )
    turn = compile_turn(_preset(MAIN, PromptEntry("chatHistory"), LAST), content)
    assert _told(turn) == [
        ("system", "MAIN"),
        ("system", "### A\n\nx"),
        ("assistant", "hi {{user}}"),
        ("user", "go"),
        ("system", "### B\n\ny"),
        ("user", "knock"),
        ("system", "LAST"),
        ("system", "### C\n\nz"),
    ]


def test_empty_holes_give_nothing() -> None:
    content = Content(before=(Block("A", " "),), turn=" \n")
    assert _told(compile_turn(_preset(MAIN), content)) == [("system", "MAIN")]


def test_strict_is_the_default_of_a_preset_without_a_policy() -> None:
    content = Content(history=HISTORY, turn="knock", after=(Block("", "y"),))
    turn = compile_turn(_preset(MAIN, LAST, order="main last chatHistory", squash=None), content)
    assert _told(turn) == [
        ("system", "MAIN\n\nLAST"),
        ("assistant", "hi {{user}}"),
        ("user", "go"),
        ("user", "y\n\nknock"),
    ]


def test_history_and_turn_run_no_macros_and_bags_know_names_only() -> None:
    content = Content(
        before=(Block("", "{{user}} meets {{char}} {{setvar::a::1}}"),),
        history=HISTORY,
        turn="{{user}} {{setvar::a::2}}",
        user="Noa",
        char="Mira",
    )
    turn = compile_turn(_preset(PromptEntry("chatHistory")), content)
    assert _told(turn) == [
        ("system", "Noa meets Mira {{setvar::a::1}}"),
        *[(message.role, message.content) for message in HISTORY],
        ("user", "{{user}} {{setvar::a::2}}"),
    ]


def test_the_current_turn_keeps_its_own_white_space() -> None:
    assert _told(compile_turn(_preset(), Content(turn="  a\n"))) == [("user", "  a\n")]


def test_a_sessions_slots_find_their_places() -> None:
    slots = Slots("SYSTEM", "<who/>", "INSIGHT", "SUMMARY", "TASK")
    content = Content(before=(Block("A", "x"),), history=HISTORY, turn="knock", slots=slots)
    turn = compile_turn(_preset(MAIN, PromptEntry("chatHistory")), content)
    assert _told(turn) == [
        ("system", "MAIN"),
        ("system", "### 任务契约\n\nSYSTEM\n\n<who/>\n\n### A\n\nx"),
        ("system", "SUMMARY"),
        ("assistant", "hi {{user}}"),
        ("user", "go"),
        ("system", "### 洞察\n\nINSIGHT"),
        ("user", "knock"),
        ("system", "### 本步任务\n\nTASK"),
    ]
    kinds = [planned.pieces[0].origin.kind.value for planned in turn.plan]
    assert kinds == [
        "entry", "session", "session", "history", "history", "session", "hole", "session",
    ]  # fmt: skip


def test_a_history_text_becomes_turns_and_its_preamble_leads() -> None:
    content = Content(before=(Block("A", "x"),), history="Long ago.\n\n用户：推门\n助手：雨")
    assert _told(compile_turn(_preset(PromptEntry("chatHistory")), content)) == [
        ("system", "### A\n\nx\n\nLong ago."),
        ("user", "推门"),
        ("assistant", "雨"),
    ]


def test_a_story_without_heads_is_no_history() -> None:
    turn = compile_turn(_preset(), Content(history="Long ago.", turn="go"))
    assert _told(turn) == [("system", "Long ago."), ("user", "go")]


def test_a_chat_of_sillytavern_becomes_turns() -> None:
    records = (
        ChatRecord("Mira", "hi"),
        ChatRecord("Noa", "hidden", is_user=True, is_hidden=True),
        ChatRecord("Sys", "rain", extra={"extra": {"type": "narrator"}}),
        ChatRecord("Noa", "go", is_user=True),
    )
    turn = compile_turn(_preset(PromptEntry("chatHistory")), Content(history=records))
    assert _told(turn) == [("assistant", "hi"), ("system", "rain"), ("user", "go")]


def test_content_without_its_hole_stays_out_with_a_note() -> None:
    items = (OrderItem("worldBookAfter", is_enabled=False), OrderItem("chatHistory"))
    preset = Preset("p", "P", PresetSource.NATIVE, (), (PromptOrder("", items),), squash="none")
    turn = compile_turn(preset, Content(after=(Block("B", "y"),), turn="go"))
    assert _told(turn) == [("user", "go")]
    assert "hole-off" in [note.code for note in turn.notes]


def test_the_dialect_sillytavern_has_no_holes_for_bags_and_says_so() -> None:
    content = Content(before=(Block("A", "BAG"),), slots=Slots(insight="I"), turn="go")
    preset = _preset(PromptEntry("chatHistory", is_marker=True))
    turn = compile_turn(preset, content, dialect=Dialect.sillytavern)
    assert "BAG" not in "".join(message.text for message in turn.messages)
    assert [note.path for note in turn.notes if note.code == "hole-off"] == [
        "$.prompt_order[worldBookBefore]",
        "$.prompt_order[worldBookAfter]",
    ]


def test_markers_of_a_card_stay_empty_without_a_card() -> None:
    markers = [
        PromptEntry(identifier, is_marker=True)
        for identifier in ("charDescription", "scenario", "worldInfoBefore", "personaDescription")
    ]
    assert _told(compile_turn(_preset(*markers), Content(turn="go"))) == [("user", "go")]


@pytest.mark.parametrize(
    ("persona", "text"), [(Persona("Noa", "calm"), "calm"), (Persona("Noa", " "), "姓名：Noa")]
)
def test_the_persona_is_told_by_description_else_by_name(persona: Persona, text: str) -> None:
    preset = _preset(PromptEntry("personaDescription", is_marker=True))
    assert _told(compile_turn(preset, Content(persona=persona))) == [("system", text)]


def test_a_tool_loop_follows_the_frame_unchanged() -> None:
    tail = (
        ChatMessage("assistant", None, tool_calls=(CALL,)),
        ChatMessage("tool", "seen", tool_call_id="c1"),
    )
    content = Content(history=HISTORY, turn="look", post_turn=(Block("", "hint"),), tail=tail)
    turn = compile_turn(_preset(MAIN, squash="strict"), content)
    assert turn.messages[-2:] == tail
    assert turn.messages[-3].text == "look\n\nhint"


@pytest.mark.parametrize("squash", [None, "strict", True])
def test_no_mode_of_sillytavern_shapes_a_running_tool_loop(squash: str | bool | None) -> None:
    tail = (
        ChatMessage("assistant", "", tool_calls=(CALL,)),
        ChatMessage("tool", "seen", tool_call_id="c1"),
    )
    preset = _preset(MAIN, PromptEntry("chatHistory", is_marker=True))
    content = Content(history=HISTORY, turn="look", tail=tail)
    turn = compile_turn(preset, content, dialect=Dialect.sillytavern, squash=squash)
    assert turn.messages[-2:] == tail
    assert [planned.message for planned in turn.plan] == list(turn.messages)


@pytest.mark.parametrize("dialect", list(Dialect))
def test_the_placeholder_is_a_setting(dialect: Dialect) -> None:
    content = Content(settings={"prompt_placeholder": "Begin."}, turn="")
    preset = _preset(PromptEntry("x", role="assistant", content="x", system_prompt=False))
    turn = compile_turn(preset, content, dialect=dialect, squash="strict")
    assert ("user", "Begin.") in _told(turn)


@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_presets_unknown_mode_is_a_note(dialect: Dialect) -> None:
    preset = _preset(MAIN, PromptEntry("chatHistory", is_marker=True), squash=None)
    settings = replace(preset.settings, custom_prompt_post_processing="tight")
    turn = compile_turn(replace(preset, settings=settings), Content(turn="go"), dialect=dialect)
    assert turn.messages[-1].content == "go"
    assert [note.code for note in turn.notes if "tight" in note.message] == ["squash-unknown"]
    with pytest.raises(AssemblyError, match="tight"):
        compile_turn(preset, Content(turn="go"), dialect=dialect, squash="tight")


def test_broken_tool_groups_of_the_history_are_left_out_with_a_note() -> None:
    history = (*HISTORY, ChatMessage("assistant", "", tool_calls=(CALL,)))
    turn = compile_turn(_preset(), Content(history=history, turn="go"))
    assert turn.messages[:2] == HISTORY
    assert "tool-group-incomplete" in [note.code for note in turn.notes]


def test_a_direct_chat_passes_its_turns_through() -> None:
    roles = ("user", "assistant")
    history = tuple(ChatMessage(roles[n % 2], f"{n} {{{{user}}}}") for n in range(40))
    turn = compile_turn(_preset(MAIN, squash=None), Content(history=history, turn="go"))
    assert all(sent is one for sent, one in zip(turn.messages[1:41], history, strict=True))


def test_the_next_turn_begins_with_the_same_objects() -> None:
    preset = _preset(MAIN, squash=None)
    first = compile_turn(preset, Content(history=HISTORY, turn="go"))
    longer = (*HISTORY, ChatMessage("user", "go"), ChatMessage("assistant", "done"))
    later = compile_turn(preset, Content(history=longer, turn="on"))
    assert later.messages[:2] == first.messages[:2]
    assert [message.text for message in later.messages[2:]] == ["go\n\ngo", "done", "on"]


def test_a_window_cuts_rarely_and_at_the_users_turn() -> None:
    roles = ("user", "assistant")
    history = tuple(ChatMessage(roles[n % 2], str(n)) for n in range(20))
    starts = []
    for total in range(2, 21, 2):
        turn = compile_turn(_preset(), Content(history=history[:total]), window=3)
        starts.append(turn.messages[0].text)
        assert turn.messages[0].role == "user"
    assert starts == ["0", "0", "0", "4", "4", "8", "8", "12", "12", "16"]


def test_without_a_preset_messages_pass_unchanged() -> None:
    history = (ChatMessage("system", "S"), *HISTORY, ChatMessage("user", "again", "Tom"))
    turn = compile_turn(None, Content(history=history))
    assert all(sent is one for sent, one in zip(turn.messages, history, strict=True))


def test_without_a_preset_the_slots_stand_in_the_fixed_order() -> None:
    slots = Slots("SYSTEM", "<who/>", "INSIGHT", "SUMMARY", "", "INDEX")
    turn = compile_turn(None, Content(history=HISTORY, turn="knock", slots=slots))
    assert [message.text for message in turn.messages] == [
        "SYSTEM", "INDEX", "<who/>", "INSIGHT", "SUMMARY", "hi {{user}}", "go", "knock",
    ]  # fmt: skip


def test_no_mark_of_ours_reaches_a_message() -> None:
    content = Content(history=HISTORY, turn="knock", before=(Block("A", "x"),))
    for message in compile_turn(_preset(MAIN), content).messages:
        assert message.to_json().keys() == {"role", "content"}


def test_the_last_user_message_is_the_newest_input():
    preset = load_preset(
        {
            "prompts": [
                {"identifier": "main", "name": "Main", "content": "Heard: {{lastUserMessage}}"},
                {"identifier": "chatHistory", "name": "History", "marker": True},
            ],
            "prompt_order": [
                {
                    "character_id": 100001,
                    "order": [
                        {"identifier": "main", "enabled": True},
                        {"identifier": "chatHistory", "enabled": True},
                    ],
                }
            ],
        }
    ).preset
    past = (ChatMessage("user", "an old word"), ChatMessage("assistant", "an answer"))
    assert compile_turn(preset, Content(history=past, turn="a new word")).messages[0].text == (
        "Heard: a new word"
    )
    assert compile_turn(preset, Content(history=past)).messages[0].text == "Heard: an old word"
