"""Whatever the engine remembers from turn to turn, it gives what it would give without any memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.forgetting import forget_chats, forget_presets, forget_texts
from preset_engine.assembler import collection, inject, layout, recall, skeleton
from preset_engine.compile.turn import compile_turn
from preset_engine.content.content import Block, Content, Persona
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.messages import ChatMessage
from preset_engine.preset.importer import load_preset
from preset_engine.squash import native
from tests.assembler.generated import MODES, TEXTS, chats, presets


def forget():
    forget_chats()
    forget_presets()
    forget_texts()


@st.composite
def contents(draw):
    """Contents that differ in a few of the things a memory could overlook."""
    description = draw(TEXTS)
    history = draw(st.sampled_from([(), "short", "long"]))
    said = (ChatMessage("assistant", "Welcome, {{user}}."), ChatMessage("user", "Hi."))
    records = {(): (), "short": said, "long": (*said, *draw(chats(4)))}[history]
    return Content(
        history=records,
        turn=draw(st.sampled_from(["Now?", "{{setvar::mood::sour}}x", ""])),
        before=[Block("Stage", draw(st.sampled_from(["Fog.", "@user waits."])))],
        persona=Persona(draw(st.sampled_from(["Noa", "Tobin"])), draw(TEXTS)),
        char=draw(st.sampled_from(["Mira", "Ada"])),
        card={
            "name": "Mira",
            "description": description,
            "system_prompt": draw(st.sampled_from(["", "Card: {{original}}"])),
        }
        if draw(st.booleans())
        else None,
        variables=draw(st.sampled_from([{}, {"mood": "glad"}, {"count": 2}])),
        generation_type=draw(st.sampled_from(["normal", "normal", "continue", "swipe", "quiet"])),
    )


def outcome(preset, content, dialect, mode):
    turn = compile_turn(preset, content, dialect=dialect, squash=mode, context=Context(seed=5))
    stabilities = [
        [(piece.stability, piece.since) for piece in one.pieces] for one in turn.plan.messages()
    ]
    return turn.messages, turn.assembled, turn.variables, turn.notes, stabilities


@given(
    st.lists(presets(), min_size=1, max_size=2),
    st.lists(
        st.tuples(contents(), st.integers(0, 1), st.sampled_from(Dialect), MODES),
        min_size=2,
        max_size=6,
    ),
)
def test_a_memory_never_shows(bodies, rounds):
    loaded = [load_preset(body).preset for body in bodies]
    rounds = [*rounds, *rounds]
    warm = []
    forget()
    for content, which, dialect, mode in rounds:
        warm.append(outcome(loaded[which % len(loaded)], content, dialect, mode))
    for (content, which, dialect, mode), found in zip(rounds, warm, strict=True):
        forget()
        assert outcome(loaded[which % len(loaded)], content, dialect, mode) == found


def _preset(**changes):
    entry = {
        "identifier": "e",
        "name": "Entry",
        "role": "system",
        "content": "{{setvar::mood::calm}}{{char}} is {{getvar::mood}}.",
        "system_prompt": False,
        **changes,
    }
    order = [{"identifier": name, "enabled": True} for name in ("main", "e", "chatHistory")]
    body = {
        "prompts": [{"identifier": "main", "content": "Main.", "system_prompt": True}, entry],
        "prompt_order": [{"character_id": 100001, "order": order}],
    }
    return load_preset(body).preset


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    "changes",
    [
        {"role": "user"},
        {"name": "Other name"},
        {"injection_position": 1, "injection_depth": 1},
        {"injection_position": 1, "injection_depth": 0, "injection_order": 7},
        {"system_prompt": True},
        {"injection_trigger": ["quiet"]},
        {"content": "{{char}} is calm."},
    ],
)
def test_a_preset_that_differs_in_one_field_is_not_taken_for_the_one_before(dialect, changes):
    content = Content(
        history=(ChatMessage("user", "Hi."), ChatMessage("assistant", "Hello.")), char="Mira"
    )
    presets = [_preset(), _preset(**changes), _preset(), _preset(**changes)]
    forget()
    warm = [outcome(preset, content, dialect, None) for preset in presets]
    origins = [
        [
            piece.origin
            for one in compile_turn(preset, content, dialect=dialect).plan
            for piece in one.pieces
        ]
        for preset in presets
    ]
    for preset, found, named in zip(presets, warm, origins, strict=True):
        forget()
        assert outcome(preset, content, dialect, None) == found
        plan = compile_turn(preset, content, dialect=dialect).plan
        assert [piece.origin for one in plan for piece in one.pieces] == named


@pytest.mark.parametrize("dialect", Dialect)
def test_a_preset_read_anew_gives_the_same_turn(dialect):
    content = Content(history=(ChatMessage("user", "Hi."),), char="Mira", variables={"mood": "sad"})
    found = [outcome(_preset(), content, dialect, None) for _ in range(3)]
    assert found[0] == found[1] == found[2]
    assert found[0][2]["local"]["mood"] == "calm"


def test_a_card_changed_in_place_is_read_anew():
    card = {"name": "Mira", "description": "A baker.", "mes_example": "<START>\nMira: Bread?"}
    preset = load_preset({"prompts": []}).preset
    for text in ("A baker.", "A sailor of {{user}}.", "A baker."):
        card["description"] = text
        card["mes_example"] = f"<START>\nMira: {text}"
        content = Content(card=card, user="Noa")
        warm = outcome(preset, content, Dialect.sillytavern, None)
        forget()
        assert outcome(preset, content, Dialect.sillytavern, None) == warm
        assert text.replace("{{user}}", "Noa") in [message.text for message in warm[0]]


def test_threads_that_share_the_memories_get_what_each_would_get_alone():
    presets = [_preset(), _preset(role="user"), _preset(injection_position=1, injection_depth=0)]
    said = tuple(ChatMessage(("user", "assistant")[n % 2], f"Line {n}.") for n in range(40))
    tasks = [
        (presets[n % 3], Content(history=said[: 3 + n % 37], char=f"C{n % 11}"), dialect)
        for n in range(60)
        for dialect in Dialect
    ]
    alone = []
    for preset, content, dialect in tasks:
        forget()
        alone.append(outcome(preset, content, dialect, None))
    forget()
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda task: outcome(*task, None), tasks))
    assert together == alone


def test_memories_stay_bounded():
    forget()
    preset = _preset(content="{{char}} says {{user}}.")
    for number in range(60):
        history = (ChatMessage("user", f"Chat {number}"),)
        compile_turn(preset, Content(history=history, char=f"C{number}"), dialect=Dialect.native)
        compile_turn(_preset(content=f"{number}"), Content(history=history))
    held = (recall._voices, layout._known, inject._groups, native._zones, skeleton._known)
    assert all(len(memory) <= 16 for memory in held)
    assert len(collection._prepared) <= collection._PROMPTS
