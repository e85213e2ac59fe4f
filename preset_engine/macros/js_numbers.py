"""Numbers as JavaScript reads and prints them.

Variables are texts that count as numbers where they look like one, and "looks like one" is JavaScript's
`Number()`: blanks around are ignored, `0x10` is 16, `.5` a half, `1e3` a thousand, `1_000` nothing. Printing
uses the shortest digits that read back, without an exponent below 1e21.
"""

from __future__ import annotations

import math
import re

from preset_engine.characters import JS_SPACE

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RADIX = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_INFINITY = {"Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}


def strip(text: str) -> str:
    """The text without white space around it, as `String.prototype.trim`."""
    return text.strip(JS_SPACE)


def to_number(text: str) -> float:
    """The number a text stands for, as `Number(text)`; NaN for what is none, 0 for a blank text."""
    body = strip(text)
    if not body:
        return 0.0
    if body in _INFINITY:
        return _INFINITY[body]
    if _DECIMAL.fullmatch(body):
        return float(body)
    if _RADIX.fullmatch(body):
        return to_float(int(body, 0))
    return math.nan


def to_float(value: float) -> float:
    """The double nearest to a number; a whole number beyond its range is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def print_number(value: float) -> str:
    """The text of a number, as `String(number)`."""
    value = to_float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    return sign + _print_positive(abs(value))


def _print_positive(value: float) -> str:
    mantissa, _, power = f"{value!r}e0".partition("e")
    exponent = int(power.partition("e")[0])
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + exponent - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def tidy(value: float) -> int | float:
    """The number for the store: whole numbers as `int`, so that JSON shows no `.0`."""
    return (
        int(value) if math.isfinite(value) and value == int(value) and abs(value) < 1e21 else value
    )


def round_half_up(value: float) -> int:
    """The nearest whole number, halves upward, as `Math.round`."""
    return math.floor(value + 0.5)
