"""Spans of time in words, as moment.js says them in English.

Thresholds: up to 44 seconds are "a few seconds", up to 44 minutes count as minutes, up to 21 hours as hours, up to 25
days as days, up to 10 months as months; a month is 146097/4800 days.
"""

from __future__ import annotations

from preset_engine.macros.js_numbers import round_half_up


def humanise(milliseconds: float) -> str:
    """The length of a span, without its direction: "27 minutes", "a day"."""
    size = abs(milliseconds)
    seconds = round_half_up(size / 1000)
    minutes = round_half_up(size / 60_000)
    hours = round_half_up(size / 3_600_000)
    days = round_half_up(size / 86_400_000)
    exact_months = size / 86_400_000 * 4800 / 146_097
    months, years = round_half_up(exact_months), round_half_up(exact_months / 12)
    if seconds < 45:
        return "a few seconds"
    steps = ((minutes, 45, "minute"), (hours, 22, "hour"), (days, 26, "day"), (months, 11, "month"))
    for count, limit, unit in steps:
        if count <= 1:
            return f"an {unit}" if unit == "hour" else f"a {unit}"
        if count < limit:
            return f"{count} {unit}s"
    return "a year" if years <= 1 else f"{years} years"


def humanise_signed(milliseconds: float) -> str:
    """A span with its direction: "in 3 hours", "a day ago"."""
    words = humanise(milliseconds)
    return f"in {words}" if milliseconds > 0 else f"{words} ago"
