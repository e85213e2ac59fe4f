"""Rows and files of the folders of truth as test parameters, and their pass rates.

Three folders may lie beside the project: captured results (`PRESET_ENGINE_GOLDEN`), public fault reports
(`PRESET_ENGINE_CASES`), structures of real files (`PRESET_ENGINE_CORPUS`). Tests discover what is there;
nothing is listed by hand. A decorator gives a test one parameter a row::

    @truth.seeds("seed.macros")
    def test_macro(row): ...

Where a folder is absent the test skips and says so. Rows that do not bind run and may fail. With
`--rates` the closing summary prints how many rows of each topic passed, and names topics without a test.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
Row = dict[str, Any]  # rows are free JSON; each test knows its own topic's form

_DEFAULTS = {"golden": "../shared/golden", "cases": "../shared/cases", "corpus": "../shared/corpus"}
declared: set[str] = set()


def folder(kind: str) -> Path:
    """The folder of `golden`, `cases` or `corpus`, from the environment or beside the project."""
    given = os.environ.get(f"PRESET_ENGINE_{kind.upper()}")
    return Path(given) if given else (ROOT / _DEFAULTS[kind]).resolve()


@cache
def read_rows(path: Path) -> tuple[Row, ...]:
    """The JSON lines of one file, each with its file name and number under `_at`."""
    lines = path.read_text("utf-8").splitlines()
    return tuple(
        {**json.loads(line), "_at": f"{path.name}:{number}"}
        for number, line in enumerate(lines, 1)
        if line.strip()
    )


def seed_rows(*topics: str) -> Iterator[Row]:
    """Rows of `golden/seeds/*.jsonl` of these topics."""
    for path in sorted((folder("golden") / "seeds").glob("*.jsonl")):
        yield from (row for row in read_rows(path) if row["topic"] in topics)


def seeds(*topics: str) -> Callable[[Any], Any]:
    """Parameter `row` over the rows of `golden/seeds` with these topics; unbinding ones may fail."""
    rows = [
        _param(row, row["topic"], row["_at"], row.get("binding", True), row)
        for row in seed_rows(*topics)
    ]
    return _parametrize("row", rows, topics, "golden")


def table(name: str, topic: str, key: str = "topic") -> Callable[[Any], Any]:
    """Parameter `row` over `golden/NAME`; the row's topic is `topic` and the row's own `key`."""
    path = folder("golden") / name
    found = read_rows(path) if path.is_file() else ()
    rows = [
        _param(row, f"{topic}.{row.get(key, '')}", row.get("id", row["_at"]), True, row)
        for row in found
    ]
    return _parametrize("row", rows, (topic,), "golden")


def scenarios(
    kind: str = "scenarios", binding: Callable[[str], bool] = lambda _: True
) -> Callable[[Any], Any]:
    """Parameter `path` over `golden/KIND/*.json` (scenarios or sequences)."""
    paths = sorted((folder("golden") / kind).glob("*.json"))
    rows = [
        _param(path, f"{kind}.{_topic_of(path)}", path.stem, binding(path.stem), None)
        for path in paths
    ]
    return _parametrize("path", rows, (kind,), "golden")


def plain_names() -> frozenset[str]:
    """Scenarios that need neither world info, notes, extension prompts, regex scripts nor a budget."""
    path = folder("golden") / "plain.txt"
    return frozenset(path.read_text("utf-8").split()) if path.is_file() else frozenset()


def cases(*kinds: str) -> Callable[[Any], Any]:
    """Parameter `row` over the fault reports whose `input.kind` is one of these."""
    found = [row for path in sorted(folder("cases").glob("*.jsonl")) for row in read_rows(path)]
    rows = [
        _param(row, f"case.{row['input'].get('kind')}", row["id"], True, row)
        for row in found
        if row["input"].get("kind") in kinds
    ]
    return _parametrize("row", rows, tuple(f"case.{kind}" for kind in kinds), "cases")


def corpus(kind: str) -> Callable[[Any], Any]:
    """Parameter `path` over the files of `corpus/KIND`."""
    paths = sorted(path for path in (folder("corpus") / kind).glob("*") if path.is_file())
    rows = [_param(path, f"corpus.{kind}", path.name, True, None) for path in paths]
    return _parametrize("path", rows, (f"corpus.{kind}",), "corpus")


def _param(value: Any, topic: str, name: str, binding: bool, row: Row | None) -> Any:
    marks = [pytest.mark.truth(topic if binding else f"{topic} (information)")]
    if not binding:
        why = (row or {}).get("why_not", "for information")
        marks.append(pytest.mark.xfail(strict=False, reason=str(why)))
    return pytest.param(value, id=str(name), marks=marks)


def _parametrize(
    argument: str, rows: list[Any], topics: Iterable[str], kind: str
) -> Callable[[Any], Any]:
    declared.update(topics)
    if not rows:
        where = folder(kind)
        reason = f"no rows of {', '.join(topics)} under {kind} (PRESET_ENGINE_{kind.upper()})"
        if not where.is_dir():
            reason = f"the folder of PRESET_ENGINE_{kind.upper()} is absent"
        rows = [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=reason))]
    return pytest.mark.parametrize(argument, rows)


@cache
def _topic_of(path: Path) -> str:
    return str(json.loads(path.read_text("utf-8")).get("topic", path.stem))


def present_topics() -> set[str]:
    """Every topic that the folders hold, under the names tests declare."""
    found: set[str] = set()
    golden = folder("golden")
    for path in sorted((golden / "seeds").glob("*.jsonl")):
        found.update(row["topic"] for row in read_rows(path))
    found.update(path.stem for path in golden.glob("*_table.jsonl"))
    found.update(kind for kind in ("scenarios", "sequences") if (golden / kind).is_dir())
    for path in sorted(folder("cases").glob("*.jsonl")):
        found.update(f"case.{row['input'].get('kind')}" for row in read_rows(path))
    if folder("corpus").is_dir():
        found.update(f"corpus.{path.name}" for path in folder("corpus").iterdir() if path.is_dir())
    return found


# ---- the plugin: pass rates ----


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rates", action="store_true", help="print the pass rate of each topic of truth"
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    marker = item.get_closest_marker("truth")
    if marker is not None:
        item.user_properties.append(("truth", marker.args[0]))


_results: dict[str, Counter[str]] = defaultdict(Counter)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    topic = dict(report.user_properties).get("truth")
    if topic is None or (report.when != "call" and report.passed):
        return
    outcome = (
        ("passed" if report.passed else "missed") if hasattr(report, "wasxfail") else report.outcome
    )
    _results[str(topic)][outcome] += 1


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not config.getoption("--rates"):
        return
    terminalreporter.section("pass rates of the folders of truth")
    total: Counter[str] = Counter()
    for topic in sorted(_results):
        counts = _results[topic]
        total.update(
            {("information " if "(info" in topic else "") + key: n for key, n in counts.items()}
        )
        ran = sum(counts.values()) - counts["skipped"]
        skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
        terminalreporter.write_line(f"{counts['passed']:5d} of {ran:5d}  {topic}{skipped}")
    binding = total["passed"] + total["failed"]
    terminalreporter.write_line(f"binding rows: {total['passed']} of {binding} passed")
    missing = sorted(present_topics() - declared)
    terminalreporter.write_line(
        f"topics without a test: {', '.join(missing) if missing else 'none'}"
    )
