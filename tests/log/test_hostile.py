"""Logs made to break a report: every engine gives the same sums, in bounded time, and one bad line costs itself."""

import json

import pytest

from preset_engine.cache.options import ask_for, read_baseline
from preset_engine.cache.query import Question
from preset_engine.cache.reading import open_logs
from preset_engine.errors import InputRefused
from preset_engine.log.reader import read_log
from preset_engine.log.readers.console import read_text
from preset_engine.log.usage import MAX_COUNT, whole

FILLING = 400  # lines: more than are looked at to tell a file's family


def line(number, usage=None, **more):
    body = {
        "ts": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}.{number:03}Z",
        "request_id": f"r{number}",
        "session_id": "s",
        "caller": "c",
        "model": "m",
        "provider": "openai",
        "preset": {"name": "p"},
        "status": 200,
        "usage": usage or {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 50}},
    }
    return {**body, **more}


def report(path, engine, *by):
    with open_logs([str(path)], engine) as logs:
        return logs.ask(Question(by=by or ("shape",)))


def written(path, lines):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


ODD_USAGES = {
    "negative": {"prompt_tokens": -500, "prompt_tokens_details": {"cached_tokens": -100}},
    "negative cached": {"prompt_tokens": 500, "prompt_tokens_details": {"cached_tokens": -100}},
    "huge": {"prompt_tokens": 2**63 - 1, "prompt_tokens_details": {"cached_tokens": 2**63 - 1}},
    "beyond": {"prompt_tokens": MAX_COUNT + 1, "prompt_tokens_details": {"cached_tokens": 0}},
    "overflow": {"input_tokens": 5, "cache_read_input_tokens": 2**63 - 1},
}


@pytest.mark.parametrize("usage", [pytest.param(v, id=name) for name, v in ODD_USAGES.items()])
def test_a_count_that_cannot_be_is_none_on_every_engine(tmp_path, usage):
    lines = [line(n) for n in range(FILLING)] + [line(FILLING, usage)]
    path = written(tmp_path / "log.jsonl", lines)
    small, big = report(path, "sqlite"), report(path, "duckdb")
    assert small.total == big.total
    assert small.total.both.cached_tokens == FILLING * 50
    assert small.total.both.prompt_tokens == FILLING * 100


def test_many_of_the_largest_counts_can_be_summed(tmp_path):
    usage = {"prompt_tokens": MAX_COUNT, "prompt_tokens_details": {"cached_tokens": MAX_COUNT}}
    path = written(tmp_path / "log.jsonl", [line(n, usage) for n in range(FILLING)])
    for engine in ("sqlite", "duckdb"):
        assert report(path, engine).total.both.cached_tokens == FILLING * MAX_COUNT
    assert (whole(MAX_COUNT), whole(MAX_COUNT + 1), whole("9" * 18)) == (MAX_COUNT, None, None)


@pytest.mark.parametrize("key", ["session_id", "caller", "model", "provider", "user", "request_id"])
@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_half_a_surrogate_in_a_name_costs_no_report(tmp_path, key, engine):
    lines = [line(n) for n in range(3)] + [line(3, **{key: "a\ud83d"})]
    path = written(tmp_path / "log.jsonl", lines)
    found = report(path, engine, "session", "caller", "model", "provider", "user")
    assert found.total.both.calls + found.left.unreadable == 4
    json.dumps(found.to_json(), ensure_ascii=False).encode()


def test_utf_16_and_broken_first_lines_lose_no_line(tmp_path):
    text = "".join(json.dumps(line(n)) + "\n" for n in range(3 * FILLING))
    wide = tmp_path / "wide.jsonl"
    wide.write_text(text, "utf-16")
    late = tmp_path / "late.jsonl"
    late.write_text('{"a":\n' * FILLING + text)
    for path in (wide, late):
        for engine in ("sqlite", "duckdb"):
            assert report(path, engine).total.both.calls == 3 * FILLING


@pytest.mark.parametrize(
    "text",
    ["{" * 400_000, "{\n" * 200_000, "{" + "[Object" * 60_000, "{" + "{'\"`" * 100_000],
    ids=["braces", "lines", "placeholders", "quotes"],
)
def test_the_console_reader_comes_to_an_end_on_texts_made_against_it(text):
    assert len(list(read_text(text))) <= 1


def test_a_nested_document_is_named_and_nothing_more(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000 + "]" * 100_000)
    (only,) = read_log(path)
    assert "nested too deep" in only.reason


@pytest.mark.parametrize("minutes", [float("inf"), float("nan"), 1e300])
def test_an_endless_pause_is_refused(minutes):
    with pytest.raises(InputRefused, match="gap-minutes"):
        ask_for(("model",), ("session",), None, None, minutes)


@pytest.mark.parametrize("text", ["first=nan", "first=1,later=inf"])
def test_a_baseline_that_is_no_number_is_refused(text):
    with pytest.raises(InputRefused, match="baseline"):
        read_baseline(text)
