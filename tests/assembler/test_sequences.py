"""Conversations of 8 to 24 turns captured from SillyTavern 1.19; each turn starts from the captured state."""

from __future__ import annotations

import json
from typing import Any

from preset_engine.cli.assemble import answer_of
from tests import truth


def scenario_of(body: dict[str, Any], turn: dict[str, Any], chat: list, variables, shared) -> dict:
    """One turn as a scenario of its own."""
    inputs = json.loads(json.dumps(body["inputs"]))
    settings = inputs.setdefault("settings", {})
    settings["generation_type"] = turn["type"]
    settings.setdefault("chat_metadata", {})["variables"] = variables
    settings["global_variables"] = shared
    if "random" in turn:
        settings["random_source"] = turn["random"]
    if "quiet_prompt" in turn:
        settings["quiet_prompt"] = turn["quiet_prompt"]
    inputs["chat"] = chat
    inputs["user_message"] = turn.get("user_message", "")
    return {
        "name": body["name"],
        "macro_engine": body["macro_engine"],
        "now": turn["now"],
        "timezone": body["timezone"],
        "inputs": inputs,
    }


def edited(chat: list[dict], operations: list[dict]) -> list[dict]:
    """The chat after what the user did before the turn."""
    chat = [dict(line) for line in chat]
    for one in operations:
        match one.get("op"):
            case "edit":
                chat[one["index"]]["mes"] = one["text"]
            case "delete":
                del chat[one["from"] : one["to"] + 1]
            case "hide" | "unhide":
                chat[one["index"]]["is_system"] = one["op"] == "hide"
            case "swipe_left":
                last = chat[-1]
                last["swipe_id"] = last["swipe_id"] - 1
                last["mes"] = last["swipes"][last["swipe_id"]]
    return chat


def lines(chat: list[dict]) -> list[dict]:
    """A captured chat as saved lines."""
    found = []
    for line in chat:
        saved = {"name": line.get("name"), "is_user": line.get("is_user", False)}
        saved["mes"] = line.get("mes", line.get("text", ""))
        saved["is_system"] = line.get("is_system", line.get("hidden", False))
        for key in ("swipes", "swipe_id", "extra"):
            if key in line:
                saved[key] = line[key]
        if "swipe" in line:
            saved["swipe_id"] = line["swipe"]
        found.append(saved)
    return found


@truth.scenarios("sequences", binding=lambda name: False)
def test_every_turn_of_a_sequence(path):
    body = json.loads(path.read_text("utf-8"))
    chat = lines(body["start"]["chat"])
    variables = body["start"].get("local_variables", {})
    shared: dict[str, Any] = {}
    for number, turn in enumerate(body["turns"]):
        chat = edited(chat, turn.get("before", []))
        answer = answer_of(scenario_of(body, turn, chat, variables, shared))
        expected = turn["expected"]
        assert answer["frontend_messages"] == expected["frontend_messages"], number
        assert answer["backend_messages"] == expected["backend_messages"], number
        assert answer["variables"]["local"] == expected["local_variables_after"], number
        chat = lines(expected["chat_after"])
        variables = expected["local_variables_after"]
        shared = expected.get("global_variables_after", shared)
