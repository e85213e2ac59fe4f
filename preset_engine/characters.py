"""Characters that need a rule: JavaScript's white space, what UTF-8 or a database cannot take, what nobody can print.

JavaScript writes NUL and half surrogate pairs into JSON. Halves that belong together are joined; what is left over
becomes U+FFFD, and so does NUL (design decision 19).
"""

from __future__ import annotations

import re

JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's `trim` takes away and `\\s` matches; Python's own list differs at both ends."""

REPLACEMENT = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""The text with pairs joined, lone halves and NUL replaced; a clean text is given back itself.

    >>> clean_text("\ud83d\ude00 \ud83d")
    '😀 �'
    """
    return join_surrogates(text).replace("\x00", REPLACEMENT)


def join_surrogates(text: str) -> str:
    """The text with pairs joined and lone halves replaced; a text without them is given back itself."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def printable(text: str) -> str:
    """The text on one line, with U+FFFD for control characters, direction marks and all else without a shape."""
    return (
        text if text.isprintable() else "".join(c if c.isprintable() else REPLACEMENT for c in text)
    )
