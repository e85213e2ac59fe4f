"""`preset-engine demo`: the main job on a shipped preset, from file to messages, without network or key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from preset_engine.cli.content_files import GivenContent
    from preset_engine.cli.probe_view import ProbeView
    from preset_engine.content.content import Content
    from preset_engine.messages import JsonObject

_PRESET = "three-voices.json"
_REPLY = (
    "“They wait for the bell on the buoy,” she says, and opens the window so that you can hear it."
)
_NEXT = "I lean out and listen."


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo", short_help="See it all on a shipped preset: no network, no key.")(demo)


def demo(
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Import, assemble and probe a shipped preset: no network, no key."""
    from preset_engine.cli.json_io import print_json

    first, second = two_turns(presets_folder() / _PRESET)
    shared = shared_tokens(first, second)
    if as_json:
        print_json({"first": first.to_json(), "second": second.to_json(), "shared": shared})
    else:
        _print(first, second, shared)


def presets_folder() -> Path:
    """Where the shipped presets are: inside the installed package, or beside it in a checkout.

    Raises:
        UnreadableInput: neither is there.
    """
    from preset_engine.errors import UnreadableInput

    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_presets", package.parent / "presets"):
        if (folder / _PRESET).is_file():
            return folder
    raise UnreadableInput("the shipped presets are missing; install preset-engine anew")


def two_turns(preset: Path) -> tuple[ProbeView, ProbeView]:
    """The sample's turn, and the one after it."""
    from dataclasses import replace

    from preset_engine.cli.content_files import ContentFiles, gather_content
    from preset_engine.cli.probing import Wish, probe_turn
    from preset_engine.context import Context
    from preset_engine.dialect import Dialect
    from preset_engine.preset.importer import load_preset
    from preset_engine.settings import live_context

    imported = load_preset(preset)
    live, notes = live_context()
    wish = Wish(Dialect.native, None, Context(tokens=live.tokens, patterns=live.patterns))
    given = gather_content(ContentFiles(), imported.preset, wish.dialect)
    later = replace(given, content=_went_on(given))
    first = probe_turn(imported.preset, given, wish, (*notes, *imported.notes))
    return first, probe_turn(imported.preset, later, wish)


def _went_on(given: GivenContent) -> Content:
    from dataclasses import replace

    from preset_engine.messages import ChatMessage

    said = (ChatMessage("user", given.content.turn), ChatMessage("assistant", _REPLY))
    return replace(given.content, history=(*given.content.history, *said), turn=_NEXT)


def shared_tokens(first: ProbeView, second: ProbeView) -> JsonObject:
    """How much of the second prompt a prefix cache already has: whole messages that are equal from the top."""
    count = tokens = 0
    for one, other in zip(first.messages, second.messages):
        if one.message != other.message:
            break
        count += 1
        tokens += other.tokens
    return {"messages": count, "tokens": tokens, "of_tokens": second.tokens}


def _print(first: ProbeView, second: ProbeView, shared: JsonObject) -> None:
    from rich.console import Console, Group
    from rich.rule import Rule
    from rich.text import Text

    from preset_engine.cli.probe_screen import probe_screen

    def head(text: str) -> Rule:
        return Rule(Text(text, style="bold"), align="left")

    next_turn = (
        f"One reply and one message later the prompt has {second.tokens:,} tokens. Its first "
        f"{shared['messages']} messages are byte for byte those of the turn before: "
        f"{shared['tokens']:,} tokens that a prefix cache has already."
    )
    screen = Group(
        head("preset_engine: a preset in, exact messages out"),
        Text(f"The file {_PRESET} was imported and filled with the built-in samples."),
        Text("Below is what a model would get, and where every piece of it comes from."),
        Text(),
        probe_screen(first),
        head("The next turn"),
        Text(next_turn),
        Text(),
        head("Go on"),
        *map(Text, _COMMANDS),
    )
    Console(highlight=False).print(screen)


_COMMANDS = (
    "  preset-engine probe FILE                  the same for a preset of yours",
    "  preset-engine probe FILE --raw            exactly the request body",
    "  preset-engine probe FILE --dialect sillytavern --card CARD --chat CHAT",
    "  preset-engine import FILE                 what was taken, mended and left",
    "  preset-engine --help                      everything else",
)
