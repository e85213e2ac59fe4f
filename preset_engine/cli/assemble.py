"""`preset-engine assemble`: one scenario in, the assembled messages out; or one a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from preset_engine.messages import JsonObject, JsonValue


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("assemble")(assemble)


def assemble(
    scenario: Annotated[str, typer.Argument(help="Scenario file (JSON), or - for standard input.")],
    lines: Annotated[
        bool, typer.Option("--lines", help="One scenario a line; one answer line for each.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print compact JSON (the answer is JSON in any case).")
    ] = False,
) -> None:
    """Assemble a scenario and print its messages, parameters, variables and notes as JSON."""
    import json

    text = _read(scenario)
    if lines:
        is_good = True
        for answer in _answers(text.split("\n")):
            is_good = is_good and "error" not in answer
            print(json.dumps(answer, ensure_ascii=True), flush=True)
        raise typer.Exit(0 if is_good else 1)
    answer = answer_of(_parse(text, scenario))
    print(json.dumps(answer, ensure_ascii=True, indent=None if as_json else 1))


def answer_of(body: JsonValue) -> JsonObject:
    """The answer to one scenario."""
    from preset_engine.assembler.scenario import read_scenario
    from preset_engine.compile.turn import compile_turn
    from preset_engine.context import Context
    from preset_engine.preset.importer import load_preset
    from preset_engine.settings import live_context

    scenario = read_scenario(body)
    imported = load_preset(scenario.preset) if scenario.preset is not None else None
    live = live_context()[0] if scenario.clock is None else Context()
    turn = compile_turn(
        imported.preset if imported else None,
        scenario.content,
        dialect=scenario.dialect,
        context=scenario.context(live),
    )
    notes = (*(imported.notes if imported else ()), *turn.notes)
    return {
        "name": scenario.name,
        "frontend_messages": [wire(message.to_json()) for message in turn.assembled],
        "backend_messages": [wire(message.to_json()) for message in turn.messages],
        "params": dict(turn.params),
        "variables": {key: dict(value) for key, value in turn.variables.items()},
        "notes": [dict(note.to_json()) for note in notes],
    }


def wire(message: JsonObject) -> JsonObject:
    """A message as SillyTavern posts it: without `content` where there is none."""
    return {key: value for key, value in message.items() if key != "content" or value is not None}


def _answers(rows: Iterable[str]) -> Iterable[JsonObject]:
    from preset_engine.errors import PresetEngineError

    for row in rows:
        if not row.strip():
            continue
        name = ""
        try:
            body = _parse(row, "line")
            name = str(body.get("name") or "") if isinstance(body, dict) else ""
            yield answer_of(body)
        except PresetEngineError as error:
            yield {"name": name, "error": str(error)}


def _read(source: str) -> str:
    import sys

    from preset_engine.errors import UnreadableInput

    try:
        if source == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig", "replace")
        return Path(source).read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        message = f"{source}: cannot be read ({error.strerror})"
        raise UnreadableInput(message) from None


def _parse(text: str, where: str) -> JsonValue:
    import json

    from preset_engine.errors import UnreadableInput

    try:
        value: JsonValue = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        message = f"{where}: not JSON ({error})"
        raise UnreadableInput(message) from None
    return value
