"""Finds the macros that a text mentions, without evaluating any.

A mention is `{{` and a name up to a colon, white space or the closing braces. Authors also write blanks for the
model that way (`{{title here}}`), and those are mentions of a name that no engine knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from preset_engine.macros.engine import Engine
from preset_engine.macros.registry import default_registry

_LONGEST = 80
_NAME = re.compile(
    r"\{\{[\s!?~>#]*(?:(?P<comment>//)|(?P<closing>/)?\s*(?P<store>[.$])?\s*"
    rf"(?P<name>[^\s{{}}:/|.$][^{{}}:|\n]{{0,{_LONGEST}}}))"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_VARIABLE = re.compile(r"[^\s=+?|!<>-]*")
BLANK = re.compile(
    rf"\{{\{{\s*([^\s{{}}:|][^{{}}:|\n]{{0,{_LONGEST}}})(?:::?[^{{}}\n]{{0,400}})?\}}\}}"
)
"""A closed pair of braces around something that need not be a macro's name."""


def find_mentions(text: str) -> Iterator[tuple[str, int]]:
    """Every macro-like opening as name and offset, in order; nested ones too.

    A comment is `//`, a variable shorthand its sign and name (`.mood`); closing tags of blocks do not count. Where
    an engine knows the first word, that is the name, since engines drop what follows; other names are given
    whole (`title here`).
    """
    at = 0
    while (at := text.find("{{", at)) >= 0:
        match = _NAME.match(text, at)
        if match is not None and not match["closing"]:
            yield _label(match), at
        at += 2


def _label(match: re.Match[str]) -> str:
    if match["comment"]:
        return "//"
    name = match["name"].rstrip()
    if match["store"]:
        variable = _VARIABLE.match(name)
        return f"{match['store']}{variable.group() if variable else ''}"
    word = _WORD.match(name)
    return word.group() if word is not None and is_known(word.group()) else name


def is_known(name: str, engine: Engine | None = None) -> bool:
    """Whether an engine has a macro of this name, in any case (any engine, unless one is given).

    Variable shorthands (`.mood`, `$mood`) are known to the new engine. Macros that only a third-party extension
    could answer stay as text and are not known.
    """
    if name.startswith((".", "$")):
        return engine in {None, Engine.new}
    macro = default_registry().find(name, engine)
    return macro is not None and macro.handler is not None
