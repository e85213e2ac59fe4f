"""`preset-engine expand`: expands the macros of a text, of table rows, or prints the list of macros."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from preset_engine.macros.engine import Engine
    from preset_engine.macros.view import MacroView
    from preset_engine.messages import JsonObject


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("expand", short_help="Replace the macros of a text, or list all macros.")(expand)


def expand(
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario", help="Scenario file (JSON) with card, persona, chat, variables."
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="new, legacy (SillyTavern's two) or native.")
    ] = "new",
    lines: Annotated[
        bool, typer.Option("--lines", help="One row a line; one answer line for each.")
    ] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="Print the macros of the engine and stop.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Expand the macros of standard input, which is one text as a whole."""
    import sys

    chosen = _engine(engine)
    if listing:
        _print_list(chosen, as_json=as_json)
        return
    from preset_engine.cli.json_io import answer_lines, read_bytes, to_json

    view = _view(scenario)
    if lines:
        from preset_engine.macros.rows import answer_row

        is_good = answer_lines("-", "id", lambda row: answer_row(view, row, chosen))
        raise typer.Exit(0 if is_good else 1)
    text = _decode(read_bytes("-"))
    if as_json:
        print(to_json(_answer(view, text, chosen)))
        return
    from preset_engine.macros.expand import Expander

    value = Expander(view, engine=chosen).expand(text, place="standard input")
    sys.stdout.buffer.write(value.encode("utf-8", "replace"))


def _engine(name: str) -> Engine:
    from preset_engine.errors import InputRefused
    from preset_engine.macros.engine import Engine

    try:
        return Engine(name)
    except ValueError:
        known = ", ".join(Engine)
        raise InputRefused(f"--engine is one of {known}, not {name!r}") from None


def _view(scenario: Path | None) -> MacroView:
    from preset_engine.macros.scenario import read_scenario
    from preset_engine.macros.view import MacroView
    from preset_engine.settings import live_context

    if scenario is None:
        return MacroView(context=live_context()[0])
    from preset_engine.cli.json_io import parse_json, read_text
    from preset_engine.errors import UnreadableInput

    body = parse_json(read_text(scenario), scenario)
    if not isinstance(body, dict):
        raise UnreadableInput(f"{scenario}: a scenario is a JSON object")
    return read_scenario(body)


def _answer(view: MacroView, text: str, engine: Engine) -> JsonObject:
    from preset_engine.macros.expand import Expander
    from preset_engine.macros.rows import answer_text

    expander = Expander(view, engine=engine)
    answer = answer_text(expander, text, {})
    answer["volatile"] = expander.last_volatile
    answer["notes"] = [dict(note.to_json()) for note in expander.notes()]
    return answer


def _print_list(engine: Engine, *, as_json: bool) -> None:
    from preset_engine.cli.json_io import to_json
    from preset_engine.macros.help import describe, macros_of

    found = macros_of(engine)
    if as_json:
        print(to_json([describe(macro, engine) for macro in found]))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("macro", "other names", "changes by", "meaning", title=f"macros: {engine}")
    for macro in found:
        name, *others = macro.names(engine)
        form = macro.form.replace(macro.name, name, 1)
        table.add_row(form, " ".join(others), macro.volatility.value, macro.meaning)
    console = Console(markup=False)
    console.print(table)


def _decode(data: bytes) -> str:
    from preset_engine.errors import UnreadableInput

    try:
        return data.decode("utf-8")  # a byte-order mark is text here
    except UnicodeDecodeError as error:
        message = f"standard input: not UTF-8 text (byte {error.start})"
        raise UnreadableInput(message) from None
