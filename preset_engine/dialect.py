"""The two dialects as values of switches; there is one code path.

`Dialect.native` follows the seed rules, `Dialect.sillytavern` is byte-equal to SillyTavern 1.19.
Each switch names one difference of the design's table (design section 3); a stage asks for its switch and
never for the dialect's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from preset_engine.errors import InputRefused


@dataclass(frozen=True, slots=True)
class Switches:
    """The differences between the dialects, one claim each.

    Attributes:
        adds_holes: holes that the order does not list are added around `chatHistory`.
        has_turn_hole: the newest input stands in its own hole instead of ending the history.
        opens_chat: an empty chat gets the card's greeting, and the new-chat text heads the history.
        appends_unlisted: card texts and other supplied prompts that the order does not list stand at the end.
        drops_unflagged: a custom relative prompt without `system_prompt: false` gives no message.
        expands_supplied: what the caller supplies runs all macros; otherwise names and directives only.
        expands_history: the records of the history run macros.
        shapes_zones: a mode shapes the zones around the history; otherwise the flat list as a whole.
        keeps_variables: chat and global variables come in, and what changed goes out.
        default_mode: the post-processing mode where neither preset nor caller names one.
    """

    adds_holes: bool
    has_turn_hole: bool
    opens_chat: bool
    appends_unlisted: bool
    drops_unflagged: bool
    expands_supplied: bool
    expands_history: bool
    shapes_zones: bool
    keeps_variables: bool
    default_mode: str


_NATIVE = Switches(
    adds_holes=True,
    has_turn_hole=True,
    opens_chat=False,
    appends_unlisted=False,
    drops_unflagged=False,
    expands_supplied=False,
    expands_history=False,
    shapes_zones=True,
    keeps_variables=False,
    default_mode="strict",
)
_SILLYTAVERN = Switches(
    adds_holes=False,
    has_turn_hole=False,
    opens_chat=True,
    appends_unlisted=True,
    drops_unflagged=True,
    expands_supplied=True,
    expands_history=True,
    shapes_zones=False,
    keeps_variables=True,
    default_mode="",
)


class Dialect(StrEnum):
    """Which rules assemble the messages; the value is what a file or command line says."""

    native = "native"
    sillytavern = "sillytavern"

    @classmethod
    def read(cls, name: str) -> Dialect:
        """The dialect of this name.

        Raises:
            InputRefused: there is none.
        """
        try:
            return cls(name)
        except ValueError:
            message = f"there is no dialect {name!r}: use {' or '.join(cls)}"
            raise InputRefused(message) from None

    @property
    def switches(self) -> Switches:
        """The dialect's differences as values."""
        return _NATIVE if self is Dialect.native else _SILLYTAVERN
