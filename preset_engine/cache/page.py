"""The report as one self-contained page: jinja2 with autoescape, charts as inline SVG, no script at all.

The page's content security policy forbids every request, so a name in a log can neither run nor load anything.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from preset_engine.cache.chart import Bar, Point, rate_lines, stacked_bars
from preset_engine.cache.document import Document, lines_of
from preset_engine.cache.report import Report, Row, Side
from preset_engine.characters import printable
from preset_engine.errors import LogError
from preset_engine.log.times import format_time

_MOST_BARS = 24
_MOST_ROWS = 2000
_WORST = 12


def render_page(document: Document) -> str:
    """The page's HTML."""
    environment = Environment(
        loader=PackageLoader("preset_engine.cache", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["rate"] = _rate
    environment.filters["count"] = _count
    environment.filters["visible"] = visible
    report = document.report
    return environment.get_template("report.html.j2").render(
        document=document,
        report=report,
        span=_span(report),
        over_time=_over_time(document),
        by_group=_by_group(report),
        worst=_worst(report),
        rows=report.rows[:_MOST_ROWS],
        hidden_rows=max(0, len(report.rows) - _MOST_ROWS),
        lines={name: number for name, number in lines_of(document).items() if number},
        name=lambda row: visible(" · ".join(row.keys)),
    )


def write_page(document: Document, target: Path) -> None:
    """Write the page to a file.

    Raises:
        LogError: the file cannot be written.
    """
    try:
        target.write_text(render_page(document), "utf-8", newline="\n")
    except OSError as error:
        raise LogError(f"{str(target)!r} cannot be written: {error.strerror or error}") from error


def visible(text: str) -> str:
    """A text from a log with control characters and direction marks replaced, and at most 200 characters."""
    shown = printable(text[:201])
    return shown if len(shown) <= 200 else shown[:199] + "…"


def _over_time(document: Document) -> Markup | None:
    days = document.report.days if document.course is None else document.course
    if len(days) < 2:
        return None
    letters = slice(11, 16) if len(document.report.days) == 1 else slice(0, 10)
    points = [
        Point(at, format_time(at)[letters], row.first.rate, row.later.rate)
        for at, row in days.items()
    ]
    given = document.baseline
    levels = [("first", given.first), ("later", given.later)] if given is not None else []
    baseline = [(name, rate / 100) for name, rate in levels if rate is not None]
    return Markup(rate_lines(points, baseline))  # built by `chart`, which escapes


def _by_group(report: Report) -> Markup | None:
    bars = [_bar(row) for row in report.rows[:_MOST_BARS] if row.both.prompt_tokens]
    return Markup(stacked_bars(bars)) if bars else None  # built by `chart`, which escapes


def _bar(row: Row) -> Bar:
    side = row.both
    written = min(side.written_tokens, side.fresh_tokens)
    name = visible(" · ".join(row.keys))
    return Bar(name, side.cached_tokens, written, side.fresh_tokens - written)


def _worst(report: Report) -> list[Row]:
    """Rows whose later calls paid for the most tokens that a cache could have held."""
    rows = [row for row in report.rows if row.later.fresh_tokens]
    return sorted(rows, key=lambda row: (-row.later.fresh_tokens, row.keys))[:_WORST]


def _span(report: Report) -> str:
    days = list(report.days)
    if not days:
        return ""
    first, last = format_time(min(days))[:10], format_time(max(days))[:10]
    return first if first == last else f"{first} to {last}"


def _rate(side: Side) -> str:
    return "–" if side.rate is None else f"{side.rate * 100:.1f} %"


def _count(number: int) -> str:
    return f"{number:,}"
