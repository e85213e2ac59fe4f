"""The table `calls` outside the big engines: rows from calls, a file for DuckDB and Spark, and SQLite.

SQLite comes with Python and starts in milliseconds, so small logs need no extra; the query text is the same.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from preset_engine.cache.query import CALL_COLUMNS, Question, report_query
from preset_engine.log.call import Call

_SURROGATE = re.compile("[\ud800-\udfff]")
Rows: TypeAlias = list[tuple[Any, ...]]  # a database row holds what its query asks for


def row_of(call: Call) -> tuple[str | int | None, ...]:
    """A call as a row of the table, in the order of `CALL_COLUMNS`; half surrogates are replaced."""
    counts = call.counts
    return (
        call.at_ms,
        _clean(call.session),
        _clean(call.caller),
        _clean(call.model),
        _clean(call.provider),
        _clean(call.preset),
        _clean(call.user),
        _clean(call.request_id),
        int(call.is_failed),
        0,
        int(counts.is_corrected) if counts else 0,
        counts.input_tokens if counts else None,
        counts.cached_tokens if counts else None,
        counts.written_tokens if counts else None,
        counts.output_tokens if counts else None,
        call.shape,
        _clean(call.source),
        call.ordinal,
    )


def _clean(text: str | None) -> str | None:
    return text if text is None or text.isascii() else _SURROGATE.sub("\ufffd", text)


def write_rows(calls: Iterable[Call], path: Path) -> int:
    """Write calls as JSON lines that the big engines read; the number of calls."""
    names = [name for name, _ in CALL_COLUMNS]
    written = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for call in calls:
            file.write(json.dumps(dict(zip(names, row_of(call)))) + "\n")
            written += 1
    return written


class SmallTable:
    """Calls in an in-memory SQLite database."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self._connection = sqlite3.connect(":memory:")
        columns = ", ".join(f"{name} {_type(kind)}" for name, kind in CALL_COLUMNS)
        self._connection.execute(f"CREATE TABLE calls ({columns})")
        marks = ", ".join("?" * len(CALL_COLUMNS))
        self._connection.executemany(f"INSERT INTO calls VALUES ({marks})", map(row_of, calls))

    def ask(self, question: Question) -> Rows:
        """The rows of the report's query."""
        return self._connection.execute(report_query(question)).fetchall()

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()


def _type(kind: str) -> str:
    return "TEXT" if kind == "VARCHAR" else "INTEGER"
