"""Variables: what a store gives back, and what setting and adding do to it.

A store maps names to JSON values. Values are kept as they are given (texts from macros, numbers after
arithmetic) and change their face when read: what JavaScript would take for a number is one, so `007` reads as 7.
Lists and objects live in a variable as JSON text. The rules are SillyTavern 1.19's.
"""

from __future__ import annotations

import json
import math
from typing import TypeAlias

from preset_engine.errors import ExpansionTooLarge
from preset_engine.macros.js_numbers import print_number, tidy, to_float, to_number
from preset_engine.macros.limits import Limits
from preset_engine.messages import JsonValue

Store: TypeAlias = dict[str, JsonValue]


class NameMissing(ValueError):
    """A variable without a name cannot be set; the macro stays as text."""


def read(store: Store, name: str) -> JsonValue:
    """The value of a variable: a number where it looks like one, an empty text where there is none."""
    return face(store.get(name))


def face(value: JsonValue) -> JsonValue:
    """How a stored value shows itself."""
    number = number_of(value)
    if value is None or (isinstance(value, str) and not value.strip()):
        return value or ""
    return value or "" if math.isnan(number) else tidy(number)


def number_of(value: JsonValue) -> float:
    """JavaScript's `Number(value)`."""
    if isinstance(value, bool | int | float):
        return to_float(value)
    if value is None:
        return 0.0
    if isinstance(value, str):
        return to_number(value)
    if isinstance(value, dict) or len(value) > 1:
        return math.nan
    return number_of(value[0]) if value else 0.0


def show(value: JsonValue) -> str:
    """The text a macro prints for a value."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return print_number(value)
    return to_json(value)


def write(store: Store, name: str, value: JsonValue, limits: Limits) -> None:
    """Set a variable.

    Raises:
        NameMissing: the name is empty.
        ExpansionTooLarge: the text is over the limit.
    """
    if not name:
        raise NameMissing
    if isinstance(value, str) and len(value) > limits.output_chars:
        message = f"variable {name[:40]!r} would hold more than {limits.output_chars} characters"
        raise ExpansionTooLarge(message)
    store[name] = value


def add(store: Store, name: str, value: str | float, limits: Limits) -> JsonValue:
    """Append to a list, add numbers, or join texts; returns the new value."""
    current = read(store, name) or 0
    items = _parsed(current)
    if isinstance(items, list):
        items.append(value)
        _check_items(len(items), name, limits)
        write(store, name, to_json(items), limits)
        return items
    step, base = number_of(value), number_of(current)
    if math.isnan(step) or math.isnan(base):
        joined = (show(current) if current != 0 else "") + show(value)
        write(store, name, joined, limits)
        return joined
    total = base + step
    if math.isnan(total):
        return ""
    write(store, name, tidy(total), limits)
    return tidy(total)


def read_key(store: Store, name: str, key: str) -> JsonValue:
    """A member of a list or object variable; of anything else the plain value."""
    value = store.get(name)
    parsed = _parsed(value) if name in store else None
    if parsed is None:
        return face(value)
    found = _member(parsed, key)
    return face(to_json(found) if isinstance(found, list | dict) else found)


def write_key(store: Store, name: str, key: str, value: str, limits: Limits) -> None:
    """Set a member; numeric keys make lists, others objects; a variable of another kind stays as it is."""
    if not name:
        raise NameMissing
    current = store.get(name)
    number = to_number(key)
    if current is None:
        held: JsonValue = {} if math.isnan(number) else []
    else:
        held = _parsed(current)
    label = key if math.isnan(number) else print_number(number)
    if isinstance(held, dict):
        held[label] = value
    elif isinstance(held, list):
        _put(held, number, value, name, limits)
    else:
        return
    write(store, name, to_json(held), limits)


def _put(items: list[JsonValue], number: float, value: str, name: str, limits: Limits) -> None:
    if math.isnan(number) or number < 0 or number != number // 1:
        return
    _check_items(number + 1, name, limits)
    place = int(number)
    items.extend([None] * (place + 1 - len(items)))
    items[place] = value


def _check_items(count: float, name: str, limits: Limits) -> None:
    if count > limits.list_items:
        message = f"list variable {name[:40]!r} would hold more than {limits.list_items} entries"
        raise ExpansionTooLarge(message)


def _parsed(value: JsonValue) -> JsonValue:
    """The value as JSON, or None where it is no JSON."""
    text = value if isinstance(value, str) else show(value)
    if text[:1] not in '[{"-0123456789tfn \t\r\n' or not text:
        return None
    try:
        parsed: JsonValue = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return parsed


def _refuse(name: str) -> JsonValue:
    raise ValueError(name)


def _member(parsed: JsonValue, key: str) -> JsonValue:
    number = to_number(key)
    label = key if math.isnan(number) else print_number(number)
    if isinstance(parsed, dict):
        found = parsed.get(label)
        return "null" if found is None and label in parsed else found
    if not isinstance(parsed, list | str):
        return None
    if label == "length":
        return len(parsed)
    if math.isnan(number) or number < 0 or number != number // 1 or number >= len(parsed):
        return None
    item: JsonValue = parsed[int(number)]
    return "null" if item is None else item


def to_json(value: JsonValue) -> str:
    """JSON text as JavaScript writes it: no blanks, whole-number keys first in rising order."""
    return json.dumps(_ordered(value), ensure_ascii=False, separators=(",", ":"), allow_nan=True)


def _ordered(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        numeric = sorted((key for key in value if _is_index(key)), key=int)
        names = [*numeric, *(key for key in value if not _is_index(key))]
        return {name: _ordered(value[name]) for name in names}
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    if isinstance(value, float):
        return tidy(value) if math.isfinite(value) else None
    return value


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and (key == "0" or key[0] != "0") and len(key) < 11
