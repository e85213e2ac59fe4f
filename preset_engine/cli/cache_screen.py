"""The report as tables of text: with rich in a terminal, as aligned columns elsewhere (quicker, and easy to cut).

Names from logs are shown without control characters and never as markup.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from textwrap import fill
from typing import Literal
from unicodedata import east_asian_width

from preset_engine.cache.document import Document, lines_of
from preset_engine.cache.report import Report, Row, Side
from preset_engine.characters import printable

_MOST_ROWS = 40
_NARROW, _WIDE = 72, 110  # columns of a terminal


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: titles of its columns, how many of them hold names (the rest are figures), and its rows.

    `spare` names the columns that a narrow terminal goes without.
    """

    title: str
    columns: tuple[str, ...]
    names: int
    rows: tuple[tuple[str, ...], ...]
    spare: tuple[str, ...] = ()


def show(document: Document) -> None:
    """Print the report: totals beside the baseline and the comparison, rows, and what was left out."""
    is_terminal = sys.stdout.isatty()
    draw = _draw_rich if is_terminal else _draw_plain
    report = document.report
    draw(_totals(document))
    draw(_rows(report))
    for line in _remarks(document):
        print(_wrapped(printable(line)) if is_terminal else printable(line))


def _wrapped(line: str) -> str:
    return fill(line, get_terminal_size().columns, subsequent_indent="  ")


def per_cent(rate: float | None) -> str:
    """A rate as `12.3 %`, or a dash where there is none."""
    return "–" if rate is None else f"{rate * 100:.1f} %"


def _totals(document: Document) -> Grid:
    report, baseline, other = document.report, document.baseline, document.other
    columns = ["calls", "requests", "prompt tokens", "cached", "hit rate"]
    columns += ["baseline"] if baseline is not None else []
    columns += [document.other_name] if other is not None else []
    rows = []
    for name in ("first", "later"):
        side: Side = getattr(report.total, name)
        cells = [name, *_figures(side), per_cent(side.rate)]
        if baseline is not None:
            given: float | None = getattr(baseline, name)
            cells.append(per_cent(None if given is None else given / 100))
        if other is not None:
            cells.append(per_cent(getattr(other.total, name).rate))
        rows.append(tuple(cells))
    return Grid(f"Prefix cache, {report.groups:,} groups", tuple(columns), 1, tuple(rows))


def _rows(report: Report) -> Grid:
    figures = ("first calls", "rate", "later calls", "prompt", "cached", "rate", "unknown")
    by = report.question.by
    rows = tuple((*row.keys, *_row(row)) for row in report.rows[:_MOST_ROWS])
    return Grid("", (*by, *figures), len(by), rows, spare=("prompt", "cached"))


def _row(row: Row) -> list[str]:
    first, later = row.first, row.later
    return [
        f"{first.requests:,}",
        per_cent(first.rate),
        *_figures(later),
        per_cent(later.rate),
        f"{row.both.unknown_requests:,}",
    ]


def _figures(side: Side) -> list[str]:
    return [f"{side.requests:,}", f"{side.prompt_tokens:,}", f"{side.cached_tokens:,}"]


def _remarks(document: Document) -> list[str]:
    lines = []
    more = len(document.report.rows) - _MOST_ROWS
    if more > 0:
        lines.append(f"{more} more rows; --json, --csv or --html show them all")
    money = document.money
    if money is not None:
        saved = f"saved by the cache {money.saved:,.4f}"
        lines.append(f"cost {money.cost:,.4f} {money.currency}, {saved}")
        if money.unpriced:
            lines.append(f"without a price: {', '.join(money.unpriced)}")
    counts = [f"{number:,} {name}" for name, number in lines_of(document).items() if number]
    lines.append("lines: " + ", ".join(counts or ["none"]))
    for note in document.notes:
        advice = f" ({note.advice})" if note.advice else ""
        lines.append(f"{note.weight.value}: {note.count:,} × {note.message}{advice}")
    return lines


def _draw_plain(grid: Grid) -> None:
    cells = [tuple(map(printable, row)) for row in (grid.columns, *grid.rows)]
    widths = [max(map(_width, column)) for column in zip(*cells)]
    if grid.title:
        print(grid.title)
    for row in cells:
        print("  ".join(_aligned(row, widths, grid.names)).rstrip())
    print()


def _aligned(row: Sequence[str], widths: Sequence[int], names: int) -> list[str]:
    pads = [" " * (width - _width(cell)) for cell, width in zip(row, widths)]
    return [
        f"{cell}{pad}" if number < names else f"{pad}{cell}"
        for number, (cell, pad) in enumerate(zip(row, pads))
    ]


def _width(text: str) -> int:
    """The columns that a text takes: Chinese characters take two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _draw_rich(grid: Grid) -> None:
    from rich.console import Console  # slow to import, and only of use in a terminal
    from rich.table import Table
    from rich.text import Text

    console = Console()
    shown = [
        number
        for number, name in enumerate(grid.columns)
        if console.width >= _NARROW or name not in grid.spare
    ]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number in shown:
        name, is_name = printable(grid.columns[number]), number < grid.names
        head = name if is_name or console.width >= _WIDE else name.replace(" ", "\n")
        justify: Literal["left", "right"] = "left" if is_name else "right"
        table.add_column(Text(head), justify=justify, overflow="fold", no_wrap=not is_name)
    for row in grid.rows:
        table.add_row(*(Text(printable(row[number])) for number in shown))
    if grid.title:
        console.print(Text(printable(grid.title), style="bold"))
    console.print(table, "")
