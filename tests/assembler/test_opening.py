"""What happens to the typed text before a prompt is made."""

from __future__ import annotations

import pytest

from preset_engine.compile.turn import compile_turn
from preset_engine.content.content import Content
from preset_engine.dialect import Dialect
from preset_engine.preset.importer import load_preset

BARE = load_preset(
    {
        "prompts": [{"identifier": "chatHistory", "marker": True, "system_prompt": True}],
        "prompt_order": [
            {"character_id": 100001, "order": [{"identifier": "chatHistory", "enabled": True}]}
        ],
        "new_chat_prompt": "",
    }
).preset


def sent(typed: str) -> list[tuple[str, str]]:
    turn = compile_turn(BARE, Content(turn=typed), dialect=Dialect.sillytavern)
    return [(message.role, message.text) for message in turn.messages]


@pytest.mark.parametrize(
    ("typed", "user"),
    [
        ('Go. {{bias "Sure"}} {{user}}', "Go."),
        ('{{bias "Sure"}}a{{b}}c}}d{{e', "ac}}d{{e"),
        ('{{bias "Sure"}}{{{{x}}y', "y"),
        ('{{bias "Sure"}}{{}}{{}z', "{{}z"),
    ],
)
def test_a_bias_strips_every_macro_from_the_typed_text(typed: str, user: str) -> None:
    assert ("user", user) in sent(typed)
    assert sent(typed)[-1] == ("assistant", " Sure")


def test_openings_without_an_end_are_walked_once() -> None:
    """Looking for the end from every opening anew would take minutes here."""
    openings = "{{" * 100_000
    assert sent(f'{{{{bias "Sure"}}}}{openings}')[0] == ("user", openings)
