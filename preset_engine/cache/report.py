"""The cache report: how much of each prompt came from the prefix cache, first calls and later calls apart.

A group (session, caller and model, unless other keys are chosen) is one conversation: its first call cannot
profit from its own cache, the later ones can, so they are never mixed. A rate is cached tokens over prompt tokens,
both summed first; tokens written to the cache are part of the prompt. Calls whose log does not tell the cached
count are counted apart, failures are left out, repeated lines of one request count once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from preset_engine.cache.query import FIGURES, Question
from preset_engine.cache.table import Rows, SmallTable
from preset_engine.log.call import Call

NONE = "(none)"


@dataclass(frozen=True, slots=True)
class Side:
    """Sums over calls, in calls and tokens.

    Attributes:
        calls: all calls, known and unknown.
        requests: calls whose cached count is known; the tokens up to `written_tokens` are theirs.
        prompt_tokens: whole prompts, cache reads and writes included.
        cached_tokens: read from the cache.
        written_tokens: written to the cache.
        unknown_prompt_tokens: prompts of calls whose cached count is unknown.
        output_tokens: replies of all calls.
        corrected: calls whose prompt count had left the cached part out.
        without_session: calls without a session, whose file stood for it.
    """

    calls: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    unknown_prompt_tokens: int = 0
    output_tokens: int = 0
    corrected: int = 0
    without_session: int = 0

    @property
    def unknown_requests(self) -> int:
        """Calls whose cached count is unknown."""
        return self.calls - self.requests

    @property
    def fresh_tokens(self) -> int:
        """Prompt tokens that did not come from the cache."""
        return self.prompt_tokens - self.cached_tokens

    @property
    def rate(self) -> float | None:
        """Cached over prompt tokens; None where there are no prompt tokens."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    def __add__(self, other: Side) -> Side:
        return Side(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Side)))

    def to_json(self) -> dict[str, int]:
        """The four figures of each side, as `gen_logs.py --expected` names them."""
        return {
            "requests": self.requests,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "unknown_requests": self.unknown_requests,
        }

    def to_full_json(self) -> dict[str, int | float | None]:
        """Every figure, with the rate."""
        return {
            **self.to_json(),
            "fresh_tokens": self.fresh_tokens,
            "written_tokens": self.written_tokens,
            "unknown_prompt_tokens": self.unknown_prompt_tokens,
            "output_tokens": self.output_tokens,
            "hit_rate": None if self.rate is None else round(self.rate, 6),
        }


@dataclass(frozen=True, slots=True)
class Row:
    """First and later calls of one value of the report's keys."""

    keys: tuple[str, ...]
    first: Side = Side()
    later: Side = Side()

    @property
    def name(self) -> str:
        """The key values joined by `/`; with several keys a `/` inside a value is written `%2F`."""
        if len(self.keys) == 1:
            return self.keys[0]
        return "/".join(key.replace("%", "%25").replace("/", "%2F") for key in self.keys)

    @property
    def both(self) -> Side:
        """First and later calls together."""
        return self.first + self.later

    def to_json(self) -> dict[str, dict[str, int]]:
        """Both sides with their four figures."""
        return {"first": self.first.to_json(), "later": self.later.to_json()}


@dataclass(frozen=True, slots=True)
class Left:
    """Lines that are in no sum, by reason; counts of lines."""

    failed: int = 0
    repeated: int = 0
    empty: int = 0
    outside: int = 0
    unreadable: int = 0
    foreign: int = 0
    event: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to a question.

    Attributes:
        question: what was asked.
        rows: by the chosen keys, largest prompts first.
        total: everything together.
        days: the total of each UTC day (or other step), by its first millisecond; empty when not asked for.
        left: lines in no sum.
    """

    question: Question
    rows: tuple[Row, ...] = ()
    total: Row = Row(keys=("total",))
    days: Mapping[int, Row] = field(default_factory=dict)
    left: Left = Left()

    @property
    def groups(self) -> int:
        """How many groups there are: each has exactly one first call."""
        return self.total.first.calls

    def to_json(self) -> dict[str, dict[str, dict[str, int]]]:
        """The rows by name, in the form of `gen_logs.py --expected`."""
        return {row.name: row.to_json() for row in sorted(self.rows, key=lambda row: row.name)}


def report_calls(calls: Iterable[Call], question: Question) -> Report:
    """The report over calls in memory; needs no extra.

    Raises:
        ValueError: the question names a key that does not exist.
    """
    table = SmallTable(calls)
    try:
        return build_report(table.ask(question), question)
    finally:
        table.close()


def build_report(rows: Rows, question: Question) -> Report:
    """The report from the rows of the query of `query.report_query`."""
    width = len(question.by)
    groups: dict[tuple[str, ...], dict[str, Side]] = {}
    days: dict[int, dict[str, Side]] = {}
    left: dict[str, int] = {}
    for row in rows:
        side, figures = str(row[width + 1]), Side(*map(int, row[width + 2 :]))
        if side not in ("first", "later"):
            left[side] = left.get(side, 0) + figures.calls
            continue
        key = tuple(NONE if value is None else str(value) for value in row[:width])
        _add(groups.setdefault(key, {}), side, figures)
        if row[width] is not None:
            _add(days.setdefault(int(row[width]), {}), side, figures)
    listed = [Row(key, **sides) for key, sides in groups.items()]
    listed.sort(key=lambda row: (-row.both.prompt_tokens, row.keys))
    total = Row(("total",), _sum(row.first for row in listed), _sum(row.later for row in listed))
    by_day = {day: Row((str(day),), **sides) for day, sides in sorted(days.items())}
    return Report(question, tuple(listed), total, by_day, Left(**left))


def _add(sides: dict[str, Side], side: str, figures: Side) -> None:
    sides[side] = sides.get(side, Side()) + figures


def _sum(sides: Iterable[Side]) -> Side:
    totals: list[Any] = [0] * len(FIGURES)  # plain sums: thousands of rows
    for side in sides:
        totals = [a + getattr(side, name) for a, name in zip(totals, FIGURES)]
    return Side(*totals)
