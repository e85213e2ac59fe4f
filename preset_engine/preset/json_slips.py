r"""The plain slips of hand-written JSON, mended in one linear pass.

Texts in double quotes are passed over whole, so nothing inside them changes::

    {'a': True, // note
     "b": [1, 2,],}        ->   {"a": true, "b": [1, 2]}
"""

from __future__ import annotations

import json
import re
from collections import Counter

_TOKEN = re.compile(
    r"""
      (?P<text>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z))
    | (?P<single>'[^'\\]*(?:\\.[^'\\]*)*(?:'|\Z))
    | (?P<curly>[\u201c\u201d][^"\u201c\u201d\\]*(?:\\.[^"\u201c\u201d\\]*)*(?:["\u201c\u201d]|\Z))
    | (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|(?:(?<=\n)|\A)[ \t]*\#[^\n]*)
    | (?P<word>\b(?:True|False|None|undefined|TRUE|FALSE|NULL|Null)\b)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMA = re.compile(
    r'(?P<text>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z))|(?P<comma>,(?=\s*[}\]]))', re.DOTALL
)
_WORDS = {
    "True": "true",
    "TRUE": "true",
    "False": "false",
    "FALSE": "false",
    "None": "null",
    "undefined": "null",
    "NULL": "null",
    "Null": "null",
}
_CODES = {
    "single": "single-quotes",
    "curly": "curly-quotes",
    "comment": "comments",
    "word": "foreign-words",
}


def mend_slips(text: str) -> tuple[str, dict[str, int]]:
    """The text with its slips mended, and the note codes of the slips with their counts."""
    slips: Counter[str] = Counter()

    def change(found: re.Match[str]) -> str:
        kind = found.lastgroup or "text"
        token = found.group()
        if kind == "text":
            return token
        slips[_CODES[kind]] += 1
        if kind == "comment":
            return " "
        if kind == "word":
            return _WORDS[token]
        return _quoted(token)

    mended = _TOKEN.sub(change, text)

    def drop(found: re.Match[str]) -> str:
        if found.lastgroup == "text":
            return found.group()
        slips["trailing-comma"] += 1
        return ""

    mended = _COMMA.sub(drop, mended)
    return mended, dict(slips)


def _quoted(token: str) -> str:
    """A text in quotes of any sort as a JSON text, its escapes kept, bare quotes inside escaped."""
    body = token[1:-1].replace("\\'", "'")
    body = re.sub(r'(\\.)|(")', lambda found: found.group(1) or '\\"', body, flags=re.DOTALL)
    try:
        return json.dumps(json.loads(f'"{body}"', strict=False))
    except ValueError:
        return json.dumps(token[1:-1])


MOST_MEMBERS = 10_000
"""Lines that are mended; a file with more is no preset with slips."""

_LOOSE_NUMBER = re.compile(r"[+-]?(?:\d{1,15}\.?\d{0,15}|\.\d{1,15})")
_MEMBER = re.compile(r'\s*"[^"\\]+"\s*:\s*(?=[^\s{\[])')


def mend_members(text: str) -> tuple[str, dict[str, int]]:
    """The text with each line `"key": value` whose value is no JSON mended, and the note codes with counts.

    A file that went through a wrong code page loses single quotes at the ends of texts; where every member
    stands on a line of its own, the damage is one line. Numbers that JSON does not know (`.5`, `+1`) are
    written as it does.
    """
    lines = text.split("\n")
    slips: Counter[str] = Counter()
    for number, line in enumerate(lines):
        member = _MEMBER.match(line)
        if member is None:
            continue
        whole = line[member.end() :].rstrip()
        value = whole.removesuffix(",")
        if _is_json(value):
            continue
        mended, code = _member_value(value)
        lines[number] = member.group() + mended + whole[len(value) :]
        slips[code] += 1
        if slips.total() > MOST_MEMBERS:
            return text, {}
    return "\n".join(lines), dict(slips)


def _member_value(value: str) -> tuple[str, str]:
    bare = value.rstrip(", \t")
    if bare != value and _is_json(bare):
        return bare, "trailing-comma"
    if _LOOSE_NUMBER.fullmatch(bare):
        return json.dumps(float(bare) if "." in bare else int(bare)), "number-form"
    return _quoted_anew(value), "lost-quotes"


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except ValueError:
        return False
    return True


def _quoted_anew(value: str) -> str:
    body = value.removeprefix('"')
    body = body.removesuffix('"') if not body.endswith('\\"') else body
    return _quoted(f'"{body}"')
