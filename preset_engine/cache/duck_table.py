"""The table `calls` on DuckDB, with Python beside it for what DuckDB cannot read.

Lines of other shapes inside a file that DuckDB reads are fetched and read by Python. Where DuckDB gives up on a file
(a damaged archive, say), Python reads all of them: slower, but nothing that can be read is lost and nothing is
fatal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from preset_engine.cache import duck
from preset_engine.cache.query import Question, report_query
from preset_engine.cache.table import Rows, write_rows
from preset_engine.errors import LogError
from preset_engine.log.call import Call, Skip
from preset_engine.log.reader import read_line, read_log
from preset_engine.log.readers.memory import Memory

Tick: TypeAlias = Callable[[str, float], None]
Aside: TypeAlias = Callable[[Skip], None]


class DuckTable:
    """Log files seen as one table.

    Args:
        raw: files that DuckDB reads itself, by family.
        read: the file of calls that Python has read; None where there is none.
        folder: for further such files.
        aside: is told of every line that is no call.
        tick: is told the done part of a query.

    Raises:
        MissingExtra: DuckDB is not installed.
    """

    def __init__(
        self,
        raw: Mapping[str, Sequence[Path]],
        read: Path | None,
        folder: Path,
        aside: Aside,
        tick: Tick,
    ) -> None:
        self._raw, self._read, self._folder = dict(raw), read, folder
        self._aside, self._tick, self._knows_foreign = aside, tick, False
        self._connection = duck.connect(folder / "spill")
        self._define()

    def ask(self, question: Question) -> Rows:
        """The rows of the report's query.

        Raises:
            LogError: DuckDB fails for a reason that does not lie in the logs.
        """
        try:
            return self._ask(question)
        except LogError:
            if not self._raw:
                raise
            files = [path for paths in self._raw.values() for path in paths]
            self._raw, self._knows_foreign = {}, True
            self._add(self._calls(reading for path in files for reading in read_log(path)))
            return self._ask(question)

    def close(self) -> None:
        """Give memory and temporary files back."""
        self._connection.close()

    def _ask(self, question: Question) -> Rows:
        side = len(question.by) + 1
        rows = self._run(question)
        if not self._knows_foreign and any(row[side] == "foreign" for row in rows):
            self._knows_foreign = True
            self._add(self._foreign_calls())
            rows = self._run(question)
        return [row for row in rows if row[side] != "foreign"]

    def _run(self, question: Question) -> Rows:
        query = report_query(question)
        return duck.run(self._connection, query, lambda part: self._tick("counting", part))

    def _define(self) -> None:
        duck.define_calls(self._connection, self._raw, self._read)

    def _foreign_calls(self) -> Iterator[Call]:
        for family, paths in self._raw.items():
            for path in paths:
                memory = Memory()
                lines = duck.foreign_lines(self._connection, family, path)
                found = (reading for line in lines for reading in read_line(line, memory))
                for number, call in enumerate(self._calls(found)):
                    yield replace(call, source=str(path), ordinal=number)

    def _calls(self, readings: Iterable[Call | Skip]) -> Iterator[Call]:
        for reading in readings:
            if isinstance(reading, Skip):
                self._aside(reading)
            else:
                yield reading

    def _add(self, calls: Iterable[Call]) -> None:
        """Lay calls that Python has read beside the others."""
        target = self._folder / "more-calls.jsonl"
        write_rows(calls, target)
        if self._read is not None:
            with target.open("ab") as file:
                file.write(self._read.read_bytes())
        self._read = target.rename(
            self._folder / f"calls-{len(list(self._folder.glob('*.jsonl')))}.jsonl"
        )
        self._define()
