r"""Cuts a text into tokens: one pass, a stack of modes, no look back.

What a character means depends on where it stands: `::` is plain text in a sentence and a separator inside
braces. So the scanner keeps a stack of modes and every mode knows its own tokens::

    a {{setvar::x::{{user}}}}
    plain    head            arguments     head of the inner macro, and back

A mode that meets something foreign gives up and hands over to the mode below it (a `^` behind `{{` ends the
attempt, the rest is plain text), with one exception: behind a macro's name foreign characters are dropped
until the name properly ends. That is how SillyTavern 1.19 reads `{{user!}}` as `{{user}}`.

Only what the parser asks for is kept: runs of argument text are one token that remembers whether it stands
for a single lexical unit (`is_single`), since the parser may drop one stray unit, never two.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from preset_engine.characters import JS_SPACE
from preset_engine.errors import MacroTooDeep

# Kinds of tokens: bits, so that a set of kinds is one number.
PLAIN: Final = 1
OPEN_BRACE: Final = 2
START: Final = 4
FLAG: Final = 8
COMMENT: Final = 16
PREFIX: Final = 32
NAME: Final = 64
VARIABLE: Final = 128
OPERATOR: Final = 256
PAIR_COLON: Final = 512
COLON: Final = 1024
TEXT: Final = 2048
END: Final = 4096
EOF: Final = 8192

_KINDS = {
    "END": END,
    "COMMENT": COMMENT,
    "PREFIX": PREFIX,
    "FLAG": FLAG,
    "NAME": NAME,
    "PAIR_COLON": PAIR_COLON,
    "COLON": COLON,
}


class Token(NamedTuple):
    """A token: kind, place in the text, and whether it is one lexical unit."""

    kind: int
    start: int
    end: int
    is_single: bool = True


_HEAD = re.compile(
    r"(?P<END>\}\})|(?P<COMMENT>//)|(?P<PREFIX>[.$])|(?P<FLAG>[!?~#/>])"
    rf"|(?P<SPACE>[{JS_SPACE}]+)|(?P<NAME>[a-zA-Z][A-Za-z0-9_-]*)"
)
_NAME_END = re.compile(rf"(?P<STOP>\}}\}})|(?P<SPACE>[{JS_SPACE}]+)|(?P<BORDER>[:|}}])")
_ARGUMENTS = re.compile(
    rf"(?P<START>\{{\{{)|(?P<PAIR_COLON>::)|(?P<COLON>:)|(?P<SPACE>[{JS_SPACE}]+)"
    rf"|(?P<TEXT>(?:[^{{}}:{JS_SPACE}]+|\{{(?!\{{)|\}}(?!\}}))+)"
)
_VALUE = re.compile(
    rf"(?P<START>\{{\{{)|(?P<SPACE>[{JS_SPACE}]+)|(?P<TEXT>(?:[^{{}}{JS_SPACE}]+|\{{(?!\{{)|\}}(?!\}}))+)"
)
_VARIABLE = re.compile(
    rf"(?P<SPACE>[{JS_SPACE}]+)|(?P<VARIABLE>[a-zA-Z](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?)"
)
_OPERATOR = re.compile(
    rf"(?P<SPACE>[{JS_SPACE}]+)|(?P<STEP>\+\+|--)"
    r"|(?P<OPERATOR>\?\?=|\?\?|\|\|=|\|\||-=|==|!=|>=|>|<=|<|\+=|=)"
)
_UNIT = re.compile(r"[a-zA-Z][A-Za-z0-9_-]*|[\0-\uffff]")


def scan(text: str, max_depth: int) -> list[Token]:
    """All tokens of a text, with one EOF token at the end.

    Raises:
        MacroTooDeep: more than `max_depth` macros are open at once.
    """
    return _Scan(text, max_depth).run()


class _Scan:
    """The state of one scan: place, stack of modes, tokens so far."""

    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.at = 0
        self.tokens: list[Token] = []
        self.stack = [self.plain]
        self.max_modes = 2 * max_depth + 1

    def run(self) -> list[Token]:
        size = len(self.text)
        while self.at < size:
            self.stack[-1]()
        self.tokens.append(Token(EOF, size, size))
        return self.tokens

    def add(self, kind: int, end: int, is_single: bool = True) -> None:
        self.tokens.append(Token(kind, self.at, end, is_single))
        self.at = end

    def push_head(self, end: int) -> None:
        if len(self.stack) >= self.max_modes:
            limit = (self.max_modes - 1) // 2
            message = f"macros are nested more than {limit} levels deep"
            raise MacroTooDeep(message)
        self.add(START, end)
        self.stack.append(self.head)

    def plain(self) -> None:
        text, at = self.text, self.at
        brace = text.find("{{", at)
        if brace < 0:
            self.add(PLAIN, len(text))
        elif brace > at:
            self.add(PLAIN, brace)
        elif text.startswith("{", at + 2):
            self.add(OPEN_BRACE, at + 1)
        else:
            self.push_head(at + 2)

    def head(self) -> None:
        match = _HEAD.match(self.text, self.at)
        if match is None:
            self.stack.pop()
            return
        group, end = match.lastgroup or "", match.end()
        if group == "SPACE":
            self.at = end
            return
        self.add(_KINDS[group], end)
        match group:
            case "END":
                self.stack.pop()
            case "COMMENT":
                self.stack.append(self.arguments)
            case "PREFIX":
                self.stack.append(self.variable)
            case "NAME":
                self.name_end()
            case _:
                pass

    def name_end(self) -> None:
        """Drop what cannot follow a name; enter the arguments unless the macro ends here."""
        match = _NAME_END.search(self.text, self.at)
        if match is None:
            self.at = len(self.text)
            return
        self.at = match.start()
        if match.lastgroup == "STOP":
            return
        if match.lastgroup == "SPACE":
            self.at = match.end()
        self.stack.append(self.arguments)

    def arguments(self) -> None:
        self.take(_ARGUMENTS)

    def value(self) -> None:
        self.take(_VALUE)

    def take(self, tokens: re.Pattern[str]) -> None:
        """One token of an argument or a value; the mode ends where none fits (before `}}`)."""
        match = tokens.match(self.text, self.at)
        if match is None:
            self.stack.pop()
            return
        group, end = match.lastgroup or "", match.end()
        if group == "SPACE":
            self.at = end
        elif group == "START":
            self.push_head(end)
        elif group == "TEXT":
            self.add(TEXT, end, _UNIT.fullmatch(self.text, self.at, end) is not None)
        else:
            self.add(_KINDS[group], end)

    def variable(self) -> None:
        match = _VARIABLE.match(self.text, self.at)
        if match is None:
            self.stack.pop()
        elif match.lastgroup == "SPACE":
            self.at = match.end()
        else:
            self.add(VARIABLE, match.end())
            self.stack[-1] = self.operator

    def operator(self) -> None:
        match = _OPERATOR.match(self.text, self.at)
        if match is None:
            self.stack.pop()
        elif match.lastgroup == "SPACE":
            self.at = match.end()
        else:
            self.add(OPERATOR, match.end())
            if match.lastgroup == "OPERATOR":
                self.stack[-1] = self.value
