"""Names in a list of messages, folded into the texts as `Name: `."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from preset_engine.json_values import as_list
from preset_engine.messages import ChatMessage, JsonValue


@dataclass(frozen=True, slots=True)
class Names:
    """Who takes part.

    Attributes:
        char: the character's name; empty puts no prefix.
        user: the user's name; likewise.
        group: names of the group's members; a text that already begins with one gets no prefix.
    """

    char: str = ""
    user: str = ""
    group: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, body: Mapping[str, JsonValue]) -> Names:
        """Read `charName`, `userName`, `groupNames` (as SillyTavern's page sends them)."""
        group = body.get("groupNames")
        members = as_list(group)
        return cls(
            char=str(body.get("charName") or ""),
            user=str(body.get("userName") or ""),
            group=tuple(name for name in members if isinstance(name, str) and name),
        )

    def char_prefix(self, text: str) -> str:
        """`Char: `, unless the text begins with it or with a member's prefix."""
        if any(text.startswith(f"{member}: ") for member in self.group):
            return ""
        return prefix_of(self.char, text)

    def user_prefix(self, text: str) -> str:
        """`User: `, unless the text begins with it."""
        return prefix_of(self.user, text)


NO_NAMES = Names()


def prefix_of(name: str | None, text: str) -> str:
    """`Name: `, unless there is no name or the text begins with it."""
    return f"{name}: " if name and not text.startswith(f"{name}: ") else ""


def name_prefix(message: ChatMessage, text: str, names: Names) -> str:
    """The prefix that stands for a message's `name` field: examples are the only named system messages."""
    if message.role != "system":
        return prefix_of(message.name, text)
    if message.name == "example_assistant":
        return names.char_prefix(text)
    if message.name == "example_user":
        return names.user_prefix(text)
    return ""
