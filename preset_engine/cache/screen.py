"""The report as tables in a terminal. Names from logs are shown as plain text, without control characters."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from preset_engine.cache.document import Document, lines_of
from preset_engine.cache.report import Report, Row, Side

_MOST_ROWS = 40


def show(document: Document, console: Console) -> None:
    """Print the report: totals beside the baseline and the comparison, rows, and what was left out."""
    report = document.report
    console.print(_totals(document))
    console.print(_rows(report))
    if len(report.rows) > _MOST_ROWS:
        console.print(
            f"{len(report.rows) - _MOST_ROWS} more rows; --json, --csv or --html show them all"
        )
    if document.money is not None:
        money = document.money
        line = f"cost {money.cost:,.4f} {money.currency}, saved by the cache {money.saved:,.4f}"
        console.print(plain(line))
        if money.unpriced:
            console.print(plain(f"without a price: {', '.join(money.unpriced)}"))
    counts = [f"{number:,} {name}" for name, number in lines_of(document).items() if number]
    console.print(plain("lines: " + ", ".join(counts or ["none"])))
    for note in document.notes:
        advice = f" ({note.advice})" if note.advice else ""
        console.print(plain(f"{note.weight.value}: {note.count:,} × {note.message}{advice}"))


def plain(value: str) -> Text:
    """A text from a log without markup and control characters."""
    return Text("".join(c if c.isprintable() else "�" for c in value))


def per_cent(rate: float | None) -> str:
    """A rate as `12.3 %`, or a dash where there is none."""
    return "–" if rate is None else f"{rate * 100:.1f} %"


def _totals(document: Document) -> Table:
    report = document.report
    table = Table(title=f"Prefix cache, {report.groups:,} groups", title_justify="left")
    table.add_column("calls")
    for name in ("requests", "prompt tokens", "cached", "hit rate"):
        table.add_column(name, justify="right")
    baseline, other = document.baseline, document.other
    if baseline is not None:
        table.add_column("baseline", justify="right")
    if other is not None:
        table.add_column(plain(document.other_name), justify="right")
    for name in ("first", "later"):
        side: Side = getattr(report.total, name)
        cells = [name, *_figures(side), per_cent(side.rate)]
        if baseline is not None:
            given: float | None = getattr(baseline, name)
            cells.append(per_cent(None if given is None else given / 100))
        if other is not None:
            cells.append(per_cent(getattr(other.total, name).rate))
        table.add_row(*cells)
    return table


def _rows(report: Report) -> Table:
    table = Table()
    for key in report.question.by:
        table.add_column(key, overflow="fold")
    for name in ("first calls", "rate", "later calls", "prompt", "cached", "rate", "unknown"):
        table.add_column(name, justify="right")
    for row in report.rows[:_MOST_ROWS]:
        table.add_row(*map(plain, row.keys), *_row(row))
    return table


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
