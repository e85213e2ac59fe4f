"""The lower half of a probe on a terminal: what costs what, variables, silent entries, notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from preset_engine.assembler.plan import Stability
from preset_engine.cli.note_table import by_weight, note_table
from preset_engine.cli.probe_view import ProbeView, Source, sources, title_of
from preset_engine.cli.render import DIM, foreign, number, one_line
from preset_engine.errors import Note

_SOURCES_SHOWN, _NOTES_SHOWN, _SILENT_SHOWN, _VARIABLES_SHOWN = 12, 15, 12, 12
STABILITY_WORDS = {
    Stability.STABLE: "",
    Stability.MOVES: "moves",
    Stability.VOLATILE: "changes",
}


def probe_tables(view: ProbeView, *, full: bool) -> Iterator[RenderableType]:
    """Everything below the messages, top to bottom."""
    yield _costs(view, full=full)
    yield from _variables(view, full=full)
    yield from _silent(view, full=full)
    yield from _notes(view.notes, full=full)


def _costs(view: ProbeView, *, full: bool) -> RenderableType:
    found = sources(view.messages)
    has_few = len(found) <= _SOURCES_SHOWN + 1  # a line for one more would take as much room
    shown = found if full or has_few else found[:_SOURCES_SHOWN]
    table = Table(title="What costs what", title_justify="left", box=None, pad_edge=False)
    table.add_column("tokens", justify="right")
    table.add_column("share", justify="right")
    table.add_column("source", overflow="fold")
    table.add_column("kind", style=DIM)
    table.add_column("next turn")
    table.add_column("message", style=DIM)
    for source in shown:
        table.add_row(*_cost(source, view.tokens))
    rest = found[len(shown) :]
    if rest:
        count = sum(source.tokens for source in rest)
        table.add_row(number(count), "", Text(f"{len(rest)} more sources", style=DIM))
    return Group(table, Text())


def _cost(source: Source, total: int) -> Iterable[RenderableType]:
    first, last = source.messages[0] + 1, source.messages[-1] + 1
    return (
        number(source.tokens),
        f"{100 * source.tokens / total:.0f} %" if total else "",
        foreign(one_line(title_of(source.origin), 48)),
        source.origin.kind.value,
        Text(STABILITY_WORDS[source.stability], style="yellow"),
        str(first) if first == last else f"{first}–{last}",
    )


def _variables(view: ProbeView, *, full: bool) -> Iterator[RenderableType]:
    if not view.variables:
        return
    width = 10**9 if full else 60
    named = list(view.variables.items())
    shown = named if full else named[:_VARIABLES_SHOWN]
    yield Text("Variables that the macros changed (shown, not stored)", style="italic")
    for name, value in shown:
        yield Text.assemble(
            (f"  {one_line(name, 30)}", "bold"), f" = {one_line(str(value), width)}"
        )
    if len(named) > len(shown):
        yield Text(f"  … {len(named) - len(shown)} more (--full shows them)", style=DIM)
    yield Text()


def _silent(view: ProbeView, *, full: bool) -> Iterator[RenderableType]:
    if not view.silent:
        return
    shown = view.silent if full else view.silent[:_SILENT_SHOWN]
    names = ", ".join(one_line(name, 30) for name in shown)
    rest = len(view.silent) - len(shown)
    more = f" and {rest} more" if rest else ""
    yield Text(f"Take part and send nothing: {names}{more}", style=DIM)
    yield Text()


def _notes(notes: tuple[Note, ...], *, full: bool) -> Iterator[RenderableType]:
    if not notes:
        return
    ordered = by_weight(notes)
    shown = ordered if full else ordered[:_NOTES_SHOWN]
    yield Text("Notes", style="italic")
    yield note_table(shown)
    if len(ordered) > len(shown):
        yield Text(f"  … {len(ordered) - len(shown)} more notes (--full shows them)", style=DIM)
    yield Text()
