"""The plan of a turn: what each message is made of, and where the stable prefix ends.

Nothing is worked out before it is asked for, and the history is a range of records, not one object a message.
Joining the texts of a message's pieces gives back its text, always. A piece is *stable* when the next turn of
the same chat sends it again at the same place; it *moves* when it stands at a depth or behind the history; it
is *volatile* when its own text can change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from preset_engine.assembler.change import cause_of
from preset_engine.assembler.rows import Row, rows_of
from preset_engine.assembler.shape import ShapedTurn
from preset_engine.messages import (
    ChatMessage,
    Draft,
    JsonObject,
    JsonValue,
    Origin,
    OriginKind,
    Piece,
)
from preset_engine.squash.runs import Span
from preset_engine.squash.zones import HistoryZone
from preset_engine.tokens import TokenCounter

# What lasts only if the piece behind it does.
_FOLLOWERS = frozenset({OriginKind.JOINER, OriginKind.PLACEHOLDER})
# Joiners belong to what they join; a session's summary leads the history and stays there.
_STEADY = frozenset({OriginKind.JOINER, OriginKind.SESSION})


class Stability(StrEnum):
    """How a piece behaves from turn to turn."""

    STABLE = "stable"
    MOVES = "moves"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class PlannedPiece:
    """A stretch of a message's text.

    Attributes:
        origin: where it came from.
        start: first character in the message's text.
        stop: one behind the last character.
        text: the characters.
        stability: how it behaves from turn to turn.
        since: why, and since when, it can change; empty for a stable piece.
        tokens: tokens of the text.
        digest: SHA-256 of the text's UTF-8 bytes, hexadecimal.
    """

    origin: Origin
    start: int
    stop: int
    text: str
    stability: Stability
    since: str
    tokens: int
    digest: str

    def to_json(self) -> JsonObject:
        """The piece without its text, as JSON."""
        origin = self.origin
        return {
            "kind": origin.kind.value,
            "id": origin.id,
            "name": origin.name,
            "place": origin.place,
            "start": self.start,
            "stop": self.stop,
            "stability": self.stability.value,
            "since": self.since,
            "tokens": self.tokens,
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """One message and its pieces."""

    number: int
    message: ChatMessage
    pieces: tuple[PlannedPiece, ...]


@dataclass(frozen=True, slots=True)
class HistoryRange:
    """Messages that are records of the history, sent as they are.

    Attributes:
        number: number of the first message.
        first_record: number of its record in the sequence of sent records.
        count: how many.
    """

    number: int
    first_record: int
    count: int


@dataclass(frozen=True, slots=True)
class StablePrefix:
    """Where the part ends that the next turn sends again unchanged.

    Attributes:
        messages: number of whole messages that stay as they are.
        characters: stable characters of the message behind them.
        tokens: tokens of the prefix, counted piece by piece.
        breaker: the piece that ends it; None when everything is stable.
    """

    messages: int
    characters: int
    tokens: int
    breaker: PlannedPiece | None


class Plan:
    """The plan of one compiled turn.

    Args:
        shaped: the shaped prompt.
        tokens: counts tokens.
        causes: raw texts of the origins whose macros can give another text next turn.
    """

    def __init__(
        self,
        shaped: ShapedTurn,
        tokens: TokenCounter,
        causes: Mapping[Origin, str] | None = None,
    ) -> None:
        self._shaped = shaped
        self._count = tokens.count
        self._causes = causes or {}
        self._rows: tuple[Row, ...] | None = None
        self._moving: frozenset[Origin] | None = None

    def __len__(self) -> int:
        return len(self._shaped.messages)

    def __iter__(self) -> Iterator[PlannedMessage]:
        return self.messages()

    @property
    def parts(self) -> Iterator[PlannedMessage | HistoryRange]:
        """The prompt in order; runs of history records as one range each."""
        number = 0
        for row in self._all_rows():
            if isinstance(row, Span):
                yield HistoryRange(number, row.start, row.stop - row.start)
                number += row.stop - row.start
            else:
                yield self._planned(number, row)
                number += 1

    def messages(self) -> Iterator[PlannedMessage]:
        """Every message, history records one by one."""
        for number, draft in enumerate(self._drafts()):
            yield self._planned(number, draft)

    def message(self, number: int) -> PlannedMessage:
        """One message.

        Raises:
            IndexError: there is no message of this number.
        """
        at = 0
        for row in self._all_rows():
            size = row.stop - row.start if isinstance(row, Span) else 1
            if at <= number < at + size:
                draft = self._zone.draft(row.start + number - at) if isinstance(row, Span) else row
                return self._planned(number, draft)
            at += size
        raise IndexError(number)

    @property
    def tokens(self) -> int:
        """Tokens of all message texts, each counted as a whole."""
        return sum(self.message_tokens())

    def message_tokens(self) -> list[int]:
        """Tokens of each message's text."""
        count = self._count
        return [
            count(text if isinstance(text := message.content, str) else message.text)
            for message in self._shaped.messages
        ]

    def message_digests(self) -> list[str]:
        """SHA-256 of each message's text."""
        return [
            digest_of(text if isinstance(text := message.content, str) else message.text)
            for message in self._shaped.messages
        ]

    def stable_prefix(self) -> StablePrefix:
        """Where the stable prefix ends, and what ends it.

        Its tokens are those of the whole messages and of the beginning of the next one, each counted as one text,
        so they fit `message_tokens`.
        """
        whole = tokens = pending = 0
        for number, draft in enumerate(self._drafts()):
            characters = position = 0
            text = draft.message.text
            for piece in draft.pieces:
                position += len(piece.text)
                if piece.origin.kind in _FOLLOWERS:
                    continue
                if self._stability(piece)[0] is not Stability.STABLE:
                    breaker = self._piece(piece, position - len(piece.text))
                    if not characters:
                        return self._prefix(whole, 0, tokens, breaker)
                    tokens += pending + self._count(text[:characters])
                    return self._prefix(number, characters, tokens, breaker)
                characters = position
            pending += self._count(text)
            if characters or not draft.pieces:
                whole, tokens, pending = number + 1, tokens + pending, 0
        return self._prefix(whole, 0, tokens, None)

    def _prefix(
        self, whole: int, characters: int, tokens: int, breaker: PlannedPiece | None
    ) -> StablePrefix:
        """The prefix; where neighbours join, the next turn may add text to the last whole message."""
        if not characters and whole and self._shaped.joins:
            return StablePrefix(
                whole - 1, len(self._shaped.messages[whole - 1].text), tokens, breaker
            )
        return StablePrefix(whole, characters, tokens, breaker)

    def to_json(self) -> list[JsonValue]:
        """Every message with its pieces, as JSON."""
        return [
            {
                "number": planned.number,
                "role": planned.message.role,
                "pieces": [piece.to_json() for piece in planned.pieces],
            }
            for planned in self.messages()
        ]

    @property
    def _zone(self) -> HistoryZone:
        return self._shaped.zones.history

    def _all_rows(self) -> tuple[Row, ...]:
        if self._rows is None:
            self._rows = tuple(rows_of(self._shaped))
        return self._rows

    def _drafts(self) -> Iterator[Draft]:
        for row in self._all_rows():
            if isinstance(row, Span):
                yield from map(self._zone.draft, range(row.start, row.stop))
            else:
                yield row

    def _planned(self, number: int, draft: Draft) -> PlannedMessage:
        pieces: list[PlannedPiece] = []
        start = 0
        for piece in draft.pieces:
            pieces.append(self._piece(piece, start))
            start += len(piece.text)
        return PlannedMessage(number, draft.message, tuple(pieces))

    def _piece(self, piece: Piece, start: int) -> PlannedPiece:
        stability, since = self._stability(piece)
        text = piece.text
        return PlannedPiece(
            piece.origin,
            start,
            start + len(text),
            text,
            stability,
            since,
            self._count(text),
            digest_of(text),
        )

    def _stability(self, piece: Piece) -> tuple[Stability, str]:
        origin = piece.origin
        raw = self._causes.get(origin)
        if piece.volatile or raw is not None:
            cause = cause_of(raw) if raw is not None else _usual_cause(origin)
            return Stability.VOLATILE, f"each turn: {cause}"
        if origin in self._moving_origins():
            return Stability.MOVES, "each turn: it stands at a depth in the history or behind it"
        return Stability.STABLE, ""

    def _moving_origins(self) -> frozenset[Origin]:
        if self._moving is None:
            zones = self._shaped.zones
            drafts = [*(one.draft for one in zones.history.injected), *zones.after, *zones.tail]
            self._moving = frozenset(
                piece.origin
                for draft in drafts
                for piece in draft.pieces
                if piece.origin.kind not in _STEADY
            )
        return self._moving


def digest_of(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, hexadecimal; lone surrogates are let through."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogatepass")
    return sha256(data).hexdigest()


def _usual_cause(origin: Origin) -> str:
    causes = {
        OriginKind.CONTROL: "it belongs to this generation only",
        OriginKind.LORE: "the entry wakes and sleeps with the chat",
        OriginKind.INJECTION: "a script or note may change it",
        OriginKind.HOLE: "the caller fills it anew",
        OriginKind.SESSION: "the session fills it anew",
    }
    return causes.get(origin.kind, "its macros")
