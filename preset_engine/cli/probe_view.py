"""What a probe shows, as plain values: messages, their pieces, the end of the stable prefix, what costs what.

The screen and the JSON are both made from these values, and the messages inside are those of the compiled turn,
so what is shown, what `--json` says and what is sent cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from preset_engine.assembler.plan import PlannedPiece, Stability, StablePrefix
from preset_engine.errors import Note
from preset_engine.messages import ChatMessage, JsonObject, Origin, OriginKind


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message that is sent, with its tokens and the pieces it is made of."""

    message: ChatMessage
    tokens: int
    pieces: tuple[PlannedPiece, ...]

    @property
    def is_history(self) -> bool:
        """Nothing but records of the history are in it; tool calls without a text count as one."""
        kinds = {piece.origin.kind for piece in self.pieces} - {OriginKind.JOINER}
        return kinds == {OriginKind.HISTORY} or (not kinds and bool(self.message.tool_calls))

    def to_json(self) -> JsonObject:
        """The message's tokens and pieces; the message itself stands in the request."""
        return {"tokens": self.tokens, "pieces": [piece.to_json() for piece in self.pieces]}


@dataclass(frozen=True, slots=True)
class Source:
    """One source of text over all messages: an entry, a hole, the history as a whole.

    Attributes:
        origin: where the text came from.
        tokens: tokens of its pieces.
        messages: numbers of the messages it went into, counted from 0.
        stability: the least stable of its pieces.
    """

    origin: Origin
    tokens: int
    messages: tuple[int, ...]
    stability: Stability

    def to_json(self) -> JsonObject:
        """All fields; the origin as kind, id, name and place."""
        return {
            "kind": self.origin.kind.value,
            "id": self.origin.id,
            "name": self.origin.name,
            "place": self.origin.place,
            "tokens": self.tokens,
            "messages": list(self.messages),
            "stability": self.stability.value,
        }


@dataclass(frozen=True, slots=True)
class ProbeView:
    """One probe.

    Attributes:
        preset: the preset's name.
        dialect: which rules assembled it.
        shaping: the mode of shaping, in words.
        counter: what counted the tokens.
        messages: what is sent.
        prefix: what stays the same next turn, and what ends it.
        body: the request body, as `--raw` prints it.
        notes: remarks of import and assembly.
        variables: what macros changed; shown, never stored.
        samples: the parts of the content that are built-in samples.
        silent: names of entries that take part and sent nothing.
    """

    preset: str
    dialect: str
    shaping: str
    counter: str
    messages: tuple[MessageView, ...]
    prefix: StablePrefix
    body: JsonObject
    notes: tuple[Note, ...] = ()
    variables: JsonObject = field(default_factory=dict)
    samples: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of all messages."""
        return sum(view.tokens for view in self.messages)

    def to_json(self) -> JsonObject:
        """Everything as one object; `messages` holds the very objects of the request."""
        return {
            "preset": self.preset,
            "dialect": self.dialect,
            "shaping": self.shaping,
            "messages": self.body["messages"],
            "plan": [view.to_json() for view in self.messages],
            "sources": [source.to_json() for source in sources(self.messages)],
            "tokens": self.tokens,
            "counter": self.counter,
            "stable_prefix": _prefix_json(self.prefix),
            "params": {key: value for key, value in self.body.items() if key != "messages"},
            "variables": self.variables,
            "notes": [dict(note.to_json()) for note in self.notes],
            "samples": list(self.samples),
            "silent_entries": list(self.silent),
        }


def _prefix_json(prefix: StablePrefix) -> JsonObject:
    return {
        "messages": prefix.messages,
        "characters": prefix.characters,
        "tokens": prefix.tokens,
        "breaker": prefix.breaker.to_json() if prefix.breaker else None,
    }


def title_of(origin: Origin) -> str:
    """What a person calls a source: its name, the place of a record, else its identifier."""
    if origin.name.strip():
        return origin.name.strip()
    if origin.kind is OriginKind.HISTORY and origin.place:
        return origin.place
    return f"tail[{origin.id}]" if origin.kind is OriginKind.TAIL else origin.id


_WHOLE_HISTORY = Origin(OriginKind.HISTORY, "chatHistory")
_ORDER = tuple(Stability)


def sources(messages: Iterable[MessageView]) -> list[Source]:
    """Tokens by source, the greatest first; records of the history count as one source."""
    found: dict[Origin, list[tuple[int, PlannedPiece]]] = {}
    for number, view in enumerate(messages):
        for piece in view.pieces:
            kind = piece.origin.kind
            if kind is not OriginKind.JOINER:
                origin = _WHOLE_HISTORY if kind is OriginKind.HISTORY else piece.origin
                found.setdefault(origin, []).append((number, piece))
    listed = [_source(origin, parts) for origin, parts in found.items()]
    return sorted(listed, key=lambda source: -source.tokens)


def _source(origin: Origin, parts: list[tuple[int, PlannedPiece]]) -> Source:
    return Source(
        origin,
        tokens=sum(piece.tokens for _, piece in parts),
        messages=tuple(dict.fromkeys(number for number, _ in parts)),
        stability=max((piece.stability for _, piece in parts), key=_ORDER.index),
    )
