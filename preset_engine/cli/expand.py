"""`preset-engine expand`: expands the macros of a text, of table rows, or prints the list of macros."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from preset_engine.macros.engine import Engine
    from preset_engine.macros.view import MacroView
    from preset_engine.messages import JsonObject, JsonValue


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("expand")(expand)


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
    import json
    import sys

    chosen = _engine(engine)
    if listing:
        _print_list(chosen, as_json=as_json)
        return
    view = _view(scenario)
    text = _decode(sys.stdin.buffer.read(), "standard input")
    if lines:
        is_good = True
        for answer in _answers(view, text.split("\n"), chosen):
            is_good = is_good and "error" not in answer
            print(json.dumps(answer, ensure_ascii=True), flush=True)
        raise typer.Exit(0 if is_good else 1)
    if as_json:
        print(json.dumps(_answer(view, text, chosen), ensure_ascii=True))
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
    from preset_engine.errors import UnreadableInput

    try:
        data = scenario.read_bytes()
    except OSError as error:
        raise UnreadableInput(f"{scenario}: cannot be read ({error.strerror})") from None
    body = _parse(_decode(data, str(scenario)), str(scenario))
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


def _answers(view: MacroView, rows: Iterable[str], engine: Engine) -> Iterable[JsonObject]:
    from preset_engine.errors import PresetEngineError
    from preset_engine.macros.rows import answer_row

    for line in rows:
        if not line.strip():
            continue
        row_id: JsonValue = None
        try:
            row = _parse(line, "line")
            body = row if isinstance(row, dict) else {}
            row_id = body.get("id")
            yield answer_row(view, body, engine)
        except PresetEngineError as error:
            yield {"id": row_id, "error": str(error)}


def _print_list(engine: Engine, *, as_json: bool) -> None:
    import json

    from preset_engine.macros.help import describe, macros_of

    found = macros_of(engine)
    if as_json:
        print(json.dumps([describe(macro, engine) for macro in found], ensure_ascii=True))
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


def _decode(data: bytes, where: str) -> str:
    from preset_engine.errors import UnreadableInput

    try:
        return data.decode("utf-8-sig" if where != "standard input" else "utf-8")
    except UnicodeDecodeError as error:
        message = f"{where}: not UTF-8 text (byte {error.start})"
        raise UnreadableInput(message) from None


def _parse(text: str, where: str) -> JsonValue:
    import json

    from preset_engine.errors import UnreadableInput

    try:
        value: JsonValue = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"{where}: not JSON ({error})") from None
    return value
