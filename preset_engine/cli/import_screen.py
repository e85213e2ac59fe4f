"""The import report for people: a screenful, whatever the size of the preset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from preset_engine.characters import printable
from preset_engine.cli.note_table import by_weight, note_table
from preset_engine.cli.render import DIM, plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from preset_engine.errors import Note
    from preset_engine.preset.importer import Imported

_FORMS = {
    "sillytavern": "SillyTavern chat-completion preset",
    "native": "native preset",
    "old": "SillyTavern preset from before the prompt manager",
    "manager_export": "export of SillyTavern's prompt manager",
    "settings": "active preset of a SillyTavern settings.json",
    "prompt_list": "bare list of prompts",
}


def print_report(
    file: str,
    imported: Imported,
    report: dict[str, Any],
    more: Iterable[Note],
    console: Console | None = None,
) -> None:
    """Print the report of one file.

    Args:
        file: the file as named on the command line.
        imported: the preset and its notes.
        report: `Imported.to_report()` with tokens, and what was written.
        more: notes of the token counter.
        console: where to; standard output when None.
    """
    console = console or Console(highlight=False)
    console.print(
        Text.assemble((printable(file), "bold"), "  ", _FORMS.get(str(report["kind"]), "")),
        soft_wrap=True,
    )
    facts = _facts(report["preset"])
    facts.add_row("macros", _macros(report["diagnostics"]["macros"]))
    console.print(facts)
    notes = by_weight([*imported.notes, *more])
    if notes:
        console.print(note_table(notes, advise_all=False))
    for note in report.get("conversion_notes", ()):
        console.print(Text(f"conversion: {note['message']}", style="yellow"))
    if "written" in report:
        console.print(Text(f"written: {report['written']}"), soft_wrap=True)
    elif "conversion_notes" in report:
        console.print(Text("nothing is written; name a file with --out", style="yellow"))


def _facts(preset: dict[str, Any]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    tokens = preset["tokens"]
    grid.add_row("name", Text(printable(preset["name"])))
    entries = f"{plural(preset['prompt_count'], 'entry', 'entries')}, {preset['enabled_count']} switched on"
    chat = f", {preset['in_chat_count']} of them in the chat" if preset["in_chat_count"] else ""
    grid.add_row("entries", f"{entries}{chat}; {preset['unlisted_count']} not in the order")
    grid.add_row(
        "tokens",
        f"{tokens['enabled']:,} switched on, {tokens['all']:,} in all ({tokens['counter']})",
    )
    grid.add_row("order", Text(_order(preset)))
    values = ", ".join(f"{key} {_value(value)}" for key, value in preset["generation"].items())
    grid.add_row("generation", Text(values or "none"))
    if preset["regex_script_count"]:
        grid.add_row("scripts", plural(preset["regex_script_count"], "regex script"))
    return grid


def _order(preset: dict[str, Any]) -> str:
    count, followed = preset["order_count"], preset["order_character_id"]
    if not count:
        return "none in the file; the default order stands in"
    whose = f", that of {printable(followed)} is followed" if followed else ""
    return ("one list" if count == 1 else f"{count} lists") + whose


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _macros(macros: list[dict[str, Any]]) -> Text:
    known = [use for use in macros if use["known"]]
    unknown = [use for use in macros if not use["known"]]
    total = sum(use["count"] for use in macros)
    if not macros:
        return Text("none")
    text = Text(f"{plural(total, 'use')} of {plural(len(known), 'known name')}")
    if known:
        text.append(
            ": " + ", ".join(f"{printable(use['name'])} {use['count']}" for use in known[:8])
        )
        text.append(", …" if len(known) > 8 else "")
    if unknown:
        stay = "stays" if len(unknown) == 1 else "stay"
        text.append(f"; {plural(len(unknown), 'unknown name')} {stay} as text", style=DIM)
    return text
