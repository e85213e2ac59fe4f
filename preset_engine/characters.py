"""Characters that JSON may carry and UTF-8 or a database may not: NUL and half surrogate pairs.

JavaScript writes both into JSON. Halves that belong together are joined; what is left over becomes U+FFFD, and so
does NUL (design decision 19).
"""

from __future__ import annotations

import re

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
