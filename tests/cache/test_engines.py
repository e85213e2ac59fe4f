"""The engines agree: Python with SQLite, DuckDB, and Spark, on the same text."""

import gzip
import json
import os
import random
import shutil
from datetime import UTC, datetime, timedelta

import pytest
import zstandard

from preset_engine.cache import duck
from preset_engine.cache.lifetimes import LIFETIMES
from preset_engine.cache.query import Question, report_query
from preset_engine.cache.reading import open_logs
from preset_engine.errors import LogError
from preset_engine.llm.request import Usage
from preset_engine.log.call import SkipKind
from preset_engine.log.line import LogLine
from preset_engine.log.request_line import RequestEvent, RequestLine

QUESTIONS = [
    Question(by=("preset", "provider"), with_days=False),
    Question(by=("session", "caller", "model", "user", "shape")),
    Question(by=("provider",), gap_seconds=240, since_ms=1_767_232_800_000),
    Question(by=("model",), group=("session",), lifetimes=LIFETIMES, until_ms=1_767_240_000_000),
]


def usage(rng, provider):
    prompt, cached, written = (
        rng.randint(50, 5000),
        rng.randint(0, 50),
        rng.choice([None, rng.randint(0, 40)]),
    )
    told = rng.random()
    if provider == "anthropic":
        body = {"input_tokens": prompt, "output_tokens": 9}
        if told > 0.2:
            body["cache_read_input_tokens"] = cached
        if told > 0.1 and written is not None:
            body["cache_creation_input_tokens"] = written
        if told > 0.9:
            body["total_tokens"] = prompt + 9
        return body
    if provider == "gemini":
        body = {"promptTokenCount": prompt, "candidatesTokenCount": 5}
        return (
            {**body, "cachedContentTokenCount": cached, "thoughtsTokenCount": 4}
            if told > 0.3
            else body
        )
    if provider == "responses":
        details = {"cached_tokens": cached, "cache_write_tokens": written} if told > 0.2 else None
        return {"input_tokens": prompt, "input_tokens_details": details, "output_tokens": 4}
    body = {"prompt_tokens": prompt, "completion_tokens": 7}
    if provider == "deepseek" and told > 0.3:
        body |= {"prompt_cache_hit_tokens": cached, "prompt_cache_miss_tokens": prompt - cached}
    if told > 0.5:
        body["prompt_tokens_details"] = rng.choice(
            [
                None,
                {"cached_tokens": cached},
                {"cached_tokens": None},
                {"cached_tokens": prompt + 3, "cache_write_tokens": 2},
            ]
        )
    if 0.25 < told < 0.3:
        body["prompt_cache_miss_tokens"] = prompt - 3
    return body


def plain_lines(count, seed):
    """Flat lines of five providers with failures, retries, cut lines and lines of other shapes."""
    rng = random.Random(seed)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(count):
        provider = rng.choice(["openai", "anthropic", "gemini", "deepseek", "responses"])
        jitter = rng.randint(0, 300)
        at = start + timedelta(seconds=20 * number + jitter, milliseconds=number % 1000)  # no ties
        line = {
            "ts": rng.choice(
                [
                    at.isoformat(),
                    at.isoformat().replace("+00:00", "Z"),
                    at.timestamp(),
                    str(round(at.timestamp() * 1000)),
                ]
            ),
            "request_id": f"r{number - (rng.random() < 0.05)}",
            "session_id": rng.choice([None, *"abcdefgh"]),
            "group": rng.choice(["play", "write"]),
            "preset": rng.choice([None, {"name": "Lantern/1"}, {"name": "O'Hara", "version": 2}]),
            "provider": provider,
            "model": "vendor/model",
            "user": rng.choice(["u1", None]),
            "status": rng.choice([200, 200, 200, 200, 429]),
            "usage": usage(rng, provider),
        }
        if line["status"] != 200 and rng.random() < 0.5:
            line["usage"] = None
        text = json.dumps(line)
        yield text[: len(text) // 2] if rng.random() < 0.02 else text


OTHER = json.dumps(
    {
        "id": "chatcmpl-1aZ",
        "object": "chat.completion",
        "created": 1_767_232_900,
        "choices": [],
        "model": "gpt-4o",
        "usage": {"prompt_tokens": 70, "prompt_tokens_details": {"cached_tokens": 64}},
    }
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines")
    lines = [*plain_lines(600, 7)]
    lines[300:300] = [OTHER, "", '{"hello": 1}', "[1]"]
    (folder / "a plain+log.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    start = datetime(2026, 1, 1, 3, tzinfo=UTC)
    own = []
    for number in range(60):
        at = start + timedelta(minutes=number)
        used = Usage(900, 10, None if number % 9 == 0 else 512, 100, 5)
        line = LogLine(
            f"l{number}",
            at,
            "gpt-4o",
            "openai",
            "direct-chat",
            f"s{number % 4}",
            preset="P",
            usage=used,
            error_type="429" if number == 7 else None,
        )
        own += [
            line,
            RequestLine(RequestEvent.DONE, at, "direct-chat", "gpt-4o", f"l{number}", usage=used),
        ]
    (folder / "own.jsonl").write_text("".join(json.dumps(line.to_json()) + "\n" for line in own))
    return folder


def answers(folder, engine, questions=QUESTIONS):
    with open_logs([str(folder)], engine) as read:
        return [read.ask(question) for question in questions], read.skipped


def test_sqlite_and_duckdb_give_the_same_report(logs):
    (small, skipped), (big, _) = answers(logs, "sqlite"), answers(logs, "duckdb")
    for one, other in zip(small, big):
        assert one.rows == other.rows
        assert one.total == other.total
        assert one.days == other.days
        assert (one.left.failed, one.left.repeated, one.left.empty, one.left.outside) == (
            other.left.failed,
            other.left.repeated,
            other.left.empty,
            other.left.outside,
        )
    unread = sum(
        n for (kind, _), n in skipped.items() if kind in (SkipKind.UNREADABLE, SkipKind.UNKNOWN)
    )
    assert big[0].left.unreadable == unread


def test_a_line_of_another_shape_in_a_plain_file_is_still_counted(logs):
    reports, _ = answers(logs, "duckdb", [Question(by=("model",))])
    row = next(row for row in reports[0].rows if row.name == "gpt-4o")
    assert row.both.calls == 59 + 1
    assert reports[0].left.foreign == 0


def test_a_request_line_is_no_call(logs):
    reports, _ = answers(logs, "duckdb", [Question(by=("shape",))])
    assert reports[0].left.event == 60


def test_the_query_text_names_no_engine():
    text = "".join(report_query(question) for question in QUESTIONS).lower()
    for word in (
        "read_json",
        "::",
        "epoch",
        "unix_millis",
        "list_",
        "struct_",
        "interval",
        "strftime",
    ):
        assert word not in text


needs_spark = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="needs a Java runtime"
)


@pytest.mark.spark
@pytest.mark.full
@pytest.mark.timeout(600)
@needs_spark
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning"
)
def test_spark_runs_the_very_text_on_20_000_lines_with_equal_results(tmp_path):
    pytest.importorskip("pyspark", reason="needs the extra spark")
    path = tmp_path / "lines of a day.jsonl"
    path.write_text("\n".join(plain_lines(20_000, 11)) + "\n")
    questions = [QUESTIONS[0], QUESTIONS[2]]
    (big, _), (wide, _) = answers(path, "duckdb", questions), answers(path, "spark", questions)
    for one, other in zip(big, wide):
        assert one == other


@pytest.mark.parametrize(
    "name",
    [
        "day.jsonl",
        "day.jsonl.gz",
        "day.jsonl.zst",
        "gz-without-ending",
        "day[1]*.jsonl",
        "plain.gz",
        "mark.jsonl",
        "o'hara %41.jsonl",
    ],
)
def test_duckdb_reads_files_of_every_name_and_compression_like_python(tmp_path, name):
    data = "".join(text + "\n" for text in plain_lines(40, 3)).encode()
    if name == "mark.jsonl":
        data = b"\xef\xbb\xbf" + data
    if name in ("day.jsonl.gz", "gz-without-ending"):
        data = gzip.compress(data)
    if name.endswith(".zst"):
        data = zstandard.ZstdCompressor().compress(data)
    (tmp_path / name).write_bytes(data)
    (small, _), (big, _) = answers(tmp_path / name, "sqlite"), answers(tmp_path / name, "duckdb")
    assert [one.rows for one in small] == [one.rows for one in big]
    assert small[0].total.both.calls > 20


def test_a_damaged_archive_is_read_as_far_as_it_goes(tmp_path):
    data = gzip.compress("".join(text + "\n" for text in plain_lines(400, 3)).encode())
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(data[: len(data) * 2 // 3])
    (small, _), (big, skipped) = answers(path, "sqlite"), answers(path, "duckdb")
    assert [one.rows for one in small] == [one.rows for one in big]
    assert small[0].total.both.calls > 50
    assert any("cannot be read to its end" in reason for _, reason in skipped)


def test_a_file_that_went_away_is_counted_and_not_fatal(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(next(plain_lines(1, 1)) + "\n")
    with open_logs([str(path)], "duckdb") as read:
        path.unlink()
        assert read.ask(QUESTIONS[0]).total.both.calls == 0
        assert sum(read.skipped.values()) == 1


def test_a_wrong_query_is_one_line(tmp_path):
    connection = duck.connect()
    with pytest.raises(LogError, match="DuckDB could not read") as caught:
        duck.run(connection, "SELECT\nnothing FROM nowhere")
    assert "\n" not in str(caught.value)
    connection.close()
