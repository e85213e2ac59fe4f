"""Times in logs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.log.times import format_time, read_time

NOON = 1_772_366_400_000  # 2026-03-01T12:00:00Z


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01T12:00:00.000Z",
        "2026-03-01T12:00:00Z",
        "2026-03-01 12:00:00",
        "2026-03-01T14:00:00+02:00",
        1_772_366_400,
        1_772_366_400.0,
        "1772366400",
        1_772_366_400_000,
        "1772366400000000000",
        1_772_366_400_000_000,
    ],
    ids=repr,
)
def test_every_way_to_write_a_moment_gives_the_same_milliseconds(value):
    assert read_time(value) == NOON


@pytest.mark.parametrize(
    "value", [None, True, "", "soon", float("nan"), float("inf"), 10**60, {}, [], "9" * 50]
)
def test_what_is_no_time_is_none(value):
    assert read_time(value) is None


@given(st.integers(10**11, 4 * 10**12))
def test_a_formatted_time_reads_back(at_ms):
    assert read_time(format_time(at_ms)) == at_ms


@given(st.one_of(st.text(), st.integers(), st.floats()))
def test_reading_a_time_never_raises(value):
    read_time(value)
