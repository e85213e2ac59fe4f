"""The plan: every character accounted for, and the stable prefix keeps its promise."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.assembler.plan import HistoryRange, Stability
from preset_engine.compile.turn import compile_turn
from preset_engine.content.content import Block, Content
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.messages import ChatMessage, OriginKind
from preset_engine.preset.importer import load_preset
from tests.assembler.generated import MODES, chats, presets


def content_of(history, turn="Now what?"):
    return Content(
        history=history,
        turn=turn,
        before=[Block("Stage", "An old town.")],
        after=[Block("State", "HP 3")],
        user="Noa",
        char="Mira",
    )


@given(presets(), chats(), MODES, st.sampled_from(Dialect))
def test_the_pieces_of_a_message_rebuild_its_text(body, history, mode, dialect):
    turn = compile_turn(load_preset(body).preset, content_of(history), dialect=dialect, squash=mode)
    planned = list(turn.plan.messages())
    assert [one.message for one in planned] == list(turn.messages)
    for one in planned:
        text = one.message.text
        assert "".join(piece.text for piece in one.pieces) == text
        for piece in one.pieces:
            assert text[piece.start : piece.stop] == piece.text
            assert piece.digest == hashlib.sha256(piece.text.encode()).hexdigest()


@given(presets(), chats(), MODES, st.sampled_from(Dialect), st.integers(1, 3))
def test_a_longer_chat_begins_with_the_stable_prefix(body, history, mode, dialect, turns):
    preset = load_preset(body).preset
    draws = iter(range(10**6))
    context = Context(random=lambda: (next(draws) * 0.37) % 1)
    first = compile_turn(preset, content_of(history), dialect=dialect, squash=mode, context=context)
    longer = history
    for number in range(turns):
        said = (ChatMessage("user", "Now what?"), ChatMessage("assistant", f"Reply {number}."))
        longer = (*longer, *said)
    content = content_of(longer, "And now?")
    if dialect is Dialect.sillytavern:
        content = replace(content, variables=first.variables["local"])
    later = compile_turn(preset, content, dialect=dialect, squash=mode, context=context)
    prefix = first.plan.stable_prefix()
    count = prefix.messages
    assert later.messages[:count] == first.messages[:count]
    if prefix.characters:
        ours, theirs = first.messages[count], later.messages[count]
        assert ours.role == theirs.role
        assert ours.text[: prefix.characters] == theirs.text[: prefix.characters]


def test_a_piece_names_its_entry_and_why_it_can_change():
    body = {
        "prompts": [
            {
                "identifier": "main",
                "name": "Main",
                "role": "system",
                "content": "Rule.",
                "system_prompt": True,
            },
            {
                "identifier": "clock",
                "name": "Clock",
                "role": "system",
                "content": "It is {{time}}.",
                "system_prompt": False,
            },
            {"identifier": "chatHistory", "marker": True, "system_prompt": True},
        ],
        "prompt_order": [
            {
                "character_id": 100001,
                "order": [
                    {"identifier": "main", "enabled": True},
                    {"identifier": "clock", "enabled": True},
                    {"identifier": "chatHistory", "enabled": True},
                ],
            }
        ],
    }
    turn = compile_turn(load_preset(body).preset, Content(turn="Hi"), dialect=Dialect.sillytavern)
    prefix = turn.plan.stable_prefix()
    assert prefix.messages == 1
    breaker = prefix.breaker
    assert breaker is not None
    assert (breaker.origin.id, breaker.origin.name, breaker.origin.place) == (
        "clock",
        "Clock",
        "$.prompts[1]",
    )
    assert breaker.stability is Stability.VOLATILE
    assert "{{time}}" in breaker.since


def test_a_history_is_one_range_of_the_plan():
    history = tuple(ChatMessage("user" if n % 2 == 0 else "assistant", f"m{n}") for n in range(500))
    body = {
        "prompts": [
            {"identifier": "main", "role": "system", "content": "Rule.", "system_prompt": True}
        ]
    }
    for dialect in Dialect:
        turn = compile_turn(load_preset(body).preset, Content(history=history), dialect=dialect)
        ranges = [part for part in turn.plan.parts if isinstance(part, HistoryRange)]
        assert sum(part.count for part in ranges) >= 498
        assert len(ranges) <= 3


def test_a_placeholder_and_a_depth_entry_have_origins_of_their_own():
    body = {
        "prompts": [
            {"identifier": "main", "role": "system", "content": "Rule.", "system_prompt": True},
            {"identifier": "chatHistory", "marker": True, "system_prompt": True},
            {
                "identifier": "deep",
                "role": "system",
                "content": "Deep.",
                "system_prompt": False,
                "injection_position": 1,
                "injection_depth": 0,
            },
        ],
        "new_chat_prompt": "",
        "prompt_order": [
            {
                "character_id": 100001,
                "order": [
                    {"identifier": one, "enabled": True} for one in ("main", "chatHistory", "deep")
                ],
            }
        ],
    }
    history = (ChatMessage("assistant", "Welcome."),)
    turn = compile_turn(
        load_preset(body).preset,
        Content(history=history),
        dialect=Dialect.sillytavern,
        squash="strict",
    )
    kinds = [piece.origin.kind for one in turn.plan.messages() for piece in one.pieces]
    assert kinds == [OriginKind.ENTRY, OriginKind.PLACEHOLDER, OriginKind.HISTORY, OriginKind.ENTRY]
    last = list(turn.plan.messages())[-1].pieces[-1]
    assert last.stability is Stability.MOVES


@given(presets(), chats(), MODES, st.sampled_from(Dialect))
def test_the_tokens_of_the_stable_prefix_are_those_of_its_messages(body, history, mode, dialect):
    context = Context()
    turn = compile_turn(
        load_preset(body).preset,
        content_of(history),
        dialect=dialect,
        squash=mode,
        context=context,
    )
    prefix = turn.plan.stable_prefix()
    wanted = sum(turn.plan.message_tokens()[: prefix.messages])
    if prefix.characters:
        beginning = turn.messages[prefix.messages].text[: prefix.characters]
        wanted += context.tokens.count(beginning)
    assert prefix.tokens == wanted
