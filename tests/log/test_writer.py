"""The log writer: many writers, one file a day, nothing torn, nothing stopped."""

import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import pytest

from preset_engine.log.line import LogLine
from preset_engine.log.writer import LogWriter

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Wide:
    """A line of a wished size."""

    number: int
    size: int = 0
    at: datetime = AT

    def to_json(self):
        return {"number": self.number, "fill": "x" * self.size}


@dataclass(frozen=True)
class Slow:
    """A line whose making waits for a signal, as a slow disk would."""

    gate: threading.Event
    at: datetime = AT

    def to_json(self):
        self.gate.wait(5)
        return {"slow": True}


def lines_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_lands_in_the_file_of_its_local_day(tmp_path):
    east = timezone(timedelta(hours=9))
    with LogWriter(tmp_path, zone=east) as writer:
        writer.write(LogLine(id="a", at=datetime(2026, 3, 1, 14, 59, tzinfo=UTC), model="m"))
        writer.write(LogLine(id="b", at=datetime(2026, 3, 1, 15, 0, tzinfo=UTC), model="m"))
    found = {path.name: len(lines_of(path)) for path in tmp_path.glob("*.jsonl")}
    assert found == {"calls-2026-03-01.jsonl": 1, "calls-2026-03-02.jsonl": 1}


WRITE = """
import sys
from pathlib import Path
from datetime import datetime, UTC
from preset_engine.log.writer import LogWriter
from tests.log.test_writer import Wide
with LogWriter(Path(sys.argv[1]), zone=UTC, capacity=100_000) as writer:
    for number in range(1500):
        writer.write(Wide(int(sys.argv[2]) * 10_000 + number, 40 + number * 7 % 9000))
    assert writer.flush(60)
assert writer.dropped == 0, writer.notes()
"""


def test_two_processes_writing_one_day_lose_and_tear_nothing(tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(tmp_path), str(n)]) for n in (1, 2)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    (path,) = tmp_path.glob("*.jsonl")
    numbers = [line["number"] for line in lines_of(path)]
    assert sorted(numbers) == [n * 10_000 + k for n in (1, 2) for k in range(1500)]
    for n in (1, 2):
        own = [number for number in numbers if number // 10_000 == n]
        assert own == sorted(own)


def test_a_full_queue_drops_lines_at_once_and_says_so(tmp_path):
    gate = threading.Event()
    with LogWriter(tmp_path, zone=UTC, capacity=3) as writer:
        writer.write(Slow(gate))
        time.sleep(0.2)  # the thread is busy with it now
        start = time.perf_counter()
        taken = [writer.write(Wide(number)) for number in range(10)]
        spent = time.perf_counter() - start
        gate.set()
        assert writer.flush()
        writer.write(Wide(99))
    assert taken.count(False) == writer.dropped == 7
    assert spent < 1
    found = lines_of(next(tmp_path.glob("*.jsonl")))
    assert [line["preset_engine.dropped_lines"] for line in found if "schema" in line] == [7]
    (note,) = writer.notes()
    assert (note.code, note.count) == ("log-dropped", 7)


def test_a_folder_that_cannot_be_made_fails_no_turn(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with LogWriter(tmp_path / "file" / "logs", zone=UTC) as writer:
        assert writer.write(Wide(1))
        assert writer.flush()
    assert writer.dropped == 1
    assert len(writer.notes()) == 1


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from datetime import UTC
from preset_engine.log.writer import LogWriter
from tests.log.test_writer import Wide
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
with LogWriter(Path(sys.argv[1]), zone=UTC) as writer:
    for number in range(20):
        writer.write(Wide(number, 900))
        writer.flush()
print(writer.dropped)
"""


def test_a_write_cut_short_is_taken_back(tmp_path):
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (path,) = tmp_path.glob("*.jsonl")
    found = lines_of(path)
    assert path.read_bytes().endswith(b"\n")
    assert len(found) == 5
    assert int(done.stdout) == 15


def test_a_line_that_is_no_json_is_dropped_alone(tmp_path):
    @dataclass(frozen=True)
    class Odd:
        at: datetime = AT

        def to_json(self):
            return {"value": object()}

    with LogWriter(tmp_path, zone=UTC) as writer:
        writer.write(Odd())
        writer.write(Wide(1))
    numbers = [line.get("number") for line in lines_of(next(tmp_path.glob("*.jsonl")))]
    assert 1 in numbers
    assert writer.dropped == 1


def test_a_closed_writer_drops_and_never_raises(tmp_path):
    writer = LogWriter(tmp_path, zone=UTC)
    writer.close()
    assert writer.write(Wide(1)) is False
    assert writer.dropped == 1


@pytest.mark.parametrize(("keep", "left"), [(None, 3), (2, 2), (0, 1)])
def test_old_days_go_when_a_new_day_begins(tmp_path, keep, left):
    for day in ("2026-02-20", "2026-02-27"):
        (tmp_path / f"calls-{day}.jsonl").write_text("{}\n")
    (tmp_path / "calls-notes.txt").write_text("mine")
    with LogWriter(tmp_path, zone=UTC, keep_days=keep) as writer:
        writer.write(Wide(1))
    assert len(list(tmp_path.glob("calls-*.jsonl"))) == left
    assert (tmp_path / "calls-notes.txt").exists()


def test_lone_surrogates_are_replaced_at_the_border(tmp_path):
    with LogWriter(tmp_path, zone=UTC) as writer:
        writer.write(LogLine(id="a\ud800b", at=AT, model="m"))
    (line,) = lines_of(next(tmp_path.glob("*.jsonl")))
    assert line["preset_engine.line.id"] == "a?b"
    assert writer.dropped == 0


def test_a_line_from_the_future_makes_no_other_day_old(tmp_path):
    kept = tmp_path / "calls-2026-02-28.jsonl"
    kept.write_text("{}\n")
    with LogWriter(tmp_path, zone=UTC, keep_days=2, clock=lambda: AT) as writer:
        writer.write(Wide(1, at=datetime(9999, 12, 30, tzinfo=UTC)))
    assert kept.exists()
    assert writer.dropped == 0


def test_a_file_whose_name_is_no_day_stops_no_line(tmp_path):
    (tmp_path / "calls-2026-99-99.jsonl").write_text("mine")
    with LogWriter(tmp_path, zone=UTC, keep_days=2) as writer:
        writer.write(Wide(1))
    assert writer.dropped == 0
    assert (tmp_path / "calls-2026-99-99.jsonl").read_text() == "mine"


def test_a_line_that_a_crash_cut_short_takes_no_other_with_it(tmp_path):
    path = tmp_path / "calls-2026-03-01.jsonl"
    path.write_text('{"number":1}\n{"numb')
    with LogWriter(tmp_path, zone=UTC) as writer:
        writer.write(Wide(3))
    assert [json.loads(line)["number"] for line in path.read_text().splitlines()[::2]] == [1, 3]
