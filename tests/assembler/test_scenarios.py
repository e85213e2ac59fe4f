"""Whole generations captured from SillyTavern 1.19, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from preset_engine.cli.assemble import answer_of
from tests import truth

COMPARED = (
    "type",
    "model",
    "temperature",
    "frequency_penalty",
    "presence_penalty",
    "top_p",
    "max_tokens",
    "stream",
    "user_name",
    "char_name",
    "group_names",
    "custom_prompt_post_processing",
)


def answer_and_truth(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    body = json.loads(path.read_text("utf-8"))
    expected = body.pop("expected")
    return answer_of(body), expected


@truth.scenarios("scenarios", binding=lambda name: name in truth.plain_names())
def test_a_scenario_gives_the_captured_request(path):
    answer, expected = answer_and_truth(path)
    assert answer["frontend_messages"] == expected["frontend_messages"]
    assert answer["backend_messages"] == expected["backend_messages"]
    assert answer["params"]["backend"] == expected["params"]["backend"]
    frontend = expected["params"]["frontend"]
    assert {key: answer["params"]["frontend"].get(key) for key in COMPARED} == {
        key: frontend.get(key) for key in COMPARED
    }
    assert answer["variables"]["local"] == expected["local_variables_after"]
    assert answer["variables"]["global"] == expected["global_variables_after"]
