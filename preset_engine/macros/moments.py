"""Formats a moment with the tokens of moment.js, English locale.

A format is cut into tokens, texts in square brackets and everything else, which stands for itself::

    "[Week] W, Do MMMM"   →   "Week 11, 14th March"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")

_ISO = "YYYY-MM-DDTHH:mm:ssZ"
_LONG = {
    "LTS": "h:mm:ss A",
    "LT": "h:mm A",
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
    "LLL": "MMMM D, YYYY h:mm A",
    "LL": "MMMM D, YYYY",
    "L": "MM/DD/YYYY",
    "llll": "ddd, MMM D, YYYY h:mm A",
    "lll": "MMM D, YYYY h:mm A",
    "ll": "MMM D, YYYY",
    "l": "M/D/YYYY",
}
_LONG_TOKEN = re.compile(r"\[[^\[]*\]|\\?(?:LTS|LT|LL?L?L?|l{1,4})")
_TOKEN = re.compile(
    r"\[[^\[]*\]|\\?(?:[Hh]mm(?:ss)?|Mo|MM?M?M?|Do|DDDo|DD?D?D?|ddd?d?|do?|w[o|w]?|W[o|W]?|Qo?|N{1,5}"
    r"|YYYYYY|YYYYY|YYYY|YY|y{2,4}|yo?|gg(?:ggg?)?|GG(?:GGG?)?|e|E|a|A|hh?|HH?|kk?|mm?|ss?|S{1,9}|x|X|zz?|ZZ?"
    r"|[^\n\r\u2028\u2029])"
)


def format_moment(moment: datetime, form: str) -> str:
    """The moment in a moment.js format; an empty format gives the ISO form.

    Args:
        moment: an aware time; its own zone is the one shown.
        form: the format string.
    """
    form = _LONG_TOKEN.sub(lambda match: _LONG.get(match.group(), match.group()), form or _ISO)
    return "".join(_one(moment, token) for token in _TOKEN.findall(form))


def _one(moment: datetime, token: str) -> str:
    rule = _RULES.get(token)
    if rule is not None:
        return rule(moment)
    if token[0] == "[" and len(token) > 1:
        return token[1:-1]
    return token.replace("\\", "")


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    tail = number % 10
    suffix = (
        "th" if number // 10 % 10 == 1 or tail not in (1, 2, 3) else ("st", "nd", "rd")[tail - 1]
    )
    return f"{number}{suffix}"


def _offset(moment: datetime, colon: str) -> str:
    minutes = int((moment.utcoffset() or timedelta()).total_seconds() // 60)
    sign, size = ("+", minutes) if minutes >= 0 else ("-", -minutes)
    return f"{sign}{size // 60:02d}{colon}{size % 60:02d}"


def _weekday(moment: datetime) -> int:
    return moment.isoweekday() % 7


def _us_week(moment: datetime) -> tuple[int, int]:
    """Year and week where weeks start on Sunday and week 1 holds January 1."""
    saturday = moment + timedelta(days=6 - _weekday(moment))
    first_day = saturday.timetuple().tm_yday
    return saturday.year, (first_day - 1) // 7 + 1


def _twelve(moment: datetime) -> int:
    return moment.hour % 12 or 12


def _year(moment: datetime, digits: int, sign: str = "") -> str:
    return f"{sign}{moment.year:0{digits}d}"


def _fraction(digits: int) -> Callable[[datetime], str]:
    return lambda m: f"{m.microsecond // 1000:03d}000000"[:digits]


_RULES: dict[str, Callable[[datetime], str]] = {
    "M": lambda m: str(m.month),
    "Mo": lambda m: ordinal(m.month),
    "MM": lambda m: f"{m.month:02d}",
    "MMM": lambda m: MONTHS[m.month - 1][:3],
    "MMMM": lambda m: MONTHS[m.month - 1],
    "Q": lambda m: str((m.month + 2) // 3),
    "Qo": lambda m: ordinal((m.month + 2) // 3),
    "D": lambda m: str(m.day),
    "Do": lambda m: ordinal(m.day),
    "DD": lambda m: f"{m.day:02d}",
    "DDD": lambda m: str(m.timetuple().tm_yday),
    "DDDo": lambda m: ordinal(m.timetuple().tm_yday),
    "DDDD": lambda m: f"{m.timetuple().tm_yday:03d}",
    "d": lambda m: str(_weekday(m)),
    "do": lambda m: ordinal(_weekday(m)),
    "dd": lambda m: DAYS[_weekday(m)][:2],
    "ddd": lambda m: DAYS[_weekday(m)][:3],
    "dddd": lambda m: DAYS[_weekday(m)],
    "e": lambda m: str(_weekday(m)),
    "E": lambda m: str(m.isoweekday()),
    "w": lambda m: str(_us_week(m)[1]),
    "wo": lambda m: ordinal(_us_week(m)[1]),
    "ww": lambda m: f"{_us_week(m)[1]:02d}",
    "W": lambda m: str(m.isocalendar().week),
    "Wo": lambda m: ordinal(m.isocalendar().week),
    "WW": lambda m: f"{m.isocalendar().week:02d}",
    "YY": lambda m: f"{m.year % 100:02d}",
    "YYYY": lambda m: _year(m, 4),
    "YYYYY": lambda m: _year(m, 5),
    "YYYYYY": lambda m: _year(m, 6, "+"),
    "y": lambda m: str(m.year),
    "yy": lambda m: _year(m, 2),
    "yyy": lambda m: _year(m, 3),
    "yyyy": lambda m: _year(m, 4),
    "yo": lambda m: ordinal(m.year),
    "N": lambda _: "AD",
    "NN": lambda _: "AD",
    "NNN": lambda _: "AD",
    "NNNN": lambda _: "Anno Domini",
    "NNNNN": lambda _: "AD",
    "gg": lambda m: f"{_us_week(m)[0] % 100:02d}",
    "gggg": lambda m: f"{_us_week(m)[0]:04d}",
    "ggggg": lambda m: f"{_us_week(m)[0]:05d}",
    "GG": lambda m: f"{m.isocalendar().year % 100:02d}",
    "GGGG": lambda m: f"{m.isocalendar().year:04d}",
    "GGGGG": lambda m: f"{m.isocalendar().year:05d}",
    "A": lambda m: "AM" if m.hour < 12 else "PM",
    "a": lambda m: "am" if m.hour < 12 else "pm",
    "H": lambda m: str(m.hour),
    "HH": lambda m: f"{m.hour:02d}",
    "h": lambda m: str(_twelve(m)),
    "hh": lambda m: f"{_twelve(m):02d}",
    "k": lambda m: str(m.hour or 24),
    "kk": lambda m: f"{m.hour or 24:02d}",
    "hmm": lambda m: f"{_twelve(m)}{m.minute:02d}",
    "hmmss": lambda m: f"{_twelve(m)}{m.minute:02d}{m.second:02d}",
    "Hmm": lambda m: f"{m.hour}{m.minute:02d}",
    "Hmmss": lambda m: f"{m.hour}{m.minute:02d}{m.second:02d}",
    "m": lambda m: str(m.minute),
    "mm": lambda m: f"{m.minute:02d}",
    "s": lambda m: str(m.second),
    "ss": lambda m: f"{m.second:02d}",
    **{"S" * digits: _fraction(digits) for digits in range(1, 10)},
    "X": lambda m: str(int(m.timestamp() // 1)),
    "x": lambda m: str(int(m.timestamp() // 1) * 1000 + m.microsecond // 1000),
    "Z": lambda m: _offset(m, ":"),
    "ZZ": lambda m: _offset(m, ""),
    "z": lambda _: "",
    "zz": lambda _: "",
}
