"""`preset-engine cache report` as a person runs it."""

import csv
import io
import json
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from preset_engine.cache.reading import open_logs
from preset_engine.cli.app import build
from preset_engine.errors import PresetEngineError
from tests.program import run_program
from tests.truth import folder


def run(*words):
    """The command in this process; an error of ours stays in `exception`."""
    words = ["cache", "report", *map(str, words)]
    return CliRunner(env={"COLUMNS": "160", "NO_COLOR": "1"}).invoke(build(), words)


def line(minute, cached, **more):
    body = {
        "ts": f"2026-03-0{1 + minute // 100}T10:{minute % 60:02d}:00Z",
        "request_id": f"r{minute}",
        "session_id": "s",
        "caller": "direct-chat",
        "model": "m",
        "provider": "openai",
        "status": 200,
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }
    return {**body, **more}


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "day.jsonl"
    lines = [json.dumps(line(*one)) for one in ((0, 0), (1, 640), (2, 768), (101, 896))]
    path.write_text("\n".join([*lines, '{"cut": ', ""]))
    return path


GROUP = {
    "first": {"requests": 1, "prompt_tokens": 1000, "cached_tokens": 0, "unknown_requests": 0},
    "later": {"requests": 3, "prompt_tokens": 3000, "cached_tokens": 2304, "unknown_requests": 0},
}


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_json_is_the_groups_with_four_figures_a_side(log, engine):
    done = run(log, "--by", "caller,provider", "--json", "--engine", engine)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"direct-chat/openai": GROUP}
    assert "no JSON" in done.stderr


def test_full_json_tells_everything(log):
    body = json.loads(run(log, "--json", "--full", "--baseline", "first=8.6,later=20.7").stdout)
    assert body["total"]["later"]["hit_rate"] == 0.768
    assert body["baseline"] == {"first": 8.6, "later": 20.7}
    assert list(body["days"]) == ["2026-03-01", "2026-03-02"]
    assert body["lines"]["unreadable"] == 1
    assert body["group_count"] == 1
    assert [note["code"] for note in body["notes"]] == ["report-unreadable"]


def test_the_table_shows_the_baseline_beside_and_what_was_left_out(log):
    done = run(log, "--baseline", "first=8.6,later=20.7")
    assert done.exit_code == 0
    for piece in ("8.6 %", "20.7 %", "76.8 %", "1 unreadable", "direct-chat"):
        assert piece in done.stdout


def test_csv_has_a_line_a_side_and_defuses_formulas(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(line(1, 64, caller="=HYPERLINK(1)")) + "\n")
    rows = list(csv.DictReader(io.StringIO(run(path, "--csv", "--by", "caller").stdout)))
    assert [row["side"] for row in rows] == ["first", "later"]
    assert rows[0]["caller"] == "'=HYPERLINK(1)"
    assert rows[0]["hit_rate"] == "0.064"


def test_a_range_and_its_comparison(log):
    done = run(log, "--until", "2026-03-02", "--compare", "2026-03-02..", "--json", "--full")
    body = json.loads(done.stdout)
    assert body["total"]["later"]["cached_tokens"] == 1408
    assert body["compared"]["total"]["later"]["cached_tokens"] == 896


def test_two_sets_of_files_are_compared(log, tmp_path):
    other = tmp_path / "before.jsonl"
    other.write_text("\n".join(json.dumps(line(n, 100)) for n in (0, 1)))
    body = json.loads(run(log, "--compare", other, "--json", "--full").stdout)
    assert body["compared"]["total"]["later"]["hit_rate"] == 0.1
    assert body["total"]["later"]["hit_rate"] == 0.768


def test_days_count_back_from_now(tmp_path):
    now = datetime.fromtimestamp(time.time(), UTC).isoformat()
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([json.dumps(line(0, 0)), json.dumps(line(1, 500, ts=now))]))
    body = json.loads(run(path, "--days", "3", "--json", "--by", "model").stdout)
    assert body["m"]["later"]["cached_tokens"] == 500
    assert body["m"]["first"]["requests"] == 0


def test_a_gap_starts_a_new_group_when_asked(log):
    def firsts(*words):
        return json.loads(run(log, "--json", "--by", "model", *words).stdout)["m"]["first"][
            "requests"
        ]

    assert (firsts(), firsts("--gap-minutes", "30"), firsts("--ttl")) == (1, 2, 2)


def test_prices_turn_tokens_into_money(log, tmp_path):
    prices = tmp_path / "prices.json"
    prices.write_text(
        json.dumps({"currency": "EUR", "models": {"m*": {"input": 2, "cached": 0.5, "output": 10}}})
    )
    money = json.loads(run(log, "--prices", prices, "--json", "--full").stdout)["money"]
    fresh, cached, output = 4000 - 2304, 2304, 40
    assert money["cost"] == round((fresh * 2 + cached * 0.5 + output * 10) / 1e6, 6)
    assert money["saved"] == round(cached * 1.5 / 1e6, 6)
    assert money["currency"] == "EUR"


def test_a_page_is_written(log, tmp_path):
    page = tmp_path / "page.html"
    assert run(log, "--html", page).exit_code == 0
    assert "days in UTC" in page.read_text("utf-8")


def test_the_page_of_one_day_shows_its_hours(tmp_path):
    path, page = tmp_path / "log.jsonl", tmp_path / "page.html"
    lines = [
        json.dumps(line(hour, 64, ts=f"2026-03-01T{hour:02d}:30:00Z")) for hour in range(8, 12)
    ]
    path.write_text("\n".join(lines))
    assert run(path, "--html", page).exit_code == 0
    text = page.read_text("utf-8")
    assert "hours in UTC" in text
    assert "09:00, later calls: 6.4 %" in text


@pytest.mark.parametrize(
    "words",
    [
        ["/no/such/log"],
        ["LOG", "--by", "colour"],
        ["LOG", "--by", ""],
        ["LOG", "--since", "soon"],
        ["LOG", "--baseline", "8.6"],
        ["LOG", "--prices", "/no/such/prices"],
        ["LOG", "--compare", "2026-01-01..2026-01-02", "--compare", "/no/such"],
        ["LOG", "--html", "/no/such/folder/page.html"],
    ],
    ids=lambda words: " ".join(words[-2:]),
)
def test_wrong_use_is_an_error_of_ours_in_one_line(words, log):
    done = run(*[log if word == "LOG" else word for word in words])
    assert isinstance(done.exception, PresetEngineError)
    assert len(str(done.exception).splitlines()) == 1


def test_an_error_ends_the_program_with_status_two_and_one_line():
    done = run_program("cache", "report", "/no/such/log")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_names_from_a_log_cannot_steer_the_terminal(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(line(1, 64, caller="\x1b[2J[bold]x[/bold]\x07")) + "\n")
    shown = run(path, "--by", "caller").stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[bold]x[/bold]" in shown


GENERATOR = folder("golden").parent / "tools" / "gen_logs.py"


@pytest.mark.skipif(not GENERATOR.is_file(), reason="the log generator is absent")
@pytest.mark.parametrize(("lines", "seed"), [(6000, 5), (900, 3)], ids=["duckdb", "sqlite"])
def test_the_report_equals_the_generators_own_totals(tmp_path, lines, seed):
    log, expected = tmp_path / "log.jsonl", tmp_path / "expected.json"
    words = [
        "--lines",
        lines,
        "--seed",
        seed,
        "--dirty",
        0.03,
        "--broken",
        7,
        "--out",
        log,
        "--expected",
        expected,
    ]
    subprocess.run([sys.executable, GENERATOR, *map(str, words)], check=True)
    done = run(log, "--by", "preset,provider", "--json")
    assert json.loads(done.stdout) == json.loads(expected.read_text())
    assert "no JSON" in done.stderr


WITHOUT_DUCKDB = """
import sys
sys.modules["duckdb"] = None  # as if it were not installed
from preset_engine.cli.app import main
sys.argv = ["preset-engine", "cache", "report", *sys.argv[1:]]
main()
"""


def test_without_duckdb_a_large_log_is_still_read_and_the_install_line_named(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        "".join(
            json.dumps(line(n % 200, 64, request_id=f"q{n}", fill="x" * 900)) + "\n"
            for n in range(1000)
        )
    )

    def asked(*words):
        command = [sys.executable, "-c", WITHOUT_DUCKDB, str(path), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = asked("--json", "--by", "model")
    assert json.loads(done.stdout)["m"]["later"]["requests"] == 999
    assert "several times slower" in done.stderr
    refused = asked("--engine", "duckdb")
    assert refused.returncode == 2
    assert "pip install 'preset-engine[report]'" in refused.stderr


def test_progress_is_told_and_grows_to_the_whole(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        "".join(json.dumps(line(n % 200, 64, fill="x" * 900)) + "\n" for n in range(3000))
    )
    told = []
    with open_logs([str(path)], "sqlite", lambda stage, part: told.append((stage, part))):
        parts = [part for stage, part in told if stage == "reading"]
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    assert len(parts) > 2


def test_logs_without_one_known_line_end_with_status_1(tmp_path, log):
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text('{"a": 1}\n{"b": 2}\n{"cut')
    done = run(foreign)
    assert done.exit_code == 1
    assert "unknown shape" in done.stdout
    assert run(foreign, log).exit_code == 0
    foreign.write_text("")
    assert run(foreign).exit_code == 0


def test_a_written_page_is_named_on_standard_error(tmp_path, log):
    page = tmp_path / "page.html"
    done = run(log, "--html", page, "--json")
    assert json.loads(done.stdout)
    assert f"page written: {page}" in done.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [(["--json", "--csv"], "give one of them"), (["--prices", "nowhere"], "check the path")],
    ids=["two forms", "prices"],
)
def test_what_cannot_be_done_says_what_to_do(log, words, named):
    done = run(log, *words)
    assert isinstance(done.exception, PresetEngineError)
    assert named in str(done.exception)
    assert str(done.exception).count("nowhere") <= 1
