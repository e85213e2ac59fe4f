"""Makes a tree of the tokens and mends what authors leave broken the way SillyTavern 1.19 does.

The rules of mending, in the order they are tried where something else was expected:

1. One stray unit before the expected token is dropped: ``{{.name x}}`` reads the variable. But what could
   stand behind the missing token counts as that: ``{{.name} }}`` in an argument is unfinished.
2. The rule that failed gives up; its callers look for the next token that one of them can go on with. A
   rule that can go on with it does so, with what it has. So an unfinished macro inside an argument lets the
   outer macro use the closing braces, and an unfinished macro in a sentence becomes text again.
3. Complete macros inside an unfinished one are kept and count as if they stood in the sentence.

A text in which something was mended is only trusted for the extents of its macros: their arguments are
parsed on their own when they are evaluated, as SillyTavern does with all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from preset_engine.macros.nodes import Argument, Call, Document, Node, Shorthand
from preset_engine.macros.scanner import (
    COLON,
    COMMENT,
    END,
    EOF,
    FLAG,
    NAME,
    OPEN_BRACE,
    OPERATOR,
    PAIR_COLON,
    PLAIN,
    PREFIX,
    START,
    TEXT,
    VARIABLE,
    Token,
    scan,
)
from preset_engine.macros.simple import simple_calls

_SENTENCE = PLAIN | OPEN_BRACE | START
_WORD = TEXT | COLON
_HEADS = FLAG | PREFIX | COMMENT | NAME
_NOTHING = 0


def parse(text: str, max_depth: int) -> Document:
    """The tree of a text; every text has one.

    Raises:
        MacroTooDeep: macros are nested beyond `max_depth`.
    """
    if "{{" not in text:
        return Document(text, ())
    calls = simple_calls(text) if max_depth > 0 else None
    return parse_fully(text, max_depth) if calls is None else Document(text, calls)


def parse_fully(text: str, max_depth: int) -> Document:
    """As `parse`, for texts of every kind."""
    return _Parse(text, scan(text, max_depth)).document()


@dataclass(slots=True)
class _Span:
    """An argument or value while it is read: where it starts and ends, and the macros in it."""

    start: int = -1
    end: int = -1
    macros: list[_Macro] = field(default_factory=list)

    def extend(self, start: int, end: int) -> None:
        if self.start < 0:
            self.start = start
        self.end = end

    def argument(self, text: str, *, is_clean: bool) -> Argument:
        if self.start < 0:
            return Argument(0, "", has_macros=False)
        body = text[self.start : self.end]
        if not is_clean:
            return Argument(self.start, body, has_macros="{{" in body)
        nodes = tuple(macro.node(text, is_clean=True) for macro in self.macros)
        return Argument(self.start, body, bool(nodes), nodes)

    def value(self, text: str, *, is_clean: bool) -> Argument:
        """As `argument`, for a shorthand, where unfinished macros are evaluated too."""
        if is_clean or not self.macros:
            return self.argument(text, is_clean=is_clean)
        nodes = tuple(macro.node(text, is_clean=False) for macro in self.macros)
        return Argument(self.start, text[self.start : self.end], has_macros=True, nodes=nodes)


@dataclass(slots=True)
class _Macro:
    """A macro while it is read; `end` stays negative when it was never closed."""

    start: int
    last: int
    end: int = -1
    flags: str = ""
    name: str = ""
    prefix: str = ""
    variable: str = ""
    operator: str = ""
    is_cut: bool = False
    value: _Span | None = None
    spans: list[_Span] = field(default_factory=list)

    def node(self, text: str, *, is_clean: bool) -> Node:
        is_open = self.end < 0
        end = self.last if is_open else self.end
        if self.prefix:
            value = None if self.value is None else self.value.value(text, is_clean=is_clean)
            is_shared = self.prefix == "$"
            return Shorthand(
                self.start, end, is_shared, self.variable, self.operator, value, self.is_cut
            )
        arguments = tuple(span.argument(text, is_clean=is_clean) for span in self.spans)
        return Call(self.start, end, self.name, self.flags, arguments, is_open)

    def kept(self) -> list[_Macro]:
        """The complete macros to be found in it: itself, or those inside an unfinished one."""
        if self.end >= 0:
            return [self]
        found: list[_Macro] = []
        freed: set[int] = set()
        for span in [*self.spans, *([self.value] if self.value is not None else [])]:
            for macro in span.macros:
                kept = macro.kept()
                found += kept
                freed.update(part.start for part in kept if part is not macro)
        return found


class _Parse:
    """One parse: the tokens and the place in them.

    Methods named after a rule return whether the rule failed in a way it could not mend itself. `own` are
    the kinds its caller can go on with after the rule, `all_kinds` those of every rule now open.
    """

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0
        self.is_clean = True

    @property
    def kind(self) -> int:
        return self.tokens[self.at].kind

    def kind_after(self) -> int:
        following = self.at + 1
        return self.tokens[following].kind if following < len(self.tokens) else EOF

    def take(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def document(self) -> Document:
        found: list[_Macro] = []
        freed: set[int] = set()
        while self.kind != EOF:
            if self.kind == START and self.kind_after() & _HEADS:
                macro, failed = self.macro(_SENTENCE, _SENTENCE | EOF)
                kept = macro.kept()
                found += kept
                freed.update(part.start for part in kept if part is not macro)
                if failed:
                    break
            else:
                self.at += 1
        nodes = tuple(macro.node(self.text, is_clean=self.is_clean) for macro in found)
        return Document(self.text, nodes, self.is_clean, frozenset(freed))

    def macro(self, own: int, all_kinds: int) -> tuple[_Macro, bool]:
        start = self.take()
        macro = _Macro(start.start, start.end)
        while self.kind == FLAG:
            flag = self.take()
            macro.flags += self.text[flag.start : flag.end]
            macro.last = flag.end
        within = all_kinds | END
        if self.kind == PREFIX:
            failed = self.shorthand(macro, within)
        elif self.kind & (NAME | COMMENT):
            failed = self.body(macro, within)
        else:
            failed = True
        own |= all_kinds & PAIR_COLON
        if not failed and self.expect(END, own):
            macro.end = macro.last = self.take().end
            return macro, False
        macro.is_cut = not failed and bool(self.kind & own)
        return macro, self.mend(own, all_kinds)

    def expect(self, kind: int, fits_behind: int = 0) -> bool:
        """Whether the next token is of this kind, after one stray unit has been dropped.

        What could stand behind the missing token (`fits_behind`) is no stray unit.
        """
        if self.kind == kind:
            return True
        token = self.tokens[self.at]
        if self.kind_after() == kind and token.is_single and not token.kind & fits_behind:
            self.at += 1
            self.is_clean = False
            return True
        return False

    def mend(self, own: int, all_kinds: int) -> bool:
        """Go to the next token some open rule knows, if that rule is this one's caller."""
        self.is_clean = False
        target = self.at
        while not self.tokens[target].kind & all_kinds:
            target += 1
        if self.tokens[target].kind & own:
            self.at = target
            return False
        return True

    def body(self, macro: _Macro, all_kinds: int) -> bool:
        name = self.take()
        macro.name = self.text[name.start : name.end]
        macro.last = name.end
        if not self.kind & (_WORD | START | PAIR_COLON):
            return False
        return self.arguments(macro, all_kinds) and self.mend(END, all_kinds)

    def arguments(self, macro: _Macro, all_kinds: int) -> bool:
        if self.kind != PAIR_COLON:
            if self.kind == COLON:
                macro.last = self.take().end
            return self.argument(macro, _NOTHING, all_kinds, takes_pairs=True)
        while self.kind == PAIR_COLON:
            macro.last = self.take().end
            if self.argument(macro, PAIR_COLON, all_kinds | PAIR_COLON):
                return True
        return False

    def argument(
        self, macro: _Macro, own: int, all_kinds: int, *, takes_pairs: bool = False
    ) -> bool:
        span = _Span()
        macro.spans.append(span)
        words = _WORD | PAIR_COLON if takes_pairs else _WORD
        failed = self.words(span, words, all_kinds)
        macro.last = max(macro.last, span.end)
        if not failed and not (takes_pairs and span.start < 0):
            return False
        return self.mend(own, all_kinds)

    def words(self, span: _Span, words: int, all_kinds: int) -> bool:
        inner = words | START
        while True:
            if self.kind == START:
                macro, failed = self.macro(inner, all_kinds | inner)
                span.macros.append(macro)
                span.extend(macro.start, macro.last)
                if failed:
                    return True
            elif self.kind & words:
                token = self.take()
                span.extend(token.start, token.end)
            else:
                return False

    def shorthand(self, macro: _Macro, all_kinds: int) -> bool:
        prefix = self.take()
        macro.prefix = self.text[prefix.start : prefix.end]
        macro.last = prefix.end
        if not self.expect(VARIABLE):
            return self.mend(END, all_kinds)
        name = self.take()
        macro.variable = self.text[name.start : name.end]
        macro.last = name.end
        if self.kind != OPERATOR:
            return False
        operator = self.take()
        macro.operator = self.text[operator.start : operator.end]
        macro.last = operator.end
        if macro.operator in {"++", "--"}:
            return False
        macro.value = _Span()
        failed = self.words(macro.value, TEXT, all_kinds)
        macro.last = max(macro.last, macro.value.end)
        return failed and self.mend(END, all_kinds)
