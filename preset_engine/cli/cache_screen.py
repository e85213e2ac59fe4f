"""The report as tables of text: with rich in a terminal, as aligned columns elsewhere (quicker, and easy to cut).

Names from logs are shown without control characters and never as markup.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from preset_engine.cache.document import Document, lines_of
from preset_engine.cache.report import Report, Row, Side

_MOST_ROWS = 40


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: titles of its columns, how many of them hold names (the rest are figures), and its rows."""

    title: str
    columns: tuple[str, ...]
    names: int
    rows: tuple[tuple[str, ...], ...]


def show(document: Document) -> None:
    """Print the report: totals beside the baseline and the comparison, rows, and what was left out."""
    draw = _draw_rich if sys.stdout.isatty() else _draw_plain
    report = document.report
    draw(_totals(document))
    draw(_rows(report))
    for line in _remarks(document):
        print(visible(line))


def visible(value: str) -> str:
    """A text from a log without control characters."""
    return "".join(c if c.isprintable() else "\ufffd" for c in value)


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
    return Grid("", (*by, *figures), len(by), rows)


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
    cells = [tuple(map(visible, row)) for row in (grid.columns, *grid.rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    if grid.title:
        print(grid.title)
    for row in cells:
        print("  ".join(_aligned(row, widths, grid.names)).rstrip())
    print()


def _aligned(row: Sequence[str], widths: Sequence[int], names: int) -> list[str]:
    return [
        cell.ljust(width) if number < names else cell.rjust(width)
        for number, (cell, width) in enumerate(zip(row, widths))
    ]


def _draw_rich(grid: Grid) -> None:
    from rich.console import Console  # slow to import, and only of use in a terminal
    from rich.table import Table
    from rich.text import Text

    table = Table(title=grid.title or None, title_justify="left")
    for number, name in enumerate(grid.columns):
        is_name = number < grid.names
        table.add_column(
            Text(visible(name)), justify="left" if is_name else "right", overflow="fold"
        )
    for row in grid.rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    Console().print(table)
