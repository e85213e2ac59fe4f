"""What a macro's function gets: one call with its arguments, and the view behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from preset_engine.macros.view import MacroView

if TYPE_CHECKING:
    from preset_engine.macros.run import Run


class MacroRejected(Exception):
    """A macro refuses its arguments: the call stays in the text as written."""


class Invocation(NamedTuple):
    """One evaluated call.

    Attributes:
        name: as written in the text.
        arguments: expanded and without outer white space; a block is the last one.
        run: the expansion it is part of.
        flags: flag characters before the name.
        is_block: the last argument came from a block.
        offset: place of its first brace in the whole text, in UTF-16 units.
        is_tainted: something volatile stands in its arguments.
    """

    name: str
    arguments: tuple[str, ...]
    run: Run
    flags: str = ""
    is_block: bool = False
    offset: int = 0
    is_tainted: bool = False

    @property
    def view(self) -> MacroView:
        """All that macros may read."""
        return self.run.ledger.view

    @property
    def keeps_space(self) -> bool:
        """Whether a block keeps its white space (`{{#name}}`)."""
        return "#" in self.flags

    def argument(self, place: int, default: str = "") -> str:
        """An argument, or `default` where it was left out."""
        return self.arguments[place] if place < len(self.arguments) else default

    def draw(self) -> float:
        """A number in [0, 1) of the assembly's random source."""
        return self.run.ledger.draw()
