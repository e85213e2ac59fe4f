"""JSON values at the border: bounded depth, no foreign types, no text that storage cannot hold."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from preset_engine.errors import InputTooLarge, UnreadableInput
from preset_engine.messages import JsonObject, JsonValue

MAX_DEPTH = 100
"""Deepest nesting of a document; the deepest real preset has 12 levels."""

_BAD_CHARACTER = re.compile("[\0\ud800-\udfff]")


def check_depth(value: JsonValue, limit: int = MAX_DEPTH) -> None:
    """Raise `InputTooLarge` when lists and objects are nested deeper than the limit."""
    level: list[JsonValue] = [value]
    for _ in range(limit + 1):
        below: list[JsonValue] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(child for child in item.values() if isinstance(child, (dict, list)))
            elif isinstance(item, list):
                below.extend(child for child in item if isinstance(child, (dict, list)))
        if not below:
            return
        level = below
    message = (
        f"the document is nested deeper than {limit} levels; no preset is, so it is not read. "
        "Check where the file comes from"
    )
    raise InputTooLarge(message)


def copy_json(value: object, path: str = "$", depth: int = 0) -> JsonValue:
    """A deep copy of a value that a program handed in; raises `UnreadableInput` for what is no JSON."""
    if depth > MAX_DEPTH:
        message = f"the document is nested deeper than {MAX_DEPTH} levels at {path[:80]}…"
        raise InputTooLarge(message)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        copy: JsonObject = {}
        for key, item in value.items():
            if not isinstance(key, str):
                message = f"{path} has the key {key!r}, which is no text; JSON keys are texts"
                raise UnreadableInput(message)
            copy[key] = copy_json(item, f"{path}.{key}", depth + 1)
        return copy
    if isinstance(value, (list, tuple)):
        return [copy_json(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    message = f"{path} holds a value of type {type(value).__name__!r}, which is no JSON"
    raise UnreadableInput(message)


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
        if text.isascii() and "\0" not in text:
            return text
        mended, count = _BAD_CHARACTER.subn("\ufffd", text)
        self.texts += bool(count)
        return mended


def _is_beyond(value: JsonValue) -> bool:
    """Whether a number cannot be written as JSON: infinite, none, or longer than Python prints."""
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and value.bit_length() > 14_000
