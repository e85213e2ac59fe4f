"""A prompt in three zones: what stands before the history, the history, what stands after it.

The history zone shares the records it was given: a range of one tuple, never a list of its own. Texts that
enter it (depth entries, a summary) are drafts with a position; position `p` means before record `p`, and
`len(records)` means behind the last one::

    HistoryZone(records=(u1, a1, u2), injected=(Injected(1, note),))   ->   u1  note  a1  u2

Nothing ever joins across the borders of a zone (design decision 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from preset_engine.messages import ChatMessage, Draft, Origin, OriginKind, Piece
from preset_engine.squash.parts import chunks_of, join_pieces, pieces_of_chunks, plain_pieces
from preset_engine.squash.runs import Joined, Segment, Span, join_segments


@dataclass(frozen=True, slots=True)
class Injected:
    """A draft inside the history.

    Attributes:
        position: number of the record it stands before, counted in the whole tuple of records.
        draft: the message with its pieces.
    """

    position: int
    draft: Draft


@dataclass(frozen=True, slots=True)
class HistoryZone:
    """The history hole: a range of shared records and the drafts that stand between them.

    Attributes:
        records: the whole history, oldest first; shared with the caller, never copied.
        start: the first record that is sent (the window); earlier ones stay out.
        injected: drafts with positions, ascending; equal positions stand in the given order.
        is_joined: neighbours of one role are sent as one message; set by `shape_zones`.
        pieces_of: pieces of a record by its number; without it a record is one stable piece.
    """

    records: tuple[ChatMessage, ...] = ()
    start: int = 0
    injected: tuple[Injected, ...] = ()
    is_joined: bool = False
    pieces_of: Callable[[int], tuple[Piece, ...]] | None = None

    @property
    def is_empty(self) -> bool:
        """No record and no draft is sent."""
        return self.start >= len(self.records) and not self.injected

    def segments(self) -> Iterator[Segment]:
        """The zone in order: ranges of records sent as they are, drafts between them, joined messages."""
        if self.is_joined:
            return join_segments(self._unjoined(), self.records)
        return self._unjoined()

    def messages(self) -> list[ChatMessage]:
        """What is sent; the records themselves wherever nothing was joined."""
        found: list[ChatMessage] = []
        for segment in self.segments():
            if isinstance(segment, Span):
                found.extend(self.records[segment.start : segment.stop])
            else:
                found.append(segment.message)
        return found

    def drafts(self) -> Iterator[Draft]:
        """Every message with its pieces, one draft at a time."""
        for segment in self.segments():
            match segment:
                case Span():
                    yield from map(self.draft, range(segment.start, segment.stop))
                case Joined():
                    yield self.joined_draft(segment)
                case Draft():
                    yield segment

    def draft(self, number: int) -> Draft:
        """The record of this number as a draft."""
        message = self.records[number]
        if self.pieces_of is not None:
            return Draft(message, self.pieces_of(number))
        return Draft(message, plain_pieces(message, record_origin(number)))

    def joined_draft(self, joined: Joined) -> Draft:
        """A joined message with the pieces of all its sources."""
        members: list[Draft] = []
        for source in joined.sources:
            if isinstance(source, Span):
                members += map(self.draft, range(source.start, source.stop))
            else:
                members.append(source)
        paired = [
            pair
            for member in members
            for pair in pieces_of_chunks(chunks_of(member.message), member.pieces)
        ]
        return Draft(joined.message, join_pieces(paired))

    def _unjoined(self) -> Iterator[Span | Draft]:
        at = self.start
        for injected in self.injected:
            position = min(max(injected.position, self.start), len(self.records))
            if position > at:
                yield Span(at, position)
                at = position
            yield injected.draft
        if at < len(self.records):
            yield Span(at, len(self.records))


@dataclass(frozen=True, slots=True)
class Zones:
    """The three zones of one prompt, and the running tool loop behind them.

    Attributes:
        before: drafts ahead of the history.
        history: the history hole.
        after: drafts behind it.
        tail: a tool loop that follows the frame unchanged; no mode shapes it.
    """

    before: tuple[Draft, ...] = ()
    history: HistoryZone = field(default_factory=HistoryZone)
    after: tuple[Draft, ...] = ()
    tail: tuple[Draft, ...] = ()

    def messages(self) -> list[ChatMessage]:
        """What is sent, in order."""
        found = [draft.message for draft in self.before]
        found += self.history.messages()
        found += [draft.message for draft in self.after]
        found += [draft.message for draft in self.tail]
        return found

    def drafts(self) -> Iterator[Draft]:
        """Every message with its pieces, in order."""
        yield from self.before
        yield from self.history.drafts()
        yield from self.after
        yield from self.tail


def record_origin(number: int) -> Origin:
    """The origin of a history record: its number, and its place in the input."""
    return Origin(OriginKind.HISTORY, str(number), place=f"history[{number}]")
