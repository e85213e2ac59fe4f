"""Notes on macros that are written oddly: what the engine does with them differs from what one expects.

A light look by patterns, for the import report; the linter parses the macros and says more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from preset_engine.preset.notebook import Notebook, shown

_NO_VALUE = re.compile(r"\{\{\s*(?:set|add)(?:global)?var\s*(?:::[^:{}]*)?\}\}", re.IGNORECASE)
_NO_NAME = re.compile(
    r"\{\{\s*(?:set|get|add|inc|dec|has|delete)(?:global)?var\s*::\s*(?:::|\}\})", re.IGNORECASE
)
_NO_OPTIONS = re.compile(r"\{\{\s*(?:random|pick)[:\s]*\}\}", re.IGNORECASE)
_BLOCK_OPEN = re.compile(r"\{\{\s*#?if(?=[\s:])", re.IGNORECASE)
_BLOCK_CLOSE = re.compile(r"\{\{\s*/\s*if\s*\}\}", re.IGNORECASE)
_ELSE = re.compile(r"\{\{\s*else\s*\}\}", re.IGNORECASE)
_BLOCK_WORDS = ("if", "If", "IF", "else", "Else", "ELSE")
_FLAGGED = re.compile(r"\{\{\s*[#!?>~]\s*\w")
_ESCAPED = re.compile(r"\\\{\\?\{|\\\}\\?\}")
_WIDE_COLON = re.compile(r"\{\{\s*\w{1,40}\s*\uff1a")
_VARIABLE = re.compile(
    r"\{\{\s*(set|get|add|inc|dec)(global)?var\s*::?([^:{}]*?)(?=::|\}\}|:)", re.IGNORECASE
)
_CHECKS: tuple[tuple[str, Callable[[str], object], str], ...] = (
    (
        "macro-arguments",
        _NO_VALUE.search,
        "a variable is set without a value, so the macro does nothing",
    ),
    ("macro-arguments", _NO_NAME.search, "a variable has no name"),
    ("macro-arguments", _NO_OPTIONS.search, "a choice has no options, so it is empty"),
    ("macro-flags", _FLAGGED.search, "a flag character stands before a macro's name"),
    ("macro-escaped", _ESCAPED.search, "braces are escaped with backslashes and stay as text"),
    (
        "macro-wide-colon",
        lambda text: "\uff1a" in text and _WIDE_COLON.search(text),
        "a macro is written with a full-width colon and stays as text",
    ),
)


def review_macros(texts: Iterable[tuple[str, str]], notes: Notebook) -> None:
    """Notes on single texts: arguments, blocks, flags, escapes, macros in comments."""
    for place, text in texts:
        if "{{" not in text and "\\{" not in text:
            continue
        for code, finds, message in _CHECKS:
            if finds(text):
                notes.add(code, message, place)
        _review_blocks(text, place, notes)
        _review_comments(text, place, notes)


def _review_blocks(text: str, place: str, notes: Notebook) -> None:
    if not any(word in text for word in _BLOCK_WORDS):
        return
    opened = len(_BLOCK_OPEN.findall(text))
    closed = len(_BLOCK_CLOSE.findall(text))
    if opened != closed or (not opened and _ELSE.search(text)):
        notes.add(
            "macro-block",
            "an if block does not pair with its end; what does not pair stays as text",
            place,
        )


def _review_comments(text: str, place: str, notes: Notebook) -> None:
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start)
        end = len(text) if end < 0 else end
        if "{{" in text[start:end]:
            notes.add("macro-in-comment", "macros in HTML comments run all the same", place)
            return
        start = text.find("<!--", end)


def review_variables(enabled: Iterable[tuple[str, str]], notes: Notebook) -> None:
    """Notes on variables across the enabled texts, in their order; each variable counts once."""
    is_set: set[str] = set()
    reads: dict[str, str] = {}
    early: dict[str, str] = {}
    names: dict[str, str] = {}
    for place, text in enabled:
        if "{{" not in text:
            continue
        for verb, scope, raw in _VARIABLE.findall(text):
            name = f"{scope.lower()}{raw.strip()}"
            names.setdefault(raw, place)
            if verb.lower() != "get":
                is_set.add(name)
            elif name not in is_set:
                early.setdefault(name, place)
                reads.setdefault(name, place)
    unset = [name for name in reads if name not in is_set]
    _note(notes, "variable-not-set", "variables are read that no enabled entry sets", unset, reads)
    late = [name for name in early if name in is_set]
    _note(notes, "variable-read-early", "variables are read before an entry sets them", late, early)
    _review_names(names, notes)


def _note(notes: Notebook, code: str, what: str, names: list[str], places: dict[str, str]) -> None:
    if names:
        listed = ", ".join(shown(name.removeprefix("global"), 20) for name in names[:3])
        notes.add(
            code,
            f"{what} ({listed}); they are empty there unless the chat holds them",
            places[names[0]],
            len(names),
        )


def _review_names(names: dict[str, str], notes: Notebook) -> None:
    spaced = [name for name in names if name != name.strip() or " " in name.strip()]
    if spaced:
        notes.add(
            "variable-name-odd",
            f"variable names hold spaces ({shown(spaced[0])})",
            names[spaced[0]],
            len(spaced),
        )
    folded: dict[str, str] = {}
    for name, place in names.items():
        twin = folded.setdefault(name.strip().casefold(), name.strip())
        if twin != name.strip():
            notes.add(
                "variable-name-odd",
                f"{shown(twin)} and {shown(name.strip())} are two variables",
                place,
            )
