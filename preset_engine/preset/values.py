"""JSON values at the border: bounded depth, no foreign types, no text that storage cannot hold."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping

from preset_engine.characters import clean_text
from preset_engine.errors import InputTooLarge, UnreadableInput
from preset_engine.messages import JsonValue

MAX_DEPTH = 100
"""Deepest nesting of a document; the deepest real preset has 12 levels."""


MAX_CONTAINERS = 400_000
"""Most lists and objects of a document; the largest real preset has some two thousand."""


def check_depth(value: JsonValue) -> None:
    """Raise `InputTooLarge` for a document that is nested too deep or holds too many lists and objects."""
    level: list[JsonValue] = [value]
    count = 0
    for _ in range(MAX_DEPTH + 1):
        below: list[JsonValue] = []
        for item in level:
            children = item.values() if isinstance(item, dict) else item
            if isinstance(children, str) or not isinstance(children, Iterable):
                continue
            below.extend(child for child in children if isinstance(child, (dict, list)) and child)
        count += len(below)
        if count > MAX_CONTAINERS:
            message = (
                f"the document holds more than {MAX_CONTAINERS:,} lists and objects; no preset does. "
                "Check where it comes from"
            )
            raise InputTooLarge(message)
        if not below:
            return
        level = below
    message = (
        f"the document is nested deeper than {MAX_DEPTH} levels; no preset is, so it is not read. "
        "Check where the file comes from"
    )
    raise InputTooLarge(message)


def copy_json(value: object) -> JsonValue:
    """A deep copy of a value that a program handed in.

    Raises:
        UnreadableInput: it holds what is no JSON; the message names the place.
        InputTooLarge: it is nested deeper than `MAX_DEPTH`.
    """
    try:
        return _copy(value, MAX_DEPTH)
    except _NoJson as fault:
        path = "$" + "".join(reversed(fault.parts))
        message = f"{path[:120]} {fault.what}"
        raise UnreadableInput(message) from None


def fresh_json(value: JsonValue) -> JsonValue:
    """A deep copy of a value that is known to be JSON."""
    copy: JsonValue = json.loads(json.dumps(value))
    return copy


class _NoJson(Exception):
    """A value is no JSON; the parts of its path are gathered on the way out."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.parts: list[str] = []


def _copy(value: object, depth: int) -> JsonValue:
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if depth < 0:
        message = f"the document is nested deeper than {MAX_DEPTH} levels; no preset is"
        raise InputTooLarge(message)
    if isinstance(value, Mapping):
        return {_key(key): _child(item, f".{key}", depth) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_child(item, number, depth) for number, item in enumerate(value)]
    message = f"holds a value of type {type(value).__name__!r}, which is no JSON"
    raise _NoJson(message)


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    message = f"has the key {key!r}, which is no text; JSON keys are texts"
    raise _NoJson(message)


def _child(value: object, part: str | int, depth: int) -> JsonValue:
    try:
        return _copy(value, depth - 1)
    except _NoJson as fault:
        fault.parts.append(part if isinstance(part, str) else f"[{part}]")
        raise


def mend(value: JsonValue) -> tuple[JsonValue, int, int]:
    """The value with NUL and lone surrogates replaced by U+FFFD, and numbers beyond range by null.

    Returns:
        The mended value, how many texts changed, how many numbers became null.
    """
    mender = _Mender()
    return mender.mend(value), mender.texts, mender.numbers


class _Mender:
    def __init__(self) -> None:
        self.texts = 0
        self.numbers = 0

    def mend(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._text(value)
        if _is_beyond(value):
            self.numbers += 1
            return None
        if isinstance(value, list):
            return [self.mend(item) for item in value]
        if isinstance(value, dict):
            return {self._text(key): self.mend(item) for key, item in value.items()}
        return value

    def _text(self, text: str) -> str:
        mended = clean_text(text)
        self.texts += mended is not text
        return mended


def _is_beyond(value: JsonValue) -> bool:
    """Whether a number cannot be written as JSON: infinite, none, or longer than Python prints."""
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and value.bit_length() > 14_000
