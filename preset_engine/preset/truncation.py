r"""Closes a document that ends too early.

The text is cut behind the last value that is surely whole, and the brackets that are open there are closed::

    {"prompts": [{"identifier": "a", "content": "Hel      ->   {"prompts": [{"identifier": "a"}]}
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|"|[\[\]{},]', re.DOTALL)
_CLOSER = {"{": "}", "[": "]"}


def close_early_end(text: str) -> str | None:
    """The text cut and closed; None where the brackets do not speak of an early end."""
    open_brackets: list[str] = []
    cut = 0
    for found in _TOKEN.finditer(text):
        token = found.group()
        if token in _CLOSER:
            open_brackets.append(token)
            cut = found.end()
        elif token in ("}", "]"):
            if not open_brackets or _CLOSER[open_brackets.pop()] != token:
                return None
            cut = found.end()
        elif token == ",":
            cut = found.start()
        elif token == '"':
            break
        else:
            continue
        if not open_brackets:
            return None
    closers = "".join(_CLOSER[bracket] for bracket in reversed(open_brackets))
    return text[:cut] + closers if open_brackets else None
