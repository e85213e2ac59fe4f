"""A wish for a report, and the document that answers it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from preset_engine.cache.document import Baseline, Document, remarks
from preset_engine.cache.options import read_moment
from preset_engine.cache.query import HOUR_MS, Question
from preset_engine.cache.reading import EngineName, Logs, Tick, open_logs
from preset_engine.cache.report import Report
from preset_engine.errors import InputRefused

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
    """Read the logs and answer. Money, and a range to compare with, are asked of the same open logs.

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
