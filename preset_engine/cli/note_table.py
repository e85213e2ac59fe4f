"""Notes on a terminal: weight, code, place, what was found, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from preset_engine.cli.render import DIM, WEIGHT_STYLES, one_line
from preset_engine.errors import Note, Weight


def by_weight(notes: Iterable[Note]) -> list[Note]:
    """The notes, the heaviest first; equals stay in order."""
    return sorted(notes, key=lambda note: list(WEIGHT_STYLES).index(note.weight.value))


def note_table(notes: Iterable[Note], *, advise_all: bool = True) -> Table:
    """One row a note.

    Args:
        notes: in the order in which they are shown.
        advise_all: whether notes that are mere information show their advice too.
    """
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for note in notes:
        weight = note.weight.value
        place = f" ({one_line(note.path, 50)})" if note.path else ""
        line = Text.assemble((note.code, "bold"), f"{place}  {one_line(note.message, 300)}")
        if note.advice and (advise_all or note.weight is not Weight.INFO):
            line.append(f" → {one_line(note.advice, 300)}", style=DIM)
        grid.add_row(Text(f"  {weight}", style=WEIGHT_STYLES[weight]), line)
    return grid
