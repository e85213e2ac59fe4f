"""Charts as inline SVG: no script, no font, no file; colours come from the page's style sheet.

Each function gives the text of one `<svg>` element; every text from outside is escaped. Values stand in `<title>`
elements too, which browsers show on hover and screen readers read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH = 860
_MARGIN = 46


@dataclass(frozen=True, slots=True)
class Point:
    """Rates of one day or hour, 0 to 1; None where it has no such calls. `at` is its place in time, any unit."""

    at: int
    label: str
    first: float | None
    later: float | None


@dataclass(frozen=True, slots=True)
class Bar:
    """Prompt tokens of one row, split by where they came from."""

    label: str
    cached: int
    written: int
    fresh: int

    @property
    def total(self) -> int:
        """All prompt tokens."""
        return self.cached + self.written + self.fresh


def rate_lines(points: Sequence[Point], baseline: Sequence[tuple[str, float]] = ()) -> str:
    """Hit rates over time, first and later calls as two lines; `baseline` names levels, 0 to 1."""
    height, bottom, right = 260, 220, _WIDTH - 16
    places = _places([point.at for point in points], right)
    parts = [_open(height, "Hit rate by day")]
    for level in (0, 25, 50, 75, 100):
        y = bottom - level * 2
        parts.append(f'<line class="grid" x1="{_MARGIN}" x2="{right}" y1="{y}" y2="{y}"/>')
        parts.append(_label(_MARGIN - 6, y + 4, f"{level} %", "end"))
    for name, rate in baseline:
        place = bottom - min(1.0, max(0.0, rate)) * 200
        parts.append(
            f'<line class="base {escape(name)}" x1="{_MARGIN}" x2="{right}" y1="{place:.1f}" y2="{place:.1f}">'
            f"<title>baseline {escape(name)}: {rate * 100:.1f} %</title></line>"
        )
    for side in ("first", "later"):
        parts += _line(points, places, side, bottom)
    free = 0.0
    for x, point in zip(places, points):
        if x >= free:
            anchor = "end" if x > right - 30 else "middle"
            parts.append(_label(x, bottom + 18, point.label, anchor))
            free = x + 100
    return "".join([*parts, "</svg>"])


def _places(moments: Sequence[int], right: int) -> list[float]:
    """Where the moments stand on the axis; gaps in time are gaps in the line's course."""
    first, last = (moments[0], moments[-1]) if moments else (0, 0)
    scale = (right - _MARGIN) / max(1, last - first)
    return [_MARGIN + (moment - first) * scale for moment in moments]


def stacked_bars(bars: Sequence[Bar]) -> str:
    """One bar a row: tokens from the cache, written to it, and new; lengths follow the token counts."""
    row, top, label_width = 30, 6, 250
    largest = max((bar.total for bar in bars), default=0) or 1
    space = _WIDTH - label_width - 80
    parts = [_open(top * 2 + row * len(bars), "Prompt tokens by group")]
    for number, bar in enumerate(bars):
        y, x = top + number * row, float(label_width)
        parts.append(_label(label_width - 8, y + 18, _shorten(bar.label), "end", bar.label))
        for kind in ("cached", "written", "fresh"):
            tokens: int = getattr(bar, kind)
            width = tokens / largest * space
            if tokens:
                parts.append(
                    f'<rect class="{kind}" x="{x:.1f}" y="{y + 4}" width="{max(width, 0.5):.1f}" height="20">'
                    f"<title>{escape(bar.label)}: {tokens:,} {kind}</title></rect>"
                )
            x += width
        share = f"{bar.cached / bar.total * 100:.1f} %" if bar.total else "–"
        parts.append(_label(x + 6, y + 18, share, "start"))
    return "".join([*parts, "</svg>"])


def _line(points: Sequence[Point], xs: Sequence[float], side: str, bottom: int) -> list[str]:
    places: list[tuple[float, float]] = []
    marks = []
    for x, point in zip(xs, points):
        rate: float | None = getattr(point, side)
        if rate is None:
            continue
        y = bottom - min(1.0, max(0.0, rate)) * 200
        places.append((x, y))
        text = f"{point.label}, {side} calls: {rate * 100:.1f} %"
        marks.append(
            f'<circle class="{side}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{escape(text)}</title></circle>'
        )
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return [f'<polyline class="{side}" points="{path}"/>', *marks] if places else []


def _open(height: int, title: str) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">'


def _label(x: float, y: float, text: str, anchor: str, title: str = "") -> str:
    hover = f"<title>{escape(title)}</title>" if title else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{hover}{escape(text)}</text>'


def _shorten(text: str) -> str:
    return text if len(text) <= 34 else f"{text[:16]}…{text[-17:]}"
