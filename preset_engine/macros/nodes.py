"""The tree of a parsed text: text, macros with arguments, variable shorthands.

Offsets count Python characters of the parsed text. Nothing in the tree is resolved: a name may be
unknown, an argument is the text between its first and last visible character. The printed form of a
node is the slice of the source between its offsets, so printing a whole document gives the source back::

    {{setvar::mood::{{user}} smiles}}
    └ Call(name="setvar", arguments=(Argument("mood"), Argument("{{user}} smiles")))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument, without the white space around it.

    Attributes:
        start: offset of its first character in the parsed text.
        text: its text; empty for an argument with nothing in it.
        has_macros: it holds an opening pair of braces.
        nodes: the macros in it, placed in the whole text; None where they must be looked for anew,
            because something in the text was mended.
    """

    start: int
    text: str
    has_macros: bool
    nodes: tuple[Node, ...] | None = None

    @property
    def end(self) -> int:
        """Offset behind its last character."""
        return self.start + len(self.text)

    def begins_with_slash(self) -> bool:
        """Whether the first character outside the macros in it is a slash."""
        at = self.start
        for node in self.nodes or ():
            if self.text[at - self.start : node.start - self.start].strip():
                break
            at = node.end
        return self.text[at - self.start :].lstrip()[:1] == "/"

    def moved(self, distance: int) -> Argument:
        """The same argument, `distance` characters earlier."""
        nodes = None if self.nodes is None else tuple(node.moved(distance) for node in self.nodes)
        return Argument(self.start - distance, self.text, self.has_macros, nodes)


@dataclass(frozen=True, slots=True)
class Call:
    """A macro call ``{{name::arguments}}``.

    Attributes:
        start: offset of its first brace.
        end: offset behind its last brace.
        name: as written; ``//`` for a comment.
        flags: the flag characters before the name.
        arguments: in the order written.
        is_open: its closing braces are missing; only to be met in the value of a shorthand.
    """

    start: int
    end: int
    name: str
    flags: str
    arguments: tuple[Argument, ...]
    is_open: bool = False

    @property
    def is_closing(self) -> bool:
        """Whether it ends a block: ``{{/name}}``, and ``{{///}}`` for a block comment."""
        if "/" in self.flags:
            return True
        return self.name == "//" and bool(self.arguments) and self.arguments[0].begins_with_slash()

    def moved(self, distance: int) -> Call:
        """The same call, `distance` characters earlier."""
        start, end = self.start - distance, self.end - distance
        arguments = tuple(argument.moved(distance) for argument in self.arguments)
        return Call(start, end, self.name, self.flags, arguments, self.is_open)


@dataclass(frozen=True, slots=True)
class Shorthand:
    """A variable shorthand ``{{.name op value}}``.

    Attributes:
        start: offset of its first brace.
        end: offset behind its last brace.
        is_shared: ``$`` (global) instead of ``.`` (local).
        name: of the variable; empty where none was written.
        operator: ``""`` for a plain read.
        value: what follows the operator, or None.
        is_cut: its closing braces were made up; only to be met in the value of another shorthand.
    """

    start: int
    end: int
    is_shared: bool
    name: str
    operator: str
    value: Argument | None
    is_cut: bool = False

    def moved(self, distance: int) -> Shorthand:
        """The same shorthand, `distance` characters earlier."""
        value = None if self.value is None else self.value.moved(distance)
        return replace(self, start=self.start - distance, end=self.end - distance, value=value)


Node = Call | Shorthand


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text: its macros in order; everything between them is text.

    Attributes:
        text: the source.
        nodes: complete macros of the top level, by offset.
        is_clean: nothing was mended, so a part of the text has the nodes of that part.
        freed: offsets of the nodes that stand in an unfinished macro.
    """

    text: str
    nodes: tuple[Node, ...]
    is_clean: bool = True
    freed: frozenset[int] = frozenset()

    def cut(self, start: int, end: int, nodes: Iterable[Node]) -> Document:
        """The document of a part of a clean text, given the nodes that stand in it."""
        return Document(self.text[start:end], tuple(node.moved(start) for node in nodes))

    def pieces(self) -> list[str]:
        """The source cut at the borders of its macros; joined it is the source again."""
        cut, at = [], 0
        for node in self.nodes:
            cut += [self.text[at : node.start], self.text[node.start : node.end]]
            at = node.end
        return [*cut, self.text[at:]]
