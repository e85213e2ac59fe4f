"""Text at the border to a model: what JSON may carry and UTF-8 may not.

JavaScript writes NUL and half surrogate pairs into JSON, and a provider may cut a pair in two between two
pieces of a stream. Halves that belong together are joined; what is left over becomes U+FFFD, and so does NUL
(design decision 19).
"""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    r"""The text with pairs joined, lone halves and NUL replaced; a clean text is given back itself.

    >>> clean_text("\ud83d\ude00 \ud83d")
    '😀 �'
    """
    if text.isascii():
        return text.replace("\x00", REPLACEMENT)
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", REPLACEMENT)


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
