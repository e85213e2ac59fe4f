"""Scenarios read as views; rows of a macro table answered over one."""

from __future__ import annotations

import pytest

from preset_engine.errors import UnreadableInput
from preset_engine.macros.engine import Engine
from preset_engine.macros.rows import answer_row
from preset_engine.macros.scenario import read_scenario, with_options
from tests.macros.views import view

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
