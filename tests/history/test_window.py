"""The history window with hysteresis."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.history.tool_groups import clean_tool_groups
from preset_engine.history.window import UNLIMITED, window, window_start
from preset_engine.messages import ChatMessage
from tests import truth


@truth.seeds("seed.hysteresis_window")
def test_the_window_is_cut_only_when_more_than_twice_as_much_is_held(row: truth.Row) -> None:
    start = 0
    for total, step in zip(row["input"]["block_totals"], row["expected"]["steps"], strict=True):
        start = window(total, row["input"]["n"], start)
        assert (start, total - start) == (step["start"], step["kept"])


@given(total=st.integers(0, 400), n=st.integers(0, 30))
def test_the_closed_formula_equals_appending_one_record_at_a_time(total: int, n: int) -> None:
    start = 0
    for held in range(total + 1):
        start = window(held, n, start)
    assert window(total, n) == start


@given(total=st.integers(0, 10_000), start=st.integers(0, 10_000))
def test_the_window_is_unlimited_by_default(total: int, start: int) -> None:
    assert window(total, UNLIMITED, min(start, total)) == 0


@given(total=st.integers(0, 500), n=st.integers(0, 40), start=st.integers(0, 600))
def test_a_window_holds_at_most_twice_n_and_never_goes_back(total: int, n: int, start: int) -> None:
    found = window(total, n, start)
    assert 0 <= total - found <= 2 * n or (n == 0 and found == total)
    if start <= total:
        assert found >= start


def _asks(call: str) -> ChatMessage:
    return ChatMessage("assistant", "", tool_calls=({"id": call},))


_turns = st.lists(
    st.sampled_from(
        [
            (ChatMessage("user", "u"),),
            (ChatMessage("assistant", "a"),),
            (_asks("x"), ChatMessage("tool", "r", tool_call_id="x")),
        ]
    ),
    max_size=40,
)


@given(turns=_turns, n=st.integers(0, 8))
def test_a_border_never_splits_a_tool_group(turns: list[tuple[ChatMessage, ...]], n: int) -> None:
    records = [message for turn in turns for message in turn]
    kept = records[window_start(records, n) :]
    assert clean_tool_groups(kept).notes == ()


@given(turns=_turns, n=st.integers(1, 8))
def test_a_kept_start_moves_only_when_the_window_is_cut(
    turns: list[tuple[ChatMessage, ...]], n: int
) -> None:
    records: list[ChatMessage] = []
    start = 0
    for turn in turns:
        records += turn
        found = window_start(records, n, start)
        assert found >= start
        if len(records) - start <= 2 * n:
            assert found == start
        start = found


def test_a_window_begins_with_the_user_where_it_can() -> None:
    records = [ChatMessage("user" if n % 2 == 0 else "assistant", str(n)) for n in range(9)]
    assert window(9, 4) == 5
    assert window_start(records, 4) == 4
