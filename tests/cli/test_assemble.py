"""`preset-engine assemble`: one document in, one out; a line for each line."""

from __future__ import annotations

import json

from tests.program import run_program

SCENARIO = {
    "name": "tea",
    "now": "2025-03-14T09:26:53Z",
    "timezone": "UTC",
    "inputs": {
        "preset": {
            "prompts": [
                {
                    "identifier": "main",
                    "role": "system",
                    "content": "You are {{char}}.",
                    "system_prompt": True,
                },
                {"identifier": "chatHistory", "marker": True, "system_prompt": True},
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
            "new_chat_prompt": "",
        },
        "card": {"data": {"name": "Ada", "first_mes": "Hello, {{user}}."}},
        "persona": {"name": "Ben"},
        "chat": [],
        "user_message": "Tea?",
        "settings": {},
    },
}


def assemble(*arguments, given=""):
    return run_program("assemble", *arguments, given=given)


def test_a_scenario_from_standard_input_answers_with_messages_params_and_variables():
    done = assemble("-", given=json.dumps(SCENARIO))
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert set(answer) == {
        "name",
        "frontend_messages",
        "backend_messages",
        "params",
        "variables",
        "notes",
    }
    assert answer["backend_messages"] == [
        {"role": "system", "content": "You are Ada."},
        {"role": "assistant", "content": "Hello, Ben."},
        {"role": "user", "content": "Tea?"},
    ]


def test_each_line_has_one_answer_line_and_a_bad_line_ends_with_status_1():
    good = json.dumps(SCENARIO)
    done = assemble("--lines", "-", given=f"{good}\nnot json\n{good}\n")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [("error" in answer) for answer in answers] == [False, True, False]
    assert done.stdout.isascii()


def test_an_unreadable_file_is_one_line_and_status_2(tmp_path):
    done = assemble(str(tmp_path / "missing.json"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
