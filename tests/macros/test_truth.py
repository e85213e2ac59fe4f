"""Both engines of SillyTavern, row by row as captured; the seeds' rows; reported faults; real presets."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from preset_engine.context import Context
from preset_engine.macros.builtin.chance import list_items
from preset_engine.macros.engine import Engine
from preset_engine.macros.expand import Expander
from preset_engine.macros.native import expand_identity
from preset_engine.macros.nodes import Call
from preset_engine.macros.parser import parse
from preset_engine.macros.rows import answer_row
from preset_engine.macros.scenario import read_scenario
from preset_engine.macros.view import MacroView
from preset_engine.messages import ChatRecord
from tests import truth


@cache
def _environment() -> MacroView:
    path = truth.folder("golden") / "macro_environment.json"
    return read_scenario(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize("engine", [Engine.new, Engine.legacy])
@truth.table("macro_table.jsonl", "macro_table")
def test_a_row_is_answered_as_sillytavern_does(row: truth.Row, engine: Engine) -> None:
    answer = answer_row(_environment(), row, engine)
    assert answer == {"id": row["id"], **row[engine.value]}


def _seed_view(context: dict[str, Any]) -> MacroView:
    said = context.get("last_user_message")
    chat = (ChatRecord(context["user"], said, is_user=True),) if said is not None else ()
    return MacroView(context["user"], context["char"], context.get("persona", ""), chat=chat)


@truth.seeds("seed.macros")
def test_a_seed_row_of_macros_holds(row: truth.Row) -> None:
    given, expected = row["input"], row["expected"]
    first = Expander(_seed_view(given["context"]), engine=Engine.native)
    texts = [first.expand(entry) for entry in given["entries"]]
    unknown = [item.name for item in first.unknown.values()]
    if "then_new_assembly" in given:
        second = Expander(_seed_view(given["context"]), engine=Engine.native)
        texts = [second.expand(entry) for entry in given["then_new_assembly"]]
    assert (texts, unknown) == (expected["texts"], expected["unknown"])


@truth.seeds("seed.macro_roll")
def test_a_seed_roll_stays_in_its_range(row: truth.Row) -> None:
    rolls = {
        int(
            Expander(MacroView(context=Context(seed=seed)), engine=Engine.native).expand(
                row["input"]["text"]
            )
        )
        for seed in range(60)
    }
    assert min(rolls) >= row["expected"]["min"]
    assert max(rolls) <= row["expected"]["max"]
    assert len(rolls) > 1


@truth.seeds("wa.identity_directives")
def test_a_row_of_identity_directives_holds(row: truth.Row) -> None:
    persona = row["input"]["persona"]
    found = expand_identity(row["input"]["text"], persona["name"], persona.get("description", ""))
    assert found.text == row["expected"]["text"]
    assert list(found.hits) == row["expected"]["hits"]


@truth.cases("macro")
def test_a_reported_fault_of_macros_is_not_ours(row: truth.Row) -> None:
    given, expected = row["input"], row["expected"]
    expander = Expander(MacroView(given["macros"]["user"], given["macros"]["char"]))
    assert expander.expand(given["text"]) == expected["text"]
    for name, value in expected.get("variables", {}).items():
        assert expander.view.variables.local[name] == value
    if "warnings" in expected:
        found = [f"{note.code}:{name}" for note, name in zip(expander.notes(), expander.unknown)]
        assert found == expected["warnings"]


@truth.cases("macro-options")
def test_a_list_is_cut_as_expected(row: truth.Row) -> None:
    for text, options in zip(row["input"]["texts"], row["expected"]["options"]):
        (call,) = parse(text, 40).nodes
        assert isinstance(call, Call)
        assert list_items(tuple(argument.text for argument in call.arguments)) == options


@truth.corpus("presets")
def test_every_prompt_of_a_real_preset_expands(path: Path) -> None:
    """Named by the slowest of them: its place stands in the error, were there one."""
    body = json.loads(path.read_bytes().decode("utf-8-sig"), strict=False)
    prompts = [item for item in body.get("prompts") or [] if isinstance(item, dict)]
    texts = [item["content"] for item in prompts if isinstance(item.get("content"), str)]
    for engine in Engine:
        expander = Expander(MacroView("Noa", "Mira"), engine=engine)
        for place, text in enumerate(texts):
            value = expander.expand(text, place=f"$.prompts[{place}]")
            assert len(value) <= 2 * len(text) + 100_000
        assert [note for note in expander.notes() if note.code == "macro-limit"] == []
