"""`preset-engine assemble`: one scenario in, the assembled messages out; or one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from preset_engine.messages import JsonObject, JsonValue


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("assemble", short_help="Turn a scenario into its messages, as JSON.")(assemble)


def assemble(
    scenario: Annotated[
        str,
        typer.Argument(metavar="SCENARIO", help="Scenario file (JSON), or - for standard input."),
    ],
    lines: Annotated[
        bool, typer.Option("--lines", help="One scenario a line; one answer line for each.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print compact JSON (the answer is JSON in any case).")
    ] = False,
) -> None:
    """Assemble a scenario and print its messages, parameters, variables and notes as JSON."""
    from preset_engine.cli.json_io import answer_lines, parse_json, read_text, to_json

    if lines:
        raise typer.Exit(0 if answer_lines(scenario, "name", answer_of) else 1)
    answer = answer_of(parse_json(read_text(scenario), scenario))
    print(to_json(answer, indent=None if as_json else 1))


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
