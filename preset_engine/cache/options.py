"""Options of the report as a person writes them, read into values; a wrong one is refused by its name."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from preset_engine.cache.document import Baseline
from preset_engine.cache.lifetimes import LIFETIMES
from preset_engine.cache.query import KEYS, Question
from preset_engine.errors import InputRefused
from preset_engine.log.times import read_time


def read_keys(option: str, text: str) -> tuple[str, ...]:
    """Keys written as `preset,provider`.

    Raises:
        InputRefused: a name is no key.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    wrong = next((name for name in names if name not in KEYS), None)
    if wrong is not None or not names:
        raise InputRefused(f"{option}: {wrong or ''!r} is no key; choose from {', '.join(KEYS)}")
    return names


def read_moment(option: str, text: str | None) -> int | None:
    """A time in ISO form or as seconds since 1970, in milliseconds; None stays None.

    Raises:
        InputRefused: the text is no time.
    """
    found = read_time(text)
    if text is not None and found is None:
        raise InputRefused(
            f"{option}: {text!r} is no time; write 2026-01-31 or 2026-01-31T08:00:00Z"
        )
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


def read_baseline(text: str | None) -> Baseline | None:
    """A baseline written as `first=8.6,later=20.7`, in per cent.

    Raises:
        InputRefused: it is written otherwise.
    """
    if text is None:
        return None
    rates: dict[str, float] = {}
    for part in text.split(","):
        name, _, figure = part.strip().partition("=")
        try:
            rates[name] = _finite(figure.rstrip("%"))
        except ValueError:
            rates[""] = 0.0
    if set(rates) - {"first", "later"}:
        raise InputRefused(f"--baseline: {text!r} is no baseline; write first=8.6,later=20.7")
    return Baseline(**rates)


_ENDLESS_MINUTES = 1e9  # nearly 2,000 years


def ask_for(
    by: Sequence[str],
    group: Sequence[str],
    since_ms: int | None,
    until_ms: int | None,
    gap_minutes: float | None,
    *,
    use_lifetimes: bool = False,
    with_days: bool = True,
) -> Question:
    """A question from options.

    Raises:
        InputRefused: the pause is endless.
    """
    if gap_minutes is not None and not gap_minutes < _ENDLESS_MINUTES:
        raise InputRefused(
            f"--gap-minutes: {gap_minutes:g} is no pause; leave the option out for no limit"
        )
    return Question(
        by=tuple(by),
        group=tuple(group),
        since_ms=since_ms,
        until_ms=until_ms,
        gap_seconds=None if gap_minutes is None else round(gap_minutes * 60),
        lifetimes=LIFETIMES if use_lifetimes else {},
        with_days=with_days,
    )
