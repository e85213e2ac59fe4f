"""Counts the macros of a text without evaluating it, for the importer's report.

Names are what stands behind `{{` up to a colon, white space or the closing braces; authors also write blanks
for the model that way (`{{title here}}`), and those count as names that no engine knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from preset_engine.macros.engine import Engine
from preset_engine.macros.registry import default_registry

_LONGEST = 80
_NAME = re.compile(
    r"\{\{[\s!?~>#]*(?:(?P<comment>//)|(?P<closing>/)?\s*(?P<variable>[.$])?\s*"
    rf"(?P<name>[^\s{{}}:/|.$][^{{}}:|\n]{{0,{_LONGEST}}}))"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
BLANK = re.compile(
    rf"\{{\{{\s*([^\s{{}}:|][^{{}}:|\n]{{0,{_LONGEST}}})(?:::?[^{{}}\n]{{0,400}})?\}}\}}"
)
"""A closed pair of braces around something that need not be a macro's name."""


def count_macros(text: str) -> Iterator[tuple[str, int]]:
    """Every macro-like opening as name and offset, in order; nested ones too.

    A comment is `//`; a variable shorthand is `.` or `$`; closing tags of blocks do not count. Names that are no
    single word are given whole (`title here`).
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
    if match["variable"]:
        return str(match["variable"])
    name = match["name"].rstrip()
    word = _WORD.match(name)
    if word is None:
        return name
    is_word = word.end() == len(name)
    return name if is_word or not is_known(word.group()) else word.group()


def is_known(name: str, engine: Engine | None = None) -> bool:
    """Whether an engine has a macro of this name (any engine, unless one is given).

    Macros that only a third-party extension could answer are not known; `owner_of` names the extension.
    """
    if name in {".", "$"}:
        return engine in {None, Engine.new}
    macro = default_registry().find(name, engine)
    return macro is not None and macro.handler is not None


def owner_of(name: str) -> str:
    """The extension that supplies a macro this engine keeps as text; empty for all others."""
    macro = default_registry().find(name)
    return macro.owner if macro is not None else ""
