"""From log files to a table that can be asked: which engine reads what.

Each file is told by its first lines. Files of our own line or of plain usage lines go to DuckDB's JSON reader once
the input is large; everything else, and everything small, goes through the Python readers. Lines of another
shape inside a file that DuckDB reads are fetched and read by Python, so nothing is lost by the speed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self, TypeAlias

from preset_engine.cache.families import family_of
from preset_engine.cache.query import Question
from preset_engine.cache.report import Report, build_report
from preset_engine.cache.table import Rows, SmallTable, write_rows
from preset_engine.errors import Note, UnreadableInput, Weight
from preset_engine.log.call import Call, Skip, SkipKind
from preset_engine.log.reader import read_log
from preset_engine.log.sources import find_files, standard_input

EngineName: TypeAlias = Literal["auto", "sqlite", "duckdb", "spark"]
Tick: TypeAlias = Callable[[str, float], None]

SMALL_BYTES = 1_000_000  # up to here Python and SQLite answer sooner than DuckDB has been imported


class Table(Protocol):
    """Something that answers the report's query."""

    def ask(self, question: Question) -> Rows:
        """The rows of the query."""
        ...

    def close(self) -> None:
        """Give memory and files back."""
        ...


@dataclass
class Logs:
    """Log files, read and ready to be asked more than once; close it, or use it in a `with`.

    Attributes:
        files: what was read.
        engine: who answers: `sqlite`, `duckdb` or `spark`.
        skipped: lines that are no call, by kind and reason.
        notes: remarks on the reading.
    """

    files: list[Path]
    engine: str
    table: Table
    skipped: Counter[tuple[SkipKind, str]] = field(default_factory=Counter)
    notes: list[Note] = field(default_factory=list)
    stack: ExitStack = field(default_factory=ExitStack)

    def ask(self, question: Question) -> Report:
        """The report that answers the question."""
        return build_report(self.table.ask(question), question)

    def set_aside(self, skip: Skip) -> None:
        """Count a line that is no call."""
        self.skipped[skip.kind, skip.reason] += 1

    def close(self) -> None:
        """Give memory and temporary files back."""
        self.table.close()
        self.stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_logs(names: Sequence[str], engine: EngineName = "auto", tick: Tick | None = None) -> Logs:
    """Read logs: files, folders, or `-` for standard input.

    `tick` is told the stage and the done part (0 to 1) while long input is read.

    Raises:
        UnreadableInput: a path does not exist or cannot be opened.
        MissingExtra: the wished engine is not installed.
    """
    stack = ExitStack()
    try:
        files = find_files([name for name in names if name != "-"])
        if "-" in names:
            files.append(stack.enter_context(standard_input()))
        return _open(files, engine, tick or _ignore, stack)
    except BaseException:
        stack.close()
        raise


def _open(files: list[Path], engine: EngineName, tick: Tick, stack: ExitStack) -> Logs:
    try:
        size = sum(path.stat().st_size for path in files)
    except OSError as error:
        raise UnreadableInput(f"{error.filename!r} cannot be read: {error.strerror}") from error
    notes: list[Note] = []
    if engine == "auto":
        engine, notes = _choose(size)
    logs = Logs(files, engine, _Nothing(), notes=notes, stack=stack)
    if engine == "sqlite":
        logs.table = SmallTable(_read_all(files, logs, tick, size))
        return logs
    raw: dict[str, list[Path]] = {}
    others: list[Path] = []
    for path in files:
        family = family_of(path, has_zstd=engine == "duckdb")
        (raw.setdefault(family, []) if family else others).append(path)
    folder = _temporary_folder(stack)
    read = folder / "calls.jsonl"
    written = write_rows(_read_all(others, logs, tick, size), read) if others else 0
    given = read if written else None
    if engine == "duckdb":
        from preset_engine.cache.duck_table import DuckTable  # loads an extra

        logs.table = DuckTable(raw, given, folder, logs.set_aside, tick)
    else:
        from preset_engine.cache.spark import SparkTable  # an extra that starts a Java runtime

        logs.table = SparkTable(raw, given)
    return logs


def _choose(size: int) -> tuple[EngineName, list[Note]]:
    if size <= SMALL_BYTES:
        return "sqlite", []
    try:
        import duckdb  # noqa: F401  # only whether it is there
    except ImportError:
        advice = "pip install 'preset-engine[report]'"
        text = "DuckDB is not installed, so the logs are read by Python, several times slower"
        return "sqlite", [Note("report-slow-engine", text, advice=advice, weight=Weight.INFO)]
    return "duckdb", []


def _read_all(files: Sequence[Path], logs: Logs, tick: Tick, size: int) -> Iterator[Call]:
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        tick("reading", min(1.0, done / size) if size else 1.0)

    for path in files:
        for reading in read_log(path, advance):
            if isinstance(reading, Skip):
                logs.set_aside(reading)
            else:
                yield reading


class _Nothing:
    def ask(self, question: Question) -> Rows:
        del question
        return []

    def close(self) -> None:
        return None


def _temporary_folder(stack: ExitStack) -> Path:
    import tempfile  # not needed for small logs

    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="preset-engine-")))


def _ignore(stage: str, part: float) -> None:
    del stage, part
