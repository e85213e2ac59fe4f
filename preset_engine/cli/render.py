"""Text on a terminal: role colours, clipping, and nothing that could steer the terminal.

Presets, cards and chats are foreign text. Control characters and marks that turn the reading direction are shown
as visible signs, and rich's own markup is never interpreted in them.
"""

from __future__ import annotations

import re

from rich.text import Text

ROLE_STYLES = {
    "system": "bright_blue",
    "user": "bright_green",
    "assistant": "bright_magenta",
    "tool": "bright_yellow",
}
DIM = "bright_black"  # what is said by the way
WEIGHT_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_CARRIAGE = re.compile(r"\r\n?")


def role_style(role: str) -> str:
    """The colour of a role; white for one that nobody knows."""
    return ROLE_STYLES.get(role, "white")


def visible(text: str) -> str:
    """The text with every control character as a visible sign; line ends become newlines."""
    return _UNSAFE.sub(_sign, _CARRIAGE.sub("\n", text))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def foreign(text: str, style: str = "") -> Text:
    """Foreign text as it is, without markup."""
    return Text(visible(text), style=style)


def one_line(text: str, width: int) -> str:
    """The text on one line, cut to `width` characters with a mark."""
    line = " ".join(visible(text).split())
    return line if len(line) <= width else line[: max(width - 1, 1)].rstrip() + "…"


def clip(text: str, lines: int, characters: int) -> tuple[str, int, int]:
    """The beginning of a text, and how many lines and characters were left out."""
    whole = visible(text)
    kept = "\n".join(whole.split("\n")[:lines])[:characters].rstrip()
    rest = whole[len(kept) :]
    return kept, rest.strip().count("\n") + 1 if rest.strip() else 0, len(rest.strip())


def number(count: int) -> str:
    """A whole number with commas."""
    return f"{count:,}"


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 entry`, `2 entries`."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"
