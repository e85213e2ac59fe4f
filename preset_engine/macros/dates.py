"""Reads dates the way moment.js does: ISO 8601 first, then the mail form, then common English forms.

Also the stamps that SillyTavern puts on chat messages (`sent_at`), in its four historical forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime

_CLOCK = (
    r"(?:[T ](?P<hour>\d\d)(?::?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?)?"
    r"(?P<zone>[+-]\d\d(?::?\d\d)?|\s*Z)?)?"
)
_ISO = tuple(
    re.compile(rf"\s*(?P<year>\d{{4}}){date}{_CLOCK}", re.ASCII)
    for date in (
        r"-(?P<month>\d\d)-(?P<day>\d\d)",
        r"-W(?P<week>\d\d)(?:-(?P<weekday>\d))?",
        r"-(?P<ordinal>\d\d\d)",
        r"-(?P<month>\d\d)",
        r"(?P<month>\d\d)(?P<day>\d\d)",
        r"W(?P<week>\d\d)(?P<weekday>\d)?",
        r"(?P<ordinal>\d\d\d)",
        r"",
    )
)
_ENGLISH = tuple(
    f"{date}{clock}"
    for date in (
        "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m-%d",
    )
    for clock in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M%p", " %I:%M:%S %p")
)  # fmt: skip
_STAMP = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@ ?(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?",
    re.ASCII,
)
_LONGEST = 100


def read_date(text: str, zone: tzinfo) -> datetime | None:
    """The moment a text names; without a zone of its own it is taken in `zone`. None for no date."""
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    for pattern in _ISO:
        match = pattern.fullmatch(text)
        if match is not None:
            return _from_iso(match.groupdict(), zone)
    return _from_mail(text) or _from_english(text, zone)


def read_stamp(value: str | float | None, zone: tzinfo) -> datetime | None:
    """The moment of a chat record's `sent_at`: milliseconds since 1970, ISO, or SillyTavern's own forms."""
    if isinstance(value, str) and not value.strip().isdigit():
        match = _STAMP.fullmatch(value.strip())
        if match is None:
            return read_date(value.strip(), zone)
        numbers = [int(part or 0) for part in match.groups()]
        return _or_none(lambda: datetime(*numbers[:6], numbers[6] * 1000, tzinfo=zone))  # type: ignore[misc, arg-type]  # six numbers
    if value is None or value == "":
        return None
    return _or_none(lambda: datetime.fromtimestamp(float(value) / 1000, UTC))


def _or_none(make: Callable[[], datetime]) -> datetime | None:
    try:
        return make()
    except (ValueError, OverflowError, OSError):
        return None


def _from_iso(part: dict[str, str | None], zone: tzinfo) -> datetime | None:
    def number(name: str, default: int) -> int:
        return int(part.get(name) or default)

    def make() -> datetime:
        year = number("year", 1)
        if part.get("week"):
            day = datetime.fromisocalendar(year, number("week", 1), number("weekday", 1))
        elif part.get("ordinal"):
            day = datetime(year, 1, 1) + timedelta(days=number("ordinal", 1) - 1)  # noqa: DTZ001 zone follows
        else:
            day = datetime(year, number("month", 1), number("day", 1))  # noqa: DTZ001 zone follows
        micro = int(f"{part.get('fraction') or '0':0<6}"[:6])
        hour = number("hour", 0)
        moment = day.replace(
            hour=hour % 24,
            minute=number("minute", 0),
            second=number("second", 0),
            microsecond=micro,
        )
        if hour == 24:
            moment += timedelta(days=1)
        return moment.replace(tzinfo=_zone(part.get("zone"), zone))

    return _or_none(make)


def _zone(text: str | None, local: tzinfo) -> tzinfo:
    if not text:
        return local
    if text.strip() == "Z":
        return UTC
    digits = text[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return timezone(timedelta(minutes=minutes if text[0] == "+" else -minutes))


def _from_mail(text: str) -> datetime | None:
    if not re.search(r"\d\d:\d\d.* (?:[+-]\d{4}|GMT|UTC?|[ECMP][SD]T|Z)$", text):
        return None
    moment = _or_none(lambda: parsedate_to_datetime(text))
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


def _from_english(text: str, zone: tzinfo) -> datetime | None:
    for form in _ENGLISH:
        try:
            return datetime.strptime(text, form).replace(tzinfo=zone)
        except ValueError:
            continue
    return None
