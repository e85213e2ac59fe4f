"""Macros that a text mentions, found without evaluating them."""

from __future__ import annotations

import pytest

from preset_engine.macros.engine import Engine
from preset_engine.macros.mentions import find_mentions, is_known
from preset_engine.macros.registry import default_registry


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{{user}} {{ char }}", [("user", 0), ("char", 9)]),
        ("{{setvar::a::{{getvar::b}}}}", [("setvar", 0), ("getvar", 13)]),
        ("{{// {{user}} }}", [("//", 0), ("user", 5)]),
        ("{{标题 在此}}{{title here}}", [("标题 在此", 0), ("title here", 9)]),
        ("{{roll 1d6}}{{datetimeformat YYYY}}", [("roll", 0), ("datetimeformat", 12)]),
        ("{{if .a}}{{/if}}{{.a}}{{$b++}}", [("if", 0), (".a", 16), ("$b", 22)]),
        ("{{}} {{ }} {{/x}} plain", []),
        ("{{user", [("user", 0)]),
        ("{{char林河湖}}{{user.fine}}", [("char", 0), ("user", 11)]),
    ],
)
def test_mentions_are_found_with_their_places(text: str, found: list[tuple[str, int]]) -> None:
    assert list(find_mentions(text)) == found


def test_known_means_known_to_an_engine() -> None:
    assert is_known("USER")
    assert is_known("random")
    assert not is_known("random", Engine.native)
    assert not is_known("description", Engine.native)
    assert is_known("persona", Engine.native)
    assert is_known("charJailbreak", Engine.legacy)
    assert not is_known("charJailbreak", Engine.new)
    assert not is_known("标题")
    assert not is_known("sim_tracker")
    tracker = default_registry().find("sim_tracker")
    assert tracker is not None
    assert tracker.owner == "SimTracker"
