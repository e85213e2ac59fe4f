"""The new engine: evaluates a parsed text from left to right, arguments inside out.

Every macro is replaced by its value; a value is never looked at again within the same call. What is no
macro, or has the wrong number of arguments, is printed as written with the macros inside it resolved.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from preset_engine.macros import steps
from preset_engine.macros.blocks import Item, pair_blocks
from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation, MacroRejected
from preset_engine.macros.js_numbers import strip
from preset_engine.macros.mentions import BLANK
from preset_engine.macros.nodes import Argument, Call, Document, Node, Shorthand
from preset_engine.macros.parses import SHARED_PARSES
from preset_engine.macros.registry import Macro
from preset_engine.macros.run import Run
from preset_engine.macros.shorthand import apply_shorthand

_PARSE_COST = 20  # characters of copying that one character of parsing is worth


def resolve(run: Run, text: str, offset: int) -> str:
    """Expand a text with everything before and after; `offset` is its place for `pick`."""
    if not text:
        return ""
    return steps.after(evaluate_text(run, steps.before(text), offset))


def evaluate_text(run: Run, text: str, offset: int) -> str:
    """The text with its macros evaluated, without the steps before and after."""
    if "{{" not in text:
        return text
    run.cost.enter()
    document = SHARED_PARSES.parse(text, run.ledger.limits.depth)
    evaluation = _Evaluation(run, document, _Ruler(text, offset))
    value = evaluation.part(document.nodes, 0, len(text))
    run.cost.leave()
    return value


def dedent(text: str) -> str:
    """A block's text without the indentation of its first line and without outer white space."""
    lines = text.split("\n")
    first = next((line for line in lines if strip(line)), "")
    width = _indent(first)
    if width:
        lines = [line[width:] if _indent(line) >= width else line.lstrip() for line in lines]
    return strip("\n".join(lines))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


class _Ruler:
    """Turns offsets in a text into UTF-16 offsets in the whole."""

    __slots__ = ("base", "wide")

    def __init__(self, text: str, base: int) -> None:
        self.base = base
        wide = not text.isascii() and max(text) > "\uffff"
        self.wide = [at for at, char in enumerate(text) if char > "\uffff"] if wide else []

    def at(self, offset: int) -> int:
        return self.base + offset + (bisect_left(self.wide, offset) if self.wide else 0)


@dataclass(slots=True)
class _Evaluation:
    """One document being evaluated."""

    run: Run
    document: Document
    ruler: _Ruler

    def part(self, nodes: tuple[Node, ...], start: int, end: int) -> str:
        """The value of a stretch of the text in which these nodes stand."""
        source = self.document.text
        items = (
            [Item(node) for node in nodes]
            if self.is_native
            else pair_blocks(nodes, self._takes_block)
        )
        parts: list[str] = []
        at, size = start, 0
        for item in items:
            value = self._item(item) if item.closer or item.is_text else self._node(item)
            between = source[at : item.node.start]
            if "{{" in between:
                self._count_blanks(between)
            parts += (between, value)
            size += item.node.start - at + len(value)
            at = item.end
            if size > self.run.cost.limits.output_chars:
                self.run.cost.charge(size)
        rest = source[at:end]
        if "{{" in rest:
            self._count_blanks(rest)
        return "".join([*parts, rest])

    def within(self, nodes: tuple[Node, ...], start: int, end: int) -> str:
        """As `part`, one level down."""
        self.run.cost.enter()
        value = self.part(nodes, start, end)
        self.run.cost.leave()
        return value

    def _count_blanks(self, text: str) -> None:
        for match in BLANK.finditer(text):
            self.run.ledger.count_unknown(match[1].rstrip(), self.run.place)

    def _takes_block(self, call: Call) -> bool:
        macro = self.run.ledger.find(call.name)
        if macro is None or macro.handler is None:
            return True
        return macro.takes_block(len(call.arguments))

    @property
    def is_native(self) -> bool:
        return self.run.ledger.engine is Engine.native

    def _node(self, item: Item) -> str:
        """As `_item`, quick for the many calls that have no arguments."""
        node, run = item.node, self.run
        if not isinstance(node, Call) or node.arguments or node.flags or run.extra:
            return self._item(item)
        plain = run.ledger.plain(node.name)
        if plain is None:
            return self._item(item)
        cost = run.cost
        if cost.depth == 1:
            cost.at = node.start
        try:
            value = plain.handler(
                Invocation(node.name, (), run, "", False, self.ruler.at(node.start))
            )
        except MacroRejected:
            value = self.document.text[node.start : node.end]
        if plain.is_volatile:
            cost.is_volatile = True
        cost.charge(len(value))
        return value

    def _item(self, item: Item) -> str:
        node, cost = item.node, self.run.cost
        if item.is_text or (self.is_native and (isinstance(node, Shorthand) or node.flags)):
            return self.document.text[node.start : node.end]
        if cost.depth == 1:
            cost.at = node.start
        value = self._shorthand(node) if isinstance(node, Shorthand) else self._call(node, item)
        cost.charge(len(value))
        return value

    def _shorthand(self, node: Shorthand) -> str:
        value = node.value

        def given() -> str:
            return strip(self._operand(value)) if value is not None else ""

        return apply_shorthand(self.run, node, given)

    def _operand(self, value: Argument) -> str:
        """The text behind an operator; what follows a cut shorthand in it is lost, as in SillyTavern."""
        if not value.nodes:
            return value.text
        source, is_cut = self.document.text, False
        parts: list[str] = []
        at: int | None = value.start
        self.run.cost.enter()
        for node in value.nodes:
            if at is not None:
                parts.append(source[at : node.start])
            parts.append(self._item(Item(node)))
            ends_here = isinstance(node, Shorthand) and node.is_cut
            at = None if ends_here else node.end
            is_cut = is_cut or ends_here
        self.run.cost.leave()
        return "".join(parts if is_cut else [*parts, source[at : value.end]])

    def _argument(self, argument: Argument) -> str:
        if not argument.has_macros:
            return argument.text
        if argument.nodes is not None:
            return self.within(argument.nodes, argument.start, argument.end)
        self._look_anew(argument.text)
        return evaluate_text(self.run, argument.text, self.ruler.at(argument.start))

    def _call(self, call: Call, item: Item) -> str:
        run, cost, closer = self.run, self.run.cost, item.closer
        was_volatile, cost.is_volatile = cost.is_volatile, False
        given = run.extra.get(call.name.lower()) if run.extra else None
        macro = None if given is not None else self.run.ledger.find(call.name)
        arguments = self._arguments(call, item, macro)
        is_tainted, cost.is_volatile = cost.is_volatile, was_volatile
        value = self._value(call, closer, macro, given, arguments, is_tainted=is_tainted)
        if value is None:
            cost.is_volatile |= is_tainted
            return self._as_written(call, closer, arguments)
        if macro is not None:
            cost.is_volatile |= run.ledger.is_volatile(macro)
            cost.is_volatile |= is_tainted and not macro.hides_arguments
        return value

    def _arguments(self, call: Call, item: Item, macro: Macro | None) -> list[str]:
        if macro is not None and macro.is_delayed:
            values = [argument.text for argument in call.arguments]
            return [*values, self._raw_block(call, item)] if item.closer is not None else values
        values = [self._argument(argument) for argument in call.arguments]
        if item.closer is None:
            return values
        block = self._block(call, item.closer, item.inner)
        return [*values, block if "#" in call.flags else dedent(block)]

    def _block(self, call: Call, closer: Call, inner: tuple[Node, ...]) -> str:
        if self.document.is_clean:
            return self.within(inner, call.end, closer.start)
        block = self.document.text[call.end : closer.start]
        self._look_anew(block)
        return evaluate_text(self.run, block, self.ruler.at(call.end))

    def _raw_block(self, call: Call, item: Item) -> str:
        """A block's text for a macro that expands it itself; its parse is kept for then."""
        end = item.closer.start if item.closer is not None else call.end
        if not item.inner or not self.document.is_clean:
            text = self.document.text[call.end : end]
            self._look_anew(text)
            return text
        text, depth = self.document.text[call.end : end], self.run.ledger.limits.depth
        if not SHARED_PARSES.holds(text, depth):
            SHARED_PARSES.put(self.document.cut(call.end, end, item.inner), depth)
        return text

    def _look_anew(self, text: str) -> None:
        """A part of a mended text is parsed on its own: work that grows with the depth of nesting."""
        self.run.cost.spend(_PARSE_COST * len(text))

    def _value(
        self,
        call: Call,
        closer: Call | None,
        macro: Macro | None,
        given: str | None,
        arguments: list[str],
        *,
        is_tainted: bool,
    ) -> str | None:
        """The macro's value, or None where the call stays as written."""
        if given is not None:
            return None if arguments else given
        if macro is None or macro.handler is None:
            if call.name:
                self.run.ledger.count_unknown(call.name, self.run.place)
            return None
        if not self._accepts(macro, arguments):
            return None
        invocation = Invocation(
            call.name,
            tuple(arguments),
            self.run,
            call.flags,
            closer is not None,
            self.ruler.at(call.start),
            is_tainted,
        )
        try:
            return macro.handler(invocation)
        except MacroRejected:
            return None

    def _accepts(self, macro: Macro, arguments: list[str]) -> bool:
        """Right number and kind; natively the last argument of a setter may hold `::`."""
        if self.is_native and macro.hides_arguments and len(arguments) > len(macro.parameters):
            return True
        return macro.accepts(len(arguments)) and _fits(macro, arguments)

    def _as_written(self, call: Call, closer: Call | None, values: list[str]) -> str:
        """The call as text, with its arguments' values where the arguments stood."""
        source, at = self.document.text, call.start
        parts: list[str] = []
        for argument, value in zip(call.arguments, values):
            if argument.text:
                parts += (source[at : argument.start], value)
                at = argument.end
        parts += (source[at : call.end], "}}" if call.is_open else "")
        if closer is not None and closer.start > call.end:
            parts += (values[-1], "}}")
        return "".join(parts)


def _fits(macro: Macro, arguments: list[str]) -> bool:
    return not macro.has_integers or not any(
        parameter.is_integer and not _is_whole(value)
        for parameter, value in zip(macro.parameters, arguments)
    )


def _is_whole(text: str) -> bool:
    body = strip(text)
    return body[body[:1] == "-" :].isdecimal() and body.isascii()
