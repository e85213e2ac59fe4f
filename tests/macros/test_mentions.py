"""Macros that a text mentions, found without evaluating them; reading scenarios."""

from __future__ import annotations

import pytest

from preset_engine.errors import UnreadableInput
from preset_engine.macros.engine import Engine
from preset_engine.macros.mentions import find_mentions, is_known
from preset_engine.macros.registry import default_registry
from preset_engine.macros.rows import answer_row
from preset_engine.macros.scenario import read_scenario, with_options
from tests.macros.views import view


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


SCENARIO = {
    "now": "2026-02-03T16:00:00Z",
    "timezone": "Europe/Berlin",
    "inputs": {
        "preset": {"openai_max_context": 9000, "openai_max_tokens": 1000},
        "card": {"data": {"name": "Iva", "description": " {{char}} "}},
        "persona": {"name": "Jon", "description": "kind"},
        "chat": [{"name": "Jon", "is_user": True, "mes": "hi"}],
        "settings": {
            "chat_metadata": {"variables": {"a": "1"}, "chat_id_hash": 5},
            "global_variables": {"g": 2},
            "outlets": {"o": "out"},
            "random_source": 0.9,
        },
    },
}


def test_a_scenario_becomes_a_view() -> None:
    seen = read_scenario(SCENARIO)  # type: ignore[arg-type]  # plain JSON
    row = {
        "id": "r1",
        "input": "{{user}} {{description}} {{time}} {{maxPrompt}} {{getglobalvar::g}} {{outlet::o}} {{random::a::b}}"
        "{{lastMessage}}{{incvar::a}}{{original}}",
        "options": {"local": {"a": "4"}, "original": "!"},
    }
    answer = answer_row(seen, row, Engine.new)  # type: ignore[arg-type]
    assert answer == {
        "id": "r1",
        "output": "Jon Iva 5:00 PM 8000 2 out bhi5!",
        "local_after": {"a": 5},
    }


def test_every_row_starts_from_the_same_variables() -> None:
    seen = view()
    answer_row(seen, {"input": "{{setvar::a::1}}{{setglobalvar::b::1}}"}, Engine.new)
    assert (seen.variables.local, seen.variables.shared) == ({}, {})
    assert with_options(seen, {"global": {"g": 1}}).variables.shared == {"g": 1}


def test_a_damaged_scenario_is_read_as_far_as_it_goes() -> None:
    seen = read_scenario({"inputs": {"card": [], "chat": {}, "settings": 3, "persona": None}})
    assert (seen.user, seen.char, seen.chat) == ("User", "Assistant", ())


def test_refusals_name_what_is_wrong() -> None:
    with pytest.raises(UnreadableInput, match="no time zone 'Mars/Base'"):
        read_scenario({"timezone": "Mars/Base"})
    with pytest.raises(UnreadableInput, match="'input'"):
        answer_row(view(), {"id": 1}, Engine.new)
