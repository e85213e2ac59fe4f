r"""The content of a message as chunks, so that texts can be joined while media stay whole.

A chunk is a text or a content part that is no text. Joining two contents joins the texts that meet by a
blank line and leaves every other part where it is::

    "look", [image]   ->   [text "look", image]
    [image], "and"    ->   [image, text "and"]
    "a", "b"          ->   "a\n\nb"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from preset_engine.messages import ChatMessage, JsonObject, Origin, OriginKind, Parts, Piece

Chunk: TypeAlias = "str | JsonObject"
BLANK_LINE = "\n\n"
MEDIA_TYPES = frozenset({"image_url", "video_url", "audio_url"})


def chunks_of(message: ChatMessage, *, keep_unknown: bool = True) -> tuple[Chunk, ...]:
    """The chunks of a message; at least one.

    Args:
        message: any message.
        keep_unknown: keep parts of unknown types whole. SillyTavern's post-processing turns them into
            empty texts.
    """
    content = message.content
    if isinstance(content, str):
        return (content,)
    if not content:
        return ("",)
    return tuple(_chunk(part, keep_unknown) for part in content)


def _chunk(part: JsonObject, keep_unknown: bool) -> Chunk:
    kind = part.get("type")
    if kind == "text":
        text = part.get("text")
        return text if isinstance(text, str) else ""
    is_media = isinstance(kind, str) and kind in MEDIA_TYPES
    return part if keep_unknown or is_media else ""


def is_empty(chunks: Sequence[Chunk]) -> bool:
    """Nothing but one empty text."""
    return len(chunks) == 1 and chunks[0] == ""


def content_from(chunks: Iterable[Chunk]) -> str | Parts:
    """The content that these chunks make: one text, or parts as soon as there is a part among them."""
    joined = _join_texts(chunks)
    if len(joined) == 1 and isinstance(joined[0], str):
        return joined[0]
    return tuple(
        {"type": "text", "text": chunk} if isinstance(chunk, str) else chunk for chunk in joined
    )


def _join_texts(chunks: Iterable[Chunk]) -> list[Chunk]:
    joined: list[Chunk] = []
    run: list[str] = []
    for chunk in chunks:
        if isinstance(chunk, str):
            run.append(chunk)
            continue
        if run:
            joined.append(BLANK_LINE.join(run))
            run = []
        joined.append(chunk)
    if run:
        joined.append(BLANK_LINE.join(run))
    return joined


def joiner(text: str) -> Piece:
    """A piece of text that stands between joined texts, or a prefix in front of one."""
    return Piece(Origin(OriginKind.JOINER, "join"), text)


def pieces_of_chunks(
    chunks: Sequence[Chunk], pieces: Sequence[Piece]
) -> list[tuple[Chunk, tuple[Piece, ...]]]:
    """Give each text chunk its own pieces; a media chunk has none.

    A draft's pieces run over its text chunks in order (a newline between two of them may be a piece of
    its own). Pieces are cut where a chunk ends, so the texts always match.
    """
    rest = [piece for piece in pieces if piece.text]
    paired: list[tuple[Chunk, tuple[Piece, ...]]] = []
    has_text = False
    for chunk in chunks:
        if not isinstance(chunk, str):
            paired.append((chunk, ()))
            continue
        if has_text and rest and _is_newline(rest[0]):
            rest.pop(0)
        has_text = True
        paired.append((chunk, _take(rest, chunk)))
    return paired


def _is_newline(piece: Piece) -> bool:
    return piece.text == "\n" and piece.origin.kind is OriginKind.JOINER


def _take(rest: list[Piece], text: str) -> tuple[Piece, ...]:
    """Take pieces off the front until they hold as many characters as the text."""
    taken: list[Piece] = []
    missing = len(text)
    while missing > 0 and rest:
        piece = rest.pop(0)
        if len(piece.text) > missing:
            rest.insert(0, Piece(piece.origin, piece.text[missing:], piece.volatile))
            piece = Piece(piece.origin, piece.text[:missing], piece.volatile)
        taken.append(piece)
        missing -= len(piece.text)
    return tuple(taken)


def join_pieces(paired: Iterable[tuple[Chunk, tuple[Piece, ...]]]) -> tuple[Piece, ...]:
    """The pieces of joined chunks: a blank line where texts meet, one newline across a media part.

    Joined, they equal `ChatMessage.text` of the message that `content_from` makes.
    """
    found: list[Piece] = []
    after_text = has_text = False
    for chunk, pieces in paired:
        if not isinstance(chunk, str):
            after_text = False
            continue
        if has_text:
            found.append(joiner(BLANK_LINE if after_text else "\n"))
        found.extend(pieces)
        after_text = has_text = True
    return tuple(found)


def plain_pieces(
    message: ChatMessage, origin: Origin, *, volatile: bool = False
) -> tuple[Piece, ...]:
    """The pieces of an untouched message: one for its text, or one for each text part."""
    content = message.content
    if isinstance(content, str):
        return (Piece(origin, content, volatile),) if content else ()
    texts = [part["text"] for part in content or () if isinstance(part.get("text"), str)]
    found: list[Piece] = []
    for number, text in enumerate(texts):
        if number:
            found.append(joiner("\n"))
        if text:
            found.append(Piece(origin, str(text), volatile))
    return tuple(found)
