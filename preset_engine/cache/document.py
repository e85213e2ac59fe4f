"""Everything that one run of the report shows, whatever the output: JSON, CSV, table or page."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from preset_engine.cache.report import Report, Row
from preset_engine.errors import Note, Weight
from preset_engine.log.call import SkipKind
from preset_engine.log.times import format_time

if TYPE_CHECKING:
    from preset_engine.cache.prices import Money


@dataclass(frozen=True, slots=True)
class Baseline:
    """Rates to compare with, in per cent: of first calls and of later calls; None where not given."""

    first: float | None = None
    later: float | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A report with what stands beside it.

    Attributes:
        report: the figures.
        files: names of the logs.
        engine: who counted.
        skipped: lines that are no call: kind, reason, number.
        notes: remarks for the reader.
        baseline: rates given by the user.
        other: a second report to compare with: another range or another set of files.
        other_name: what it is called.
        money: costs, when a price file is given.
        course: totals over time, by day, or by hour where the logs are of one day.
    """

    report: Report
    files: tuple[str, ...] = ()
    engine: str = ""
    skipped: tuple[tuple[SkipKind, str, int], ...] = ()
    notes: tuple[Note, ...] = ()
    baseline: Baseline | None = None
    other: Report | None = None
    other_name: str = ""
    money: Money | None = None
    course: Mapping[int, Row] | None = None

    def to_json(self) -> dict[str, object]:
        """The whole document."""
        report = self.report
        body: dict[str, object] = {
            "by": list(report.question.by),
            "groups": _rows_json(report),
            "total": _row_json(report.total),
            "group_count": report.groups,
            "days": {format_time(day)[:10]: _row_json(row) for day, row in report.days.items()},
            "lines": lines_of(self),
            "skipped": [
                {"kind": kind.value, "reason": reason, "lines": number}
                for kind, reason, number in self.skipped
            ],
            "files": list(self.files),
            "engine": self.engine,
            "notes": [note.to_json() for note in self.notes],
        }
        if self.baseline is not None:
            body["baseline"] = {"first": self.baseline.first, "later": self.baseline.later}
        if self.other is not None:
            body["compared"] = {
                "name": self.other_name,
                "groups": _rows_json(self.other),
                "total": _row_json(self.other.total),
            }
        if self.money is not None:
            body["money"] = self.money.to_json()
        return body

    def to_csv(self) -> str:
        """One line a row and side; values that a spreadsheet would run as a formula get a quote in front."""
        target = io.StringIO(newline="")
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow([*self.report.question.by, "side", *_CSV])
        for row in self.report.rows:
            for side, figures in (("first", row.first), ("later", row.later)):
                full = figures.to_full_json()
                keys = ["'" + key if key[:1] in "=+-@\t\r" else key for key in row.keys]
                writer.writerow([*keys, side, *(full[name] for name in _CSV)])
        return target.getvalue()


_CSV = (
    "requests",
    "prompt_tokens",
    "cached_tokens",
    "fresh_tokens",
    "written_tokens",
    "hit_rate",
    "unknown_requests",
    "unknown_prompt_tokens",
    "output_tokens",
)


def lines_of(document: Document) -> dict[str, int]:
    """What became of every line or object of the logs, by name."""
    left, total = document.report.left, document.report.total.both
    by_kind = dict.fromkeys(SkipKind, 0)
    for kind, _, number in document.skipped:
        by_kind[kind] += number
    return {
        "counted": total.calls,
        "failed": left.failed,
        "repeated": left.repeated,
        "without usage": left.empty,
        "outside the range": left.outside,
        "summaries": by_kind[SkipKind.SUMMARY],
        "no call": left.event + by_kind[SkipKind.NO_CALL],
        "unknown shape": left.foreign + by_kind[SkipKind.UNKNOWN],
        "unreadable": left.unreadable + by_kind[SkipKind.UNREADABLE],
    }


def remarks(document_report: Report, skipped: Sequence[tuple[SkipKind, str, int]]) -> list[Note]:
    """Notes on what a reader of the figures must know."""
    report, total = document_report, document_report.total.both
    notes = []
    if report.left.unreadable:
        text = "lines are no JSON (cut off), or hold no known field; they are in no sum"
        notes.append(Note("report-unreadable", text, count=report.left.unreadable))
    if report.left.foreign:
        text = "lines of another shape stand in files that Spark reads itself; they are in no sum"
        notes.append(
            Note(
                "report-unknown-shape",
                text,
                advice="use --engine duckdb",
                count=report.left.foreign,
            )
        )
    notes += [
        Note(_CODES[kind], f"{reason}; in no sum", count=number, weight=_WEIGHTS[kind])
        for kind, reason, number in skipped
    ]
    if total.unknown_requests:
        text = "calls do not tell their cached tokens; they are counted apart, not as zero"
        notes.append(
            Note("report-unknown-cache", text, count=total.unknown_requests, weight=Weight.INFO)
        )
    if total.without_session:
        text = "calls name no session; their file stands for it, so first and later may be mixed"
        notes.append(
            Note("report-no-session", text, count=total.without_session, weight=Weight.INFO)
        )
    if total.corrected:
        text = (
            "calls report more cached than prompt tokens; the cached part was added to the prompt"
        )
        notes.append(Note("report-corrected", text, count=total.corrected))
    return notes


_CODES = {
    SkipKind.SUMMARY: "report-summary",
    SkipKind.NO_CALL: "report-no-call",
    SkipKind.UNKNOWN: "report-unknown-shape",
    SkipKind.UNREADABLE: "report-unreadable",
}
_WEIGHTS = {
    SkipKind.SUMMARY: Weight.WARNING,
    SkipKind.NO_CALL: Weight.INFO,
    SkipKind.UNKNOWN: Weight.WARNING,
    SkipKind.UNREADABLE: Weight.WARNING,
}


def _rows_json(report: Report) -> dict[str, object]:
    return {row.name: _row_json(row, report.question.by) for row in report.rows}


def _row_json(row: Row, by: Sequence[str] = ()) -> dict[str, object]:
    body: dict[str, object] = {"keys": dict(zip(by, row.keys))} if by else {}
    return {
        **body,
        "first": row.first.to_full_json(),
        "later": row.later.to_full_json(),
        "all": row.both.to_full_json(),
    }
