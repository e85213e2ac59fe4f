"""Points in time as logs write them, read to milliseconds since 1970 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

_LARGEST_SECONDS = 1e11  # year 5138; a larger number is in milliseconds, micro- or nanoseconds
_LARGEST = 1e23


def read_time(value: object) -> int | None:
    """Milliseconds of an ISO text (no zone: UTC) or a number of seconds, ms, µs or ns; None if it is no time.

    Numbers may be text. The unit of a number follows from its size: `1772359200`, `1772359200000` and
    `"1772359200000000000"` are the same moment.
    """
    if isinstance(value, str):
        return _read_text(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not -_LARGEST < value < _LARGEST:  # infinite, no number, or beyond any unit
        return None
    number = float(value)
    while abs(number) >= _LARGEST_SECONDS:
        number /= 1000
    return round(number * 1000)


def _read_text(text: str) -> int | None:
    if not text or len(text) > 40:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _read_number(text)
    if len(text) == 8 and text.isdigit():  # ISO basic date or seconds: seconds are meant in logs
        return _read_number(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def _read_number(text: str) -> int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return read_time(number)


def format_time(at_ms: int) -> str:
    """ISO text in UTC with milliseconds and `Z`."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
