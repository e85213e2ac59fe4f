"""The legacy engine on small texts of our own."""

from __future__ import annotations

import pytest

from preset_engine.macros.engine import Engine
from tests.macros.views import expander, legacy


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{user}} <CHAR>", "Jon Iva"),
        ("{{ user }}", "{{ user }}"),
        ("{{getvar::a}}{{setvar::a::1}}", "1"),
        ("{{setvar::a:: x }}[{{getvar::a}}]", "[ x ]"),
        ("{{description}}", "Iva mends clocks."),
        ("{{charDescription}}", "{{charDescription}}"),
        ("{{charJailbreak}}", "Stay brief, Iva."),
        ("{{reverse:abc}}{{// gone}}", "cba"),
        ("{{random:x, y}}{{roll 1d1}}", "y1"),
        ("{{if 1}}a{{/if}}", "{{if 1}}a{{/if}}"),
        ('{{banned "x"}}{{newline}}', "\n"),
        ("{{timeDiff::2026-01-01::2026-01-04}}", "3 days ago"),
        ("{{time_UTC+2}} {{datetimeformat YYYY}}", "6:05 PM 2026"),
        ("a\n{{trim}}\nb", "ab"),
        ("{{incvar::n}}{{decvar::n}}", "10"),
        ("{{setvar::::x}}", "{{setvar::::x}}"),
    ],
)
def test_a_replacement_happens(text: str, value: str) -> None:
    assert legacy(text) == value


def test_card_macros_taken_away_stay_as_text() -> None:
    assert legacy("{{description}} {{user}}", card_macros=False) == "{{description}} Jon"


def test_every_call_expands_the_card_fields_with_their_side_effects() -> None:
    one = expander(Engine.legacy)
    card = expander().view.card
    counting = expander(Engine.legacy, card=type(card)(description="{{incvar::seen}}"))
    counting.expand("no macro here")
    counting.expand("none here either")
    assert counting.view.variables.local == {"seen": 2}
    assert one.view.variables.local == {}


def test_a_refusing_macro_leaves_its_step_undone() -> None:
    one = expander(Engine.legacy)
    assert one.expand("{{setvar::a::1}}{{setvar:: ::2}}") == "{{setvar::a::1}}{{setvar:: ::2}}"
    assert one.view.variables.local == {"a": "1"}


def test_the_user_is_the_last_of_the_others() -> None:
    one = expander(Engine.legacy, group=("Iva", "Per"), group_not_muted=("Iva", "Per"))
    assert one.expand("{{notChar}}") == "Per, Jon"
