"""The newest lines of our log."""

import json
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.log.recent import recent_lines


def test_lines_come_newest_first_over_days_and_up_to_the_limit(tmp_path):
    for day, numbers in (("2026-03-01", range(3)), ("2026-03-02", range(3, 5))):
        (tmp_path / f"calls-{day}.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in numbers))
    (tmp_path / "other-2026-03-03.jsonl").write_text('{"n": 9}\n')
    assert [line["n"] for line in recent_lines(tmp_path, limit=4)] == [4, 3, 2, 1]
    assert recent_lines(tmp_path, limit=0) == []


def test_damaged_and_unfinished_lines_are_skipped(tmp_path):
    (tmp_path / "calls-2026-03-01.jsonl").write_text('{"n": 1}\nbroken\n[2]\n\n{"n": 3}\n{"n": 4')
    assert [line["n"] for line in recent_lines(tmp_path)] == [3, 1]


def test_an_empty_folder_has_no_lines(tmp_path):
    assert recent_lines(tmp_path) == []


@given(st.lists(st.integers(0, 90_000), max_size=8), st.booleans())
def test_any_lengths_of_lines_read_back(lengths, is_unfinished):
    lines = [{"n": number, "fill": "x" * length} for number, length in enumerate(lengths)]
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (Path(folder) / "calls-2026-03-01.jsonl").write_text(
            text + ('{"n": ' if is_unfinished else "")
        )
        assert recent_lines(Path(folder)) == lines[::-1]
