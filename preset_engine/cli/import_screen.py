"""The import report for people: a screenful, whatever the size of the preset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from preset_engine.errors import Note
    from preset_engine.preset.importer import Imported

_MARK = {"error": ("error", "bold red"), "warning": ("warning", "yellow"), "info": ("note", "dim")}
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
    console.print(Text(file, style="bold"), Text(_FORMS.get(str(report["kind"]), "")), sep="  ")
    console.print(_facts(report["preset"]))
    console.print(_macros(report["diagnostics"]["macros"]))
    notes = [*imported.notes, *more]
    if notes:
        console.print(_notes(notes))
    for note in report.get("conversion_notes", ()):
        console.print(Text(f"conversion: {note['message']}", style="yellow"))
    if "written" in report:
        console.print(Text(f"written: {report['written']}"))


def _facts(preset: dict[str, Any]) -> Table:
    grid = Table.grid(padding=(0, 2))
    tokens = preset["tokens"]
    order = preset["order_character_id"]
    grid.add_row("name", Text(_plain(preset["name"])))
    entries = f"{preset['prompt_count']} entries, {preset['enabled_count']} switched on"
    chat = f", {preset['in_chat_count']} of them in the chat" if preset["in_chat_count"] else ""
    grid.add_row("entries", f"{entries}{chat}; {preset['unlisted_count']} not in the order")
    grid.add_row(
        "tokens",
        f"{tokens['enabled']:,} switched on, {tokens['all']:,} in all ({tokens['counter']})",
    )
    lists = "one list" if preset["order_count"] == 1 else f"{preset['order_count']} lists"
    grid.add_row(
        "order", Text(f"{lists}{f', that of {_plain(order)} is followed' if order else ''}")
    )
    values = ", ".join(f"{key} {value}" for key, value in preset["generation"].items())
    grid.add_row("generation", Text(values or "none"))
    if preset["regex_script_count"]:
        grid.add_row("scripts", f"{preset['regex_script_count']} regex scripts")
    return grid


def _macros(macros: list[dict[str, Any]]) -> Text:
    known = [use for use in macros if use["known"]]
    unknown = [use for use in macros if not use["known"]]
    total = sum(use["count"] for use in macros)
    text = Text(f"macros      {total} uses of {len(known)} names")
    if known:
        text.append(": " + ", ".join(f"{_plain(use['name'])} {use['count']}" for use in known[:8]))
        text.append(", …" if len(known) > 8 else "")
    if unknown:
        text.append(f"; {len(unknown)} unknown names stay as text", style="dim")
    return text


def _notes(notes: list[Note]) -> Table:
    table = Table(box=None, padding=(0, 1), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for note in notes:
        label, style = _MARK[note.weight.value]
        line = Text(_plain(note.message))
        if note.path:
            line.append(f"  {_plain(note.path)}", style="dim")
        if note.advice and note.weight.value != "info":
            line.append(f"  {note.advice}", style="italic")
        table.add_row(Text(label, style=style), line)
    return table


def _plain(text: str) -> str:
    """The text on one line, without control characters that a terminal would obey."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
