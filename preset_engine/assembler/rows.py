"""The rows of a shaped prompt: drafts, and runs of history records as one span each.

A shaping tells which messages it kept, as ranges, and which it made; following it over spans costs as much as
there are parts, however long the history is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, overload

from preset_engine.assembler.shape import ShapedTurn
from preset_engine.messages import Draft
from preset_engine.squash.runs import Span
from preset_engine.squash.shaped import Kept, Shaped
from preset_engine.squash.zones import HistoryZone, Zones

Row: TypeAlias = "Span | Draft"


def rows_of(shaped: ShapedTurn) -> list[Row]:
    """The rows of what is sent, in order."""
    zone = shaped.zones.history
    rows = _zone_rows(shaped.zones)
    for step in shaped.shapings:
        rows = _follow(rows, step, zone)
    return rows


def _zone_rows(zones: Zones) -> list[Row]:
    zone = zones.history
    middle: Iterator[Row] = (
        segment if isinstance(segment, Span | Draft) else zone.joined_draft(segment)
        for segment in zone.segments()
    )
    return [*zones.before, *middle, *zones.after, *zones.tail]


def _follow(rows: list[Row], shaped: Shaped, zone: HistoryZone) -> list[Row]:
    source = _Drafts(rows, zone)
    found: list[Row] = []
    for part in shaped.parts:
        if isinstance(part, Kept):
            found.extend(source.rows(part.start, part.stop))
        else:
            found.extend(Shaped(shaped.source, (part,)).drafts(source))
    return found


class _Drafts(Sequence[Draft]):
    """The drafts of rows by number, made when asked for."""

    def __init__(self, rows: list[Row], zone: HistoryZone) -> None:
        self._zone = zone
        self._starts: list[tuple[int, int, Row]] = []
        at = 0
        for row in rows:
            size = row.stop - row.start if isinstance(row, Span) else 1
            self._starts.append((at, at + size, row))
            at += size
        self._length = at
        self._next = 0  # parts come in order, so the search goes on where it stopped

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Draft: ...
    @overload
    def __getitem__(self, index: slice) -> list[Draft]: ...
    def __getitem__(self, index: int | slice) -> Draft | list[Draft]:
        if isinstance(index, int):
            return self[index : index + 1][0]
        start, stop, _ = index.indices(self._length)
        found: list[Draft] = []
        for row in self.rows(start, stop):
            if isinstance(row, Span):
                found.extend(map(self._zone.draft, range(row.start, row.stop)))
            else:
                found.append(row)
        return found

    def rows(self, start: int, stop: int) -> list[Row]:
        """The rows of a range of numbers; spans are cut at its ends."""
        if self._next and self._starts[self._next][0] > start:
            self._next = 0
        found: list[Row] = []
        place = self._next
        while place < len(self._starts) and self._starts[place][0] < stop:
            first, last, row = self._starts[place]
            if last > start:
                found.append(_cut(row, first, start, stop))
                self._next = place
            place += 1
        return found


def _cut(row: Row, first: int, start: int, stop: int) -> Row:
    if not isinstance(row, Span):
        return row
    begin = row.start + max(0, start - first)
    return Span(begin, min(row.stop, row.start + stop - first))
