"""Text that comes in pieces: a provider may cut a surrogate pair in two between two pieces of a stream."""

from __future__ import annotations

from preset_engine.characters import clean_text


class TextPieces:
    """Cleans text that comes in pieces; a first half waits for the piece behind it."""

    def __init__(self) -> None:
        self._half = ""

    def add(self, piece: str) -> str:
        """The next piece, clean; may be empty."""
        text = self._half + piece
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return clean_text(text)

    def end(self) -> str:
        """What still waited."""
        half, self._half = self._half, ""
        return clean_text(half)
