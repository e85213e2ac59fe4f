r"""What a shaping did to a list of messages: which it kept, which it made anew, and out of what.

The messages come at once, the pieces when they are asked for. Kept messages are ranges of the input, so a
shaped chat of ten thousand messages is a few parts and the same message objects::

    [s1, s2, u1, a1]  --squash_system-->  Made(0, 2, "s1\ns2"), Kept(2, 4)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from preset_engine.messages import ChatMessage, Draft, Origin, OriginKind, Piece
from preset_engine.squash.parts import (
    Chunk,
    chunks_of,
    join_pieces,
    joiner,
    pieces_of_chunks,
)

PLACEHOLDER = "[Start a new chat]"


@dataclass(frozen=True, slots=True)
class Kept:
    """Messages of the input that are sent unchanged: `[start, stop)`."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Made:
    """A message made of the input's messages `[start, stop)`; a placeholder is made of none.

    Attributes:
        message: what is sent.
        start: the first source.
        stop: one behind the last source.
        prefixes: what was put in front of each source's text; empty when nothing was.
        newline: texts were joined by this; content parts join by a blank line.
    """

    message: ChatMessage
    start: int
    stop: int
    prefixes: tuple[str, ...] = ()
    newline: str = "\n\n"


Part: TypeAlias = "Kept | Made"


@dataclass(frozen=True, slots=True)
class Shaped:
    """The result of a shaping over a list of messages.

    Attributes:
        source: the messages that went in.
        parts: what came out, in order.
    """

    source: Sequence[ChatMessage]
    parts: tuple[Part, ...]

    def messages(self) -> list[ChatMessage]:
        """What is sent; unchanged messages are the same objects as before."""
        found: list[ChatMessage] = []
        for part in self.parts:
            if isinstance(part, Kept):
                found.extend(self.source[part.start : part.stop])
            else:
                found.append(part.message)
        return found

    def followed_by(self, tail: Sequence[ChatMessage]) -> Shaped:
        """The same shaping of a longer list, whose further messages stay as they are."""
        if not tail:
            return self
        length = len(self.source)
        return Shaped((*self.source, *tail), (*self.parts, Kept(length, length + len(tail))))

    def drafts(self, sources: Sequence[Draft]) -> Iterator[Draft]:
        """The messages with their pieces.

        Args:
            sources: the drafts of the messages that went in, one for each.
        """
        for part in self.parts:
            if isinstance(part, Kept):
                yield from sources[part.start : part.stop]
            else:
                yield _draft(part, sources[part.start : part.stop])


def placeholder_message(text: str) -> ChatMessage:
    """The user message that a mode puts in where a provider would refuse the list."""
    return ChatMessage("user", text)


def placeholder_pieces(text: str) -> tuple[Piece, ...]:
    """The pieces of a placeholder: it has an origin of its own."""
    return (Piece(Origin(OriginKind.PLACEHOLDER, "placeholder"), text),)


def _draft(made: Made, sources: Sequence[Draft]) -> Draft:
    if not sources:
        return Draft(made.message, placeholder_pieces(made.message.text))
    if made.newline != "\n\n":
        return Draft(made.message, _joined_texts(sources, made.newline))
    paired: list[tuple[Chunk, tuple[Piece, ...]]] = []
    for number, source in enumerate(sources):
        chunks = chunks_of(source.message, keep_unknown=False)
        own = pieces_of_chunks(chunks, source.pieces)
        prefix = made.prefixes[number] if made.prefixes else ""
        paired += _prefixed(own, prefix)
    return Draft(made.message, join_pieces(paired))


def _prefixed(
    own: list[tuple[Chunk, tuple[Piece, ...]]], prefix: str
) -> list[tuple[Chunk, tuple[Piece, ...]]]:
    if not prefix:
        return own
    first, pieces = own[0]
    if isinstance(first, str):
        return [(prefix + first, (joiner(prefix), *pieces)), *own[1:]]
    return [(prefix, (joiner(prefix),)), *own]


def _joined_texts(sources: Sequence[Draft], newline: str) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for source in sources:
        if not source.message.content:
            continue
        if found:
            found.append(joiner(newline))
        found.extend(source.pieces)
    return tuple(found)
