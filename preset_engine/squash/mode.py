"""The modes of shaping, by the names that presets use."""

from __future__ import annotations

from enum import StrEnum

from preset_engine.errors import AssemblyError


class Mode(StrEnum):
    """How a message list is shaped; the value is the name in presets."""

    NONE = "none"
    MERGE = "merge"
    SEMI = "semi"
    STRICT = "strict"
    SINGLE = "single"
    MERGE_TOOLS = "merge_tools"
    SEMI_TOOLS = "semi_tools"
    STRICT_TOOLS = "strict_tools"

    @property
    def keeps_tools(self) -> bool:
        """Tool calls and answers stay what they are."""
        return self.value.endswith("_tools")

    @property
    def basic(self) -> Mode:
        """The mode without regard to tools."""
        return Mode(self.value.removesuffix("_tools"))

    @property
    def is_semi(self) -> bool:
        """System messages behind the first become user messages."""
        return self.basic in (Mode.SEMI, Mode.STRICT)


_ALIASES = {"": Mode.NONE, "claude": Mode.MERGE}


def mode_of(name: str) -> Mode:
    """The mode of this name; the empty name is `none`, `claude` is `merge`.

    Raises:
        AssemblyError: there is no such mode.
    """
    known = _ALIASES.get(name)
    if known is not None:
        return known
    try:
        return Mode(name)
    except ValueError:
        message = f"there is no squash mode {name!r}: use one of {', '.join(Mode)}"
        raise AssemblyError(message) from None
