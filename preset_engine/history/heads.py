r"""The heads that begin a turn in a history text.

Three forms, each only at the very start of a line, for the user, the assistant and the system::

    ## 用户            a heading on a line of its own
    【用户】推门        a bracket; text may follow on the line
    用户：推门          a name and a colon (full or half width); text may follow on the line

English names count too (`## User`, `【User】`, `User:`). A backslash in front of a head makes it plain text;
printing puts it there and reading takes it away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class HeadForm(StrEnum):
    """How a turn's head is written."""

    HEADING = "heading"
    BRACKET = "bracket"
    COLON = "colon"


ROLE_NAMES = {"user": "用户", "assistant": "助手", "system": "系统"}
ENGLISH_NAMES = {"user": "User", "assistant": "Assistant", "system": "System"}
_ROLES = {name: role for role, name in ROLE_NAMES.items()} | {
    "用戶": "user",
    "系統": "system",
    "user": "user",
    "assistant": "assistant",
    "system": "system",
}
_NAME = "用户|用戶|助手|系统|系統|(?i:user|assistant|system)"
_STRICT_NAME = "用户|用戶|助手|系统|系統|User|Assistant|System"
_HEAD = re.compile(
    rf"(?:##[ \t]*(?P<heading>{_NAME})[ \t]*$"
    rf"|【[ \t]*(?P<bracket>{_NAME})[ \t]*】(?P<bracket_text>.*)$"
    rf"|(?P<colon>{_STRICT_NAME})[:：](?P<colon_text>.*)$)"
)
_ESCAPED = re.compile(r"\\+")


@dataclass(frozen=True, slots=True)
class Head:
    """A recognised head.

    Attributes:
        role: whose turn begins.
        form: how it is written.
        text: what follows on the line.
    """

    role: str
    form: HeadForm
    text: str


def read_head(line: str) -> Head | None:
    """The head that a line begins with, or None."""
    found = _HEAD.match(line)
    if found is None:
        return None
    for form in HeadForm:
        name = found[form.value]
        if name is not None:
            text = "" if form is HeadForm.HEADING else found[f"{form.value}_text"]
            return Head(_ROLES[name if name in _ROLES else name.lower()], form, text)
    return None


def write_head(role: str, form: HeadForm, *, english: bool = False) -> str:
    """The head of a turn; the text of the turn follows after it."""
    name = (ENGLISH_NAMES if english else ROLE_NAMES)[role]
    match form:
        case HeadForm.HEADING:
            return f"## {name}\n\n"
        case HeadForm.BRACKET:
            return f"【{name}】"
        case HeadForm.COLON:
            return f"{name}: " if english else f"{name}："


def escape_line(line: str) -> str:
    """Keep a line of a body from being read as a head."""
    return f"\\{line}" if read_head(_without_backslashes(line)) is not None else line


def unescape_line(line: str) -> str:
    """Undo `escape_line`."""
    if line.startswith("\\") and read_head(_without_backslashes(line)) is not None:
        return line[1:]
    return line


def _without_backslashes(line: str) -> str:
    found = _ESCAPED.match(line)
    return line[found.end() :] if found else line
