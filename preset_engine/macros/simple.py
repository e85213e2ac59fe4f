"""The quick way to parse a text in which every macro is simple: a name, and arguments without braces or colons.

Most texts of a preset are of this kind. Their tree is read off in one look; any other text is left to the
parser, and both give the same tree::

    {{char}} nods. {{setvar::mood::calm}}   simple
    {{ char }}  {{roll:1d6}}  {{{x}}}       not simple
"""

from __future__ import annotations

import re

from preset_engine.macros.js_numbers import strip
from preset_engine.macros.nodes import Argument, Call

_CALL = re.compile(r"\{\{([a-zA-Z][A-Za-z0-9_-]*)((?:::[^{}:]*)*)\}\}")


def simple_calls(text: str) -> tuple[Call, ...] | None:
    """The macros of a text, in order; None where one of them is not simple.

    Every pair of opening braces must begin a simple macro, so none can stand in another or stay open.
    """
    if "{{{" in text:
        return None
    calls = tuple(
        [
            Call(
                match.start(),
                match.end(),
                match[1],
                "",
                _arguments(match[2], match.start(2)) if match[2] else (),
            )
            for match in _CALL.finditer(text)
        ]
    )
    return calls if len(calls) == text.count("{{") else None


def _arguments(text: str, at: int) -> tuple[Argument, ...]:
    found: list[Argument] = []
    for part in text.split("::")[1:]:
        at += 2
        body = strip(part)
        start = at + part.index(body) if body else 0
        found.append(Argument(start, body, has_macros=False, nodes=() if body else None))
        at += len(part)
    return tuple(found)
