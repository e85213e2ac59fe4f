"""`preset-engine probe`: what a preset really sends, and which entry made which piece of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from preset_engine.cli.content_files import ContentFiles
    from preset_engine.cli.probe_view import ProbeView

_SQUASH = "none, merge, semi, strict, single, one of them with _tools, or system (SillyTavern's checkbox)."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("probe", short_help="Show the messages a preset makes, and why.")(probe)


def probe(
    preset: Annotated[Path, typer.Argument(metavar="PRESET", help="Preset file.")],
    content: Annotated[
        Path | None, typer.Option(help="JSON file with the fields of Content; samples without it.")
    ] = None,
    card: Annotated[Path | None, typer.Option(help="Character card: JSON or PNG.")] = None,
    persona: Annotated[
        Path | None, typer.Option(help="Persona: JSON, or a text file with the description.")
    ] = None,
    world: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="World book; may be given several times."),
    ] = None,
    chat: Annotated[
        Path | None, typer.Option(help="Chat: SillyTavern .jsonl, OpenAI messages, or text.")
    ] = None,
    turn: Annotated[str | None, typer.Option(help="The user's newest message.")] = None,
    dialect: Annotated[str, typer.Option(help="native or sillytavern.")] = "native",
    squash: Annotated[str | None, typer.Option(help=_SQUASH)] = None,
    full: Annotated[bool, typer.Option("--full", help="Show every text whole.")] = False,
    fixed: Annotated[
        bool,
        typer.Option("--fixed", help="A clock that stands still, and the same dice every time."),
    ] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Print exactly the request body.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print messages, plan, tokens and notes as JSON.")
    ] = False,
) -> None:
    """Show the messages a preset makes: origins, tokens, the stable prefix, notes. Nothing is stored."""
    from preset_engine.cli.content_files import ContentFiles
    from preset_engine.cli.json_io import print_json

    files = ContentFiles(content, card, persona, world or (), chat, turn)
    view = make_probe(preset, files, dialect=dialect, squash=squash, is_fixed=fixed)
    if raw:
        print_json(view.body)
    elif as_json:
        print_json(view.to_json())
    else:
        print_screen(view, full=full)


def make_probe(
    preset: Path, files: ContentFiles, *, dialect: str, squash: str | None, is_fixed: bool
) -> ProbeView:
    """Load the files and compile the turn."""
    from preset_engine.cli.content_files import gather_content
    from preset_engine.cli.probing import Wish, probe_turn
    from preset_engine.context import Context
    from preset_engine.dialect import Dialect
    from preset_engine.preset.importer import load_preset
    from preset_engine.settings import live_context

    rules = Dialect.read(dialect)
    imported = load_preset(preset)
    live, notes = live_context()
    context = Context(tokens=live.tokens, patterns=live.patterns) if is_fixed else live
    given = gather_content(files, imported.preset, rules)
    wish = Wish(rules, True if squash == "system" else squash, context)
    return probe_turn(imported.preset, given, wish, (*notes, *imported.notes))


def print_screen(view: ProbeView, *, full: bool = False) -> None:
    """Print the rich view."""
    from rich.console import Console

    from preset_engine.cli.probe_screen import probe_screen

    Console(highlight=False).print(probe_screen(view, full=full))
