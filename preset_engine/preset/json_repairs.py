"""The library json-repair, kept within a number of steps.

json-repair looks ahead from every quote it doubts; two hundred kilobytes of doubtful quotes keep it busy for
minutes. It reads its text one character at a time through indexing, so the text it gets counts the
readings and ends the work when there are too many.
"""

from __future__ import annotations

import json
from typing import SupportsIndex

from json_repair.json_parser import JSONParser

from preset_engine.errors import UnreadableInput
from preset_engine.messages import JsonValue

STEPS = 8_000_000
"""Characters the library may read: a few seconds of work."""


class _OutOfSteps(Exception):
    """The library has read more characters than it may."""


class _Meter:
    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps


class _MeteredText(str):
    """A text that counts how often it is read."""

    __slots__ = ("meter",)
    meter: _Meter

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        found = str.__getitem__(self, key)
        self.meter.left -= 1 + (len(found) >> 6)
        if self.meter.left < 0:
            raise _OutOfSteps
        return _metered(found, self.meter) if len(found) > 1 else found

    def __add__(self, other: str) -> str:
        return _metered(str.__add__(self, other), self.meter)


def _metered(text: str, meter: _Meter) -> _MeteredText:
    result = _MeteredText(text)
    result.meter = meter
    return result


def repair_with_library(text: str, steps: int = STEPS) -> JsonValue:
    """What json-repair makes of a damaged document; None when it finds none.

    Raises:
        UnreadableInput: the damage needs more work than a file is worth.
    """
    parser = JSONParser(_metered(text, _Meter(steps)), None, logging=False)
    try:
        found = parser.parse()
        value: JsonValue = json.loads(json.dumps(found, default=list))
    except _OutOfSteps:
        message = (
            "the file is damaged JSON in too many places to be repaired; ask for an undamaged copy"
        )
        raise UnreadableInput(message) from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        message = "the file is damaged JSON and cannot be repaired; ask for an undamaged copy"
        raise UnreadableInput(message) from error
    return _whole(value)


def _whole(value: JsonValue) -> JsonValue:
    """The document itself where the library wrapped it into a list of fragments."""
    if isinstance(value, list):
        documents = [item for item in value if isinstance(item, dict)]
        if documents and not all(isinstance(item, dict) and "identifier" in item for item in value):
            return max(documents, key=len)
    return value
