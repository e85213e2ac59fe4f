"""The cache report against DuckDB's own time on the same million lines, and its start on ten.

The bare aggregation is what one would write by hand for these lines alone: types given, failures out, repeats
dropped, first and later calls apart, five usage shapes. Both run in processes of their own, imports included.
"""

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure

LINES = int(os.environ.get("PRESET_ENGINE_BENCH_LINES", "1000000"))

BARE = """
import duckdb, sys
print(len(duckdb.sql(f\"\"\"
WITH calls AS (
    SELECT ts, request_id, session_id, model, "group" AS caller, preset.name AS preset, provider,
        CASE provider
            WHEN 'anthropic' THEN usage.input_tokens + COALESCE(usage.cache_read_input_tokens, 0)
                + COALESCE(usage.cache_creation_input_tokens, 0)
            WHEN 'gemini' THEN usage.promptTokenCount ELSE usage.prompt_tokens END AS prompt,
        CASE provider
            WHEN 'anthropic' THEN usage.cache_read_input_tokens
            WHEN 'gemini' THEN COALESCE(usage.cachedContentTokenCount, 0)
            ELSE usage.prompt_tokens_details.cached_tokens END AS cached
    FROM read_json('{sys.argv[1]}', format = 'newline_delimited', ignore_errors = true, columns = {{
        ts: 'VARCHAR', request_id: 'VARCHAR', session_id: 'VARCHAR', model: 'VARCHAR', "group": 'VARCHAR',
        preset: 'STRUCT(name VARCHAR)', provider: 'VARCHAR', status: 'BIGINT',
        usage: 'STRUCT(prompt_tokens BIGINT, prompt_tokens_details STRUCT(cached_tokens BIGINT),
            input_tokens BIGINT, cache_read_input_tokens BIGINT, cache_creation_input_tokens BIGINT,
            promptTokenCount BIGINT, cachedContentTokenCount BIGINT)'}})
    WHERE status < 400),
once AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY request_id ORDER BY ts) AS copy FROM calls),
placed AS (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY session_id, caller, model ORDER BY ts) AS place
    FROM once WHERE copy = 1)
SELECT preset, provider, CASE WHEN place = 1 THEN 'first' ELSE 'later' END AS side, COUNT(cached),
    SUM(CASE WHEN cached IS NOT NULL THEN prompt END), SUM(cached), COUNT(*) - COUNT(cached)
FROM placed GROUP BY ALL\"\"\").fetchall()))
"""


def write_log(path: Path, count: int) -> None:
    """Lines of about 1 KB from interleaved sessions, in five usage shapes, one in 2,000 cut off."""
    rng = random.Random(6)
    providers = ["openai", "anthropic", "deepseek", "gemini", "openrouter"]
    fill = [f"{rng.getrandbits(64):016x}" for _ in range(26)]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number in range(count):
            session = number % 400 + 400 * (number // 8000)
            provider = providers[session % 5]
            prompt, cached = 1200 + number % 9000, (number % 7) * 150
            moment = 1_767_225_600 + number * 2
            line = {
                "ts": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(moment)),
                "request_id": f"req_{number - (number % 100 == 0):012d}",
                "session_id": f"s{session:08d}",
                "group": f"p{session % 6}",
                "preset": {"name": f"p{session % 6}", "version": 1},
                "provider": provider,
                "model": f"{provider}-model",
                "user": f"user-{session % 900:05d}",
                "status": 529 if number % 97 == 0 else 200,
                "usage": None if number % 97 == 0 else _usage(provider, prompt, cached),
                "prefix": fill,
            }
            text = json.dumps(line, separators=(",", ":"))
            file.write((text[: len(text) // 2] if number % 2000 == 7 else text) + "\n")


def _usage(provider: str, prompt: int, cached: int) -> dict[str, object]:
    if provider == "anthropic":
        new = prompt - cached
        return {
            "input_tokens": new // 10,
            "cache_creation_input_tokens": new - new // 10,
            "cache_read_input_tokens": cached,
        }
    if provider == "gemini":
        return {
            "promptTokenCount": prompt,
            "cachedContentTokenCount": cached,
            "candidatesTokenCount": 60,
        }
    return {
        "prompt_tokens": prompt,
        "completion_tokens": 60,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


@dataclass(frozen=True, slots=True)
class _Cost:
    """What one process took: seconds on the clock, seconds of processor time, peak megabytes."""

    wall: float
    cpu: float
    peak: float


def _cost(command: list[str], environment: dict[str, str]) -> _Cost:
    start = time.perf_counter()
    with _quiet():
        pid = os.spawnvpe(os.P_NOWAIT, command[0], command, environment)
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{command[:4]} failed")
    peak = used.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
    return _Cost(wall, used.ru_utime + used.ru_stime, peak)


def _best(
    one: list[str], other: list[str], environment: dict[str, str], repeat: int
) -> tuple[_Cost, _Cost]:
    """The least disturbed of each of two commands, run in turns, so that a busy machine slows both."""
    pairs = [(_cost(one, environment), _cost(other, environment)) for _ in range(repeat)]
    first, second = zip(*pairs)
    return _least(first), _least(second)


def _least(costs: Sequence[_Cost]) -> _Cost:
    return _Cost(min(c.wall for c in costs), min(c.cpu for c in costs), max(c.peak for c in costs))


def run() -> list[Figure]:
    """Figures of the report; the log is made anew in a temporary folder (1 GB for a million lines)."""
    with tempfile.TemporaryDirectory() as folder:
        big, ten = Path(folder) / "big.jsonl", Path(folder) / "ten.jsonl"
        write_log(big, LINES)
        write_log(ten, 10)
        # what an installed package has: compiled modules on disk
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        report = [sys.executable, "-m", "preset_engine", "cache", "report"]
        by = ["--by", "preset,provider"]
        bare = [sys.executable, "-c", BARE, str(big)]
        alone = [sys.executable, "-c", "import duckdb"]
        _best([*report, str(ten)], alone, environment, 1)  # compiles
        start, imported = _best([*report, str(ten)], alone, environment, 9)
        mine, theirs = _best([*report, str(big), *by, "--json"], bare, environment, 5)
        page = _cost(
            [*report, str(big), *by, "--html", str(Path(folder) / "page.html")], environment
        )
    lines, bare_name, cpu = f"{LINES:,} lines", "the bare aggregation", "s of processor time"
    return [
        Figure(f"cache report --json over {lines}", mine.wall, theirs.wall, bare_name, 1.3),
        Figure(
            "the same, undisturbed by other processes", mine.cpu, theirs.cpu, bare_name, 1.3, cpu
        ),
        Figure("its peak memory", mine.peak, 1000.0, "1 GB", 1.0, "MB"),
        Figure("the same with days, as a page", page.cpu, theirs.cpu, bare_name, unit=cpu),
        Figure("cache report over ten lines", start.wall, imported.wall, "import duckdb", 2.0),
        Figure("the same, undisturbed", start.cpu, imported.cpu, "import duckdb", 2.0, cpu),
    ]


class _quiet:  # noqa: N801  # reads as a word in a `with`
    """Standard output and error of child processes to nowhere."""

    def __enter__(self) -> None:
        sys.stdout.flush()
        self._kept = [os.dup(1), os.dup(2)]
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.close(nowhere)

    def __exit__(self, *error: object) -> None:
        for number, kept in zip((1, 2), self._kept):
            os.dup2(kept, number)
            os.close(kept)
