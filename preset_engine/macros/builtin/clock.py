"""Time and date from the context's clock, in its own zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from preset_engine.macros.dates import read_date, read_stamp
from preset_engine.macros.durations import humanise, humanise_signed
from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation
from preset_engine.macros.moments import format_moment
from preset_engine.macros.registry import Macro, Parameter, Volatility
from preset_engine.macros.view import MacroView

_OFFSET = re.compile(r"UTC([+-][0-9]+)")
_FARTHEST_MINUTES = 24 * 60 - 1


def show_time(view: MacroView, form: str) -> str:
    """The present time in a moment.js format."""
    return format_moment(view.context.clock(), form)


def time_at_offset(view: MacroView, offset: str) -> str:
    """The time of day at an offset from UTC: below 16 it counts hours, from there minutes."""
    number = int(offset[:8])
    minutes = number * 60 if abs(number) < 16 else number
    minutes = max(-_FARTHEST_MINUTES, min(_FARTHEST_MINUTES, minutes))
    zone = timezone(timedelta(minutes=minutes))
    return format_moment(view.context.clock().astimezone(UTC).astimezone(zone), "LT")


def idle_duration(view: MacroView) -> str:
    """How long ago the user wrote, the newest message not counted."""
    now = view.context.clock()
    shown = [record for record in view.chat if not record.is_hidden]
    previous = next((record for record in reversed(shown[:-1]) if record.is_user), None)
    if previous is None or not previous.sent_at:
        return "just now"
    sent = read_stamp(previous.sent_at, now.tzinfo or UTC)
    return _span(now, sent, signed=False)


def time_difference(view: MacroView, left: str, right: str) -> str:
    """How long the left moment lies behind or ahead of the right one."""
    zone = view.context.clock().tzinfo or UTC
    return _span(read_date(left, zone), read_date(right, zone), signed=True)


def _span(left: datetime | None, right: datetime | None, *, signed: bool) -> str:
    if left is None or right is None:
        return "Invalid date"
    milliseconds = (left - right) / timedelta(milliseconds=1)
    return humanise_signed(milliseconds) if signed else humanise(milliseconds)


def _time(call: Invocation) -> str:
    match = _OFFSET.fullmatch(call.argument(0))
    return show_time(call.view, "LT") if match is None else time_at_offset(call.view, match[1])


def _format(call: Invocation) -> str:
    return show_time(call.view, call.argument(0))


def _idle(call: Invocation) -> str:
    return idle_duration(call.view)


def _difference(call: Invocation) -> str:
    return time_difference(call.view, call.argument(0), call.argument(1))


def _fixed(name: str, meaning: str, form: str) -> Macro:
    def handler(call: Invocation) -> str:
        return show_time(call.view, form)

    return Macro(
        name, meaning, f"{{{{{name}}}}}", handler, volatility=Volatility.clock, subject="clock"
    )


MACROS = (
    Macro(
        "time",
        "The time of day, or that at an offset from UTC.",
        "{{time::UTC+2}}",
        _time,
        (Parameter("offset", "`UTC+2`; 16 and more are minutes", is_optional=True),),
        volatility=Volatility.clock,
        subject="clock",
    ),
    _fixed("date", "The date in words.", "LL"),
    _fixed("weekday", "The day of the week.", "dddd"),
    _fixed("isotime", "The time as `09:26`.", "HH:mm"),
    _fixed("isodate", "The date as `2025-03-14`.", "YYYY-MM-DD"),
    Macro(
        "datetimeformat",
        "The present time in a moment.js format.",
        "{{datetimeformat::YYYY-MM-DD HH:mm}}",
        _format,
        (Parameter("format", "tokens of moment.js"),),
        volatility=Volatility.clock,
        subject="clock",
    ),
    Macro(
        "idleDuration",
        "How long ago the user's previous message was sent.",
        "{{idleDuration}}",
        _idle,
        aliases=("idle_duration",),
        legacy_names=("idle_duration",),
        volatility=Volatility.clock,
        subject="clock",
    ),
    Macro(
        "timeDiff",
        "The span between two moments in words.",
        "{{timeDiff::2024-01-01::2024-03-01}}",
        _difference,
        (Parameter("left", "a date"), Parameter("right", "a date")),
        engines=frozenset({Engine.new, Engine.legacy}),
        subject="clock",
    ),
)
