"""One run of the report: options as a person writes them, to a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from preset_engine.cache.document import Baseline, Document, remarks
from preset_engine.cache.lifetimes import LIFETIMES
from preset_engine.cache.query import HOUR_MS, KEYS, Question
from preset_engine.cache.reading import EngineName, Logs, Tick, open_logs
from preset_engine.cache.report import Report
from preset_engine.errors import InputRefused
from preset_engine.log.times import read_time

if TYPE_CHECKING:
    from preset_engine.cache.prices import Money, Prices


@dataclass(frozen=True, slots=True)
class Wish:
    """What `cache report` was asked for, beside the question.

    Attributes:
        logs: files, folders, or `-`.
        question: keys, range and rules.
        engine: who counts.
        compare: ranges `FROM..TO` of the same logs, or other logs.
        prices: a price file.
        baseline: rates to show beside.
    """

    logs: tuple[str, ...]
    question: Question
    engine: EngineName = "auto"
    compare: tuple[str, ...] = ()
    prices: Path | None = None
    baseline: Baseline | None = None


def make_document(wish: Wish, tick: Tick | None = None) -> Document:
    """Read the logs and answer; the first wish for money or comparison asks the same logs again.

    Raises:
        InputRefused: an option, a price file or a log cannot be used.
        MissingExtra: the wished engine is not installed.
    """
    prices = None if wish.prices is None else _load(wish.prices)
    ranges = [text for text in wish.compare if ".." in text and not Path(text).exists()]
    sets = [text for text in wish.compare if text not in ranges]
    if len(ranges) + bool(sets) > 1:
        raise InputRefused("--compare takes one range FROM..TO, or other logs, not both")
    other: Report | None = None
    money: Money | None = None
    with open_logs(wish.logs, wish.engine, tick) as logs:
        report = logs.ask(wish.question)
        if ranges:
            other = _ask_range(logs, wish.question, ranges[0])
        if prices is not None:
            money = _count_money(logs, wish.question, prices)
        hours = report.days
        if len(hours) == 1:  # one day has no course: show its hours
            hours = logs.ask(replace(wish.question, step_ms=HOUR_MS)).days
        skipped = tuple((kind, reason, n) for (kind, reason), n in sorted(logs.skipped.items()))
        notes = (*logs.notes, *remarks(report, skipped))
        files, engine = tuple(map(str, logs.files)), logs.engine
    if sets:
        with open_logs(sets, wish.engine, tick) as logs:
            other = logs.ask(wish.question)
    name = ", ".join(wish.compare)
    return Document(report, files, engine, skipped, notes, wish.baseline, other, name, money, hours)


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
            rates[name] = float(figure.rstrip("%"))
        except ValueError:
            rates[""] = 0.0
    if set(rates) - {"first", "later"}:
        raise InputRefused(f"--baseline: {text!r} is no baseline; write first=8.6,later=20.7")
    return Baseline(**rates)


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
    """A question from options."""
    return Question(
        by=tuple(by),
        group=tuple(group),
        since_ms=since_ms,
        until_ms=until_ms,
        gap_seconds=None if gap_minutes is None else round(gap_minutes * 60),
        lifetimes=LIFETIMES if use_lifetimes else {},
        with_days=with_days,
    )


def _load(path: Path) -> Prices:
    from preset_engine.cache.prices import load_prices  # few runs have prices

    return load_prices(path)


def _count_money(logs: Logs, question: Question, prices: Prices) -> Money:
    from preset_engine.cache.prices import count_money

    return count_money(logs.ask(replace(question, by=("model",), with_days=False)), prices)


def _ask_range(logs: Logs, question: Question, text: str) -> Report:
    start, _, end = text.partition("..")
    since = read_moment("--compare", start or None)
    until = read_moment("--compare", end or None)
    return logs.ask(replace(question, since_ms=since, until_ms=until))
