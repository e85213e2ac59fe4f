"""Finds the old engine's calls in a text, in time linear in its length.

The old engine is a row of text replacements. Written as regular expressions, several of them walk to the
end of the text from every opening they find. The finders here remember where the next brace, colon and line break is,
so a text of two hundred thousand characters costs one walk a step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

Found: TypeAlias = tuple[int, int, tuple[str, ...]]
Finder: TypeAlias = Callable[[str], Iterator[Found]]

_BREAK = re.compile("[\n\r\u2028\u2029]")


def prefix(pattern: str) -> re.Pattern[str]:
    """A compiled opening, matched without regard to ASCII case."""
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


class _Next:
    """Where something comes next; asked with rising places it walks the text once."""

    def __init__(self, find: Callable[[int], int], size: int) -> None:
        self._find = find
        self._size = size
        self._at = -1

    def __call__(self, place: int) -> int:
        if self._at < place:
            found = self._find(place)
            self._at = self._size if found < 0 else found
        return self._at


def _next(text: str, what: str) -> _Next:
    return _Next(lambda place: text.find(what, place), len(text))


def _next_break(text: str) -> _Next:
    def find(place: int) -> int:
        match = _BREAK.search(text, place)
        return -1 if match is None else match.start()

    return _Next(find, len(text))


def _walk(
    text: str, opening: re.Pattern[str], finish: Callable[[int], tuple[int, tuple[str, ...]] | None]
) -> Iterator[Found]:
    at = 0
    while (match := opening.search(text, at)) is not None:
        rest = finish(match.end())
        if rest is None:
            at = match.start() + 1
        else:
            at, groups = rest
            yield match.start(), at, groups


def exact(opening: re.Pattern[str]) -> Finder:
    """Calls without arguments; groups of the pattern are handed on."""

    def find(text: str) -> Iterator[Found]:
        for match in opening.finditer(text):
            yield match.start(), match.end(), tuple(str(group) for group in match.groups())

    return find


def up_to_brace(opening: re.Pattern[str], *, least: int = 1, extra_colon: bool = False) -> Finder:
    """An opening and everything up to the first `}`, which must be the first of two.

    Args:
        opening: the opening.
        least: characters there must be.
        extra_colon: a second colon belongs to the opening unless nothing would be left.
    """

    def find(text: str) -> Iterator[Found]:
        brace = _next(text, "}")

        def finish(start: int) -> tuple[int, tuple[str, ...]] | None:
            end = brace(start)
            if extra_colon and text.startswith(":", start) and end - start > 1:
                start += 1
            if end - start < least or not text.startswith("}}", end):
                return None
            return end + 2, (text[start:end],)

        return _walk(text, opening, finish)

    return find


def name_and_value(opening: re.Pattern[str], *, least: int) -> Finder:
    """An opening, a name up to the first colon, `::`, and a value up to the first `}` of two."""

    def find(text: str) -> Iterator[Found]:
        brace, colon = _next(text, "}"), _next(text, ":")

        def finish(start: int) -> tuple[int, tuple[str, ...]] | None:
            middle = colon(start)
            if middle == start or not text.startswith("::", middle):
                return None
            end = brace(middle + 2)
            if end - middle - 2 < least or not text.startswith("}}", end):
                return None
            return end + 2, (text[start:middle], text[middle + 2 : end])

        return _walk(text, opening, finish)

    return find


def up_to_close(opening: re.Pattern[str], *, least: int, in_line: bool) -> Finder:
    """An opening and at least `least` characters up to the next `}}`, on one line if so asked."""

    def find(text: str) -> Iterator[Found]:
        close, line_end = _next(text, "}}"), _next_break(text)

        def finish(start: int) -> tuple[int, tuple[str, ...]] | None:
            end = close(start + least)
            if end >= len(text) or (in_line and line_end(start) < end):
                return None
            return end + 2, (text[start:end],)

        return _walk(text, opening, finish)

    return find


def two_in_line(opening: re.Pattern[str]) -> Finder:
    """An opening, a text up to `::`, a text up to `}}`, all on one line."""

    def find(text: str) -> Iterator[Found]:
        pair, close, line_end = _next(text, "::"), _next(text, "}}"), _next_break(text)

        def finish(start: int) -> tuple[int, tuple[str, ...]] | None:
            middle = pair(start)
            if middle >= len(text):
                return None
            end = close(middle + 2)
            if end >= len(text) or line_end(start) < end:
                return None
            return end + 2, (text[start:middle], text[middle + 2 : end])

        return _walk(text, opening, finish)

    return find


def quoted_in_line(opening: re.Pattern[str]) -> Finder:
    """An opening and everything up to the last `"}}` of its line."""

    def find(text: str) -> Iterator[Found]:
        line_end = _next_break(text)

        def finish(start: int) -> tuple[int, tuple[str, ...]] | None:
            end = text.rfind('"}}', start, line_end(start))
            return None if end < 0 else (end + 3, (text[start:end],))

        return _walk(text, opening, finish)

    return find
