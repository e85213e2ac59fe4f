r"""What happens to a text before and after its macros are evaluated (new engine).

Before: old forms become macros (`<USER>`, `{{time_UTC+2}}`). After: a backslash before a brace goes
(`\{\{user\}\}` prints `{{user}}`), a literal `{{trim}}` takes the line breaks around it along, marks left by a
stray `{{else}}` go. The second half also touches text that came out of macros; so does SillyTavern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ELSE_MARK = "\x00\x1fELSE\x1f\x00"
"""What `{{else}}` becomes; control characters that no text holds."""

_TIME = re.compile(r"\{\{time_(UTC[+-][0-9]+)\}\}", re.IGNORECASE | re.ASCII)
TAG = re.compile(r"<(user|bot|char|group|charifnotgroup)>", re.IGNORECASE | re.ASCII)
_TAGS = {
    "user": "{{user}}",
    "bot": "{{char}}",
    "char": "{{char}}",
    "group": "{{group}}",
    "charifnotgroup": "{{charIfNotGroup}}",
}
ESCAPED = re.compile(r"\\([{}])")
_TRIM = re.compile(r"\{\{trim\}\}", re.IGNORECASE | re.ASCII)


def before(text: str) -> str:
    """Old forms as macros."""
    if "{{" in text:
        text = _TIME.sub(r"{{time::\1}}", text)
    if "<" in text:
        text = TAG.sub(lambda match: _TAGS[match.group(1).lower()], text)
    return text


def after(text: str) -> str:
    """Escapes, trims and stray marks resolved."""
    if "\\" in text:
        text = ESCAPED.sub(r"\1", text)
    if "{{" in text:
        text = remove_trims(text)
    return text.replace(ELSE_MARK, "") if ELSE_MARK in text else text


def find_trims(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Start and end of every `{{trim}}` together with the line breaks that touch it; linear."""
    at = 0
    for match in _TRIM.finditer(text):
        start, end = match.span()
        floor, at = at, _breaks_behind(text, end)
        yield _breaks_before(text, floor, start), at, ()


def remove_trims(text: str) -> str:
    """The text without `{{trim}}` and the line breaks that touch it."""
    kept: list[str] = []
    at = 0
    for start, end, _ in find_trims(text):
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]]) if at else text


def _breaks_before(text: str, floor: int, end: int) -> int:
    while end > floor and text[end - 1] == "\n":
        end -= 2 if end - 2 >= floor and text[end - 2] == "\r" else 1
    return end


def _breaks_behind(text: str, start: int) -> int:
    while True:
        if text.startswith("\n", start):
            start += 1
        elif text.startswith("\r\n", start):
            start += 2
        else:
            return start
