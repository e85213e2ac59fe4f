"""The history window with hysteresis: cut rarely, so that the cached prefix lives long.

A window that slides by one message each turn moves the whole prompt and makes the cache useless. This one holds
everything until more than 2n records are held and then keeps the newest n; the prefix breaks once in n + 1
records. A negative n is no limit, the default. For n = 3 and one record a turn::

    total   6  7  8  9 10 11
    start   0  4  4  4  4  8

Source: golden/seeds `seed.hysteresis_window`; design decision 10.
"""

from __future__ import annotations

from collections.abc import Sequence

from preset_engine.history.tool_groups import ToolRecord

UNLIMITED = -1


def window(total: int, n: int, previous_start: int | None = None) -> int:
    """The first record that is sent.

    Args:
        total: records in the history.
        n: how many are kept when the window is cut; negative is unlimited.
        previous_start: what this function gave for the same history before; None for a caller without
            state, who gets what appending one record at a time would have given.
    """
    if n < 0:
        return 0
    if previous_start is None or not 0 <= previous_start <= total:
        return 0 if total <= 2 * n else (n + 1) * -((2 * n - total) // (n + 1))
    return total - n if total - previous_start > 2 * n else previous_start


def window_start(records: Sequence[ToolRecord], n: int, previous_start: int | None = None) -> int:
    """The first record that is sent, at a border that a provider accepts.

    From the start that `window` gives it goes back, at most n records, to the nearest user record, so that
    tool groups stay whole and the window begins with the user; where there is none, to the nearest border
    between groups. Going back, not forward, keeps the start where it is while records are appended.
    """
    start = window(len(records), n, previous_start)
    if start in (0, len(records), previous_start):
        return start
    for number in range(start, max(start - n, 0), -1):
        if records[number].role == "user":
            return number
    while start > 0 and records[start].role == "tool":
        start -= 1
    return start
