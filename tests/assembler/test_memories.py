"""Whatever the engine remembers from turn to turn, it gives what it would give without any memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.forgetting import forget_chats, forget_presets, forget_texts
from preset_engine.compile.turn import compile_turn
from preset_engine.content.content import Block, Content, Persona
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.messages import ChatMessage
from preset_engine.preset.importer import load_preset
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
