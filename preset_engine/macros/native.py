"""The native dialect: the seeds' macros and the persona directives; everything else is text.

Directives are short forms of the user's name and description: `@玩家` and `@user`, `@人设` and `@persona`. One
counts only when no ASCII letter, digit or `_` stands before it (an address like `a@user.com` is left alone) and
neither such a character nor another `@` follows; a Chinese character may touch it on either side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from preset_engine.macros import steps
from preset_engine.macros.evaluate import evaluate_text
from preset_engine.macros.run import Run

_DIRECTIVE = re.compile(r"(?<![A-Za-z0-9_])@(?:(玩家|user)|人设|persona)(?![A-Za-z0-9_@])")
_IDENTITY = re.compile(rf"{_DIRECTIVE.pattern}|(\{{\{{user\}}\}})")
DEFAULT_NAME = "玩家"


@dataclass(frozen=True, slots=True)
class Identity:
    """A text with names filled in, and what was filled: `persona_name`, `persona_desc`, `st_user`, in order."""

    text: str
    hits: tuple[str, ...] = ()


def has_directives(text: str) -> bool:
    """Whether a directive stands in the text."""
    return "@" in text and _DIRECTIVE.search(text) is not None


def persona_line(name: str, description: str) -> str:
    """What `@persona` stands for: the description, else a line with the name, else nothing."""
    if description.strip():
        return description
    return f"姓名：{name}" if name else ""


def expand_identity(text: str, name: str, description: str) -> Identity:
    """Fill in names and directives only; for content that must not run macros.

    Args:
        text: the content.
        name: the persona's name; empty gives 玩家.
        description: the persona's description.
    """
    if "@" not in text and "{{user}}" not in text:
        return Identity(text)
    hits: list[str] = []

    def fill(match: re.Match[str]) -> str:
        if match[2]:
            hits.append("st_user")
        elif not match[1]:
            hits.append("persona_desc")
            return persona_line(name, description)
        else:
            hits.append("persona_name")
        return name or DEFAULT_NAME

    return Identity(_IDENTITY.sub(fill, text), tuple(hits))


def put_names(text: str, user: str, char: str, persona: str) -> str:
    """Names, persona and directives in a text that the caller supplied; no other macro runs.

    Args:
        text: the content.
        user: the persona's name; empty gives 玩家.
        char: the character's name.
        persona: the persona's description; a blank one gives a line with the name.
    """
    text = expand_identity(text, user, persona).text
    if "{{" not in text:
        return text
    return text.replace("{{char}}", char).replace(
        "{{persona}}", persona_line(user, persona.strip())
    )


def resolve(run: Run, text: str, offset: int) -> str:
    """Expand a text by the native rules."""
    if not text:
        return ""
    if "@" in text:
        text = _DIRECTIVE.sub(lambda match: "{{user}}" if match[1] else "{{persona}}", text)
    return steps.after(evaluate_text(run, text, offset))
