"""The tree of a parsed text: text, macros with arguments, variable shorthands.

Offsets count Python characters of the parsed text. Nothing in the tree is resolved: a name may be
unknown, an argument is the text between its first and last visible character. The printed form of a
node is the slice of the source between its offsets, so printing a whole document gives the source back::

    {{setvar::mood::{{user}} smiles}}
    └ Call(name="setvar", arguments=(Argument("mood"), Argument("{{user}} smiles")))
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument, without the white space around it.

    Attributes:
        start: offset of its first character in the parsed text.
        text: its text; empty for an argument with nothing in it.
        has_macros: it holds an opening pair of braces.
    """

    start: int
    text: str
    has_macros: bool

    @property
    def end(self) -> int:
        """Offset behind its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Call:
    """A macro call ``{{name::arguments}}``.

    Attributes:
        start: offset of its first brace.
        end: offset behind its last brace.
        name: as written; ``//`` for a comment.
        flags: the flag characters before the name.
        arguments: in the order written.
    """

    start: int
    end: int
    name: str
    flags: str
    arguments: tuple[Argument, ...]

    @property
    def is_closing(self) -> bool:
        """Whether it ends a block: ``{{/name}}``, and ``{{///}}`` for a block comment."""
        if "/" in self.flags:
            return True
        return self.name == "//" and bool(self.arguments) and self.arguments[0].text[:1] == "/"


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
    """

    start: int
    end: int
    is_shared: bool
    name: str
    operator: str
    value: Argument | None


Node = Call | Shorthand


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text: its macros in order; everything between them is text.

    Attributes:
        text: the source.
        nodes: complete macros of the top level, by offset.
    """

    text: str
    nodes: tuple[Node, ...]

    def pieces(self) -> list[str]:
        """The source cut at the borders of its macros; joined it is the source again."""
        cut, at = [], 0
        for node in self.nodes:
            cut += [self.text[at : node.start], self.text[node.start : node.end]]
            at = node.end
        return [*cut, self.text[at:]]
