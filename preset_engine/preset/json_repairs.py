"""The library json-repair, kept within a number of steps.

json-repair looks ahead from every quote it doubts; two hundred kilobytes of doubtful quotes keep it busy for
minutes. It reads its text one character at a time through indexing, so the text it gets counts the
readings and ends the work when there are too many.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import SupportsIndex

from json_repair.json_parser import JSONParser

from preset_engine.errors import UnreadableInput
from preset_engine.messages import JsonValue

STEPS_PER_CHARACTER = 10
"""Readings of each character that the library may make; a damaged real file needs six."""

MOST_STEPS = 5_000_000
"""Readings in all, some three seconds of work."""


class _OutOfSteps(Exception):
    """The library has read more characters than it may."""


class _MeteredText(str):
    """A text that counts how often it is read; what is cut out of it or joined to it counts on."""

    __slots__ = ("steps",)
    steps: Iterator[int]

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        for _ in self.steps:
            found = _read(self, key)
            if isinstance(key, int):
                return found
            for _ in islice(self.steps, len(found) >> 4):  # what is cut out is copied
                pass
            return _metered(found, self.steps)
        raise _OutOfSteps

    def __add__(self, other: str) -> str:
        return _metered(str.__add__(self, other), self.steps)


_read = str.__getitem__


def _metered(text: str, steps: Iterator[int]) -> _MeteredText:
    result = _MeteredText(text)
    result.steps = steps
    return result


def repair_with_library(text: str) -> JsonValue:
    """What json-repair makes of a damaged document; None when it finds none.

    Raises:
        UnreadableInput: the damage needs more work than a file is worth.
    """
    steps = _allowance(text)
    if steps <= 0:
        raise UnreadableInput(_TOO_MANY)
    parser = JSONParser(_metered(text, iter(range(steps))), None, logging=False)
    try:
        found = parser.parse()
        value: JsonValue = json.loads(json.dumps(found, default=list))
    except _OutOfSteps:
        raise UnreadableInput(_TOO_MANY) from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        message = "the file is damaged JSON and cannot be repaired; ask for an undamaged copy"
        raise UnreadableInput(message) from error
    return _whole(value)


_TOO_MANY = "the file is damaged JSON in too many places to be repaired; ask for an undamaged copy"


def _allowance(text: str) -> int:
    """How many readings the library gets; escapes and odd quotes cost it much beside its readings."""
    costly = 25 * text.count("\\") + 25 * sum(text.count(quote) for quote in "'\u201c\u201d`")
    return min(100_000 + STEPS_PER_CHARACTER * len(text), MOST_STEPS) - costly


def _whole(value: JsonValue) -> JsonValue:
    """The document itself where the library wrapped it into a list of fragments."""
    if isinstance(value, list):
        documents = [item for item in value if isinstance(item, dict)]
        if documents and not all(isinstance(item, dict) and "identifier" in item for item in value):
            return max(documents, key=len)
    return value
