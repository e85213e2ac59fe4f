"""A character card from its JSON: V1 (flat), V2 and V3 (under `data`) give one value.

Nothing is expanded here; texts are trimmed as SillyTavern trims them when it reads a card. A card that is
damaged gives what can be read: every field may be empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from preset_engine.characters import JS_SPACE
from preset_engine.json_values import as_list, as_object
from preset_engine.macros.view import CardFields
from preset_engine.messages import JsonObject, JsonValue

_ROLES = ("system", "user", "assistant")
_FORBIDDEN_IN_NAMES = re.compile(r'[/?<>\\:*|"\x00-\x1f\x80-\x9f]')


@dataclass(frozen=True, slots=True)
class DepthNote:
    """The card's own note for a place in the chat (`extensions.depth_prompt`).

    Attributes:
        text: raw text, trimmed; empty when the card has none.
        depth: in messages from the end.
        role: wire name of the role.
    """

    text: str = ""
    depth: int = 4
    role: str = "system"


@dataclass(frozen=True, slots=True)
class Card:
    """A character card.

    Attributes:
        name: the character's name as written.
        fields: the texts, raw.
        depth_note: the card's depth note.
        book: the embedded world book as JSON, or None.
        extensions: the card's extension object, kept whole.
    """

    name: str = ""
    fields: CardFields = field(default_factory=CardFields)
    depth_note: DepthNote = field(default_factory=DepthNote)
    book: JsonObject | None = None
    extensions: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        """The name as SillyTavern keeps it on import, where it becomes a file name."""
        return _FORBIDDEN_IN_NAMES.sub("", self.name).rstrip(". ")


def read_card(body: Mapping[str, JsonValue]) -> Card:
    """Read a card's JSON of any version; wrong types are read as absent."""
    inner = body.get("data")
    data: Mapping[str, JsonValue] = inner if isinstance(inner, dict) else body
    extensions = as_object(data.get("extensions"))
    note = read_depth_note(extensions.get("depth_prompt"))
    book = data.get("character_book")
    return Card(
        name=_text(data, body, "name"),
        fields=CardFields(
            description=_text(data, body, "description"),
            personality=_text(data, body, "personality"),
            scenario=_text(data, body, "scenario"),
            examples=_text(data, body, "mes_example"),
            system_prompt=_text(data, {}, "system_prompt"),
            post_history=_text(data, {}, "post_history_instructions"),
            depth_prompt=note.text,
            creator_notes=_text(data, {}, "creator_notes"),
            version=_text(data, {}, "character_version"),
            greetings=_greetings(data, body),
        ),
        depth_note=note,
        book=book if isinstance(book, dict) else None,
        extensions=extensions,
    )


def read_depth_note(value: JsonValue) -> DepthNote:
    """Read `extensions.depth_prompt`; depth 4 and role system where they are missing or odd."""
    if not isinstance(value, dict):
        return DepthNote()
    text, depth, role = value.get("prompt"), value.get("depth"), value.get("role")
    return DepthNote(
        text=text.strip(JS_SPACE) if isinstance(text, str) else "",
        depth=depth if isinstance(depth, int) and not isinstance(depth, bool) else 4,
        role=role_name(role),
    )


def role_name(value: JsonValue) -> str:
    """A role from SillyTavern's number (0 system, 1 user, 2 assistant) or its name; else `system`."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_ROLES):
        return _ROLES[value]
    return value if isinstance(value, str) and value in _ROLES else "system"


def _greetings(data: Mapping[str, JsonValue], body: Mapping[str, JsonValue]) -> tuple[str, ...]:
    first = _text(data, body, "first_mes")
    others = as_list(data.get("alternate_greetings"))
    texts = tuple(text.strip(JS_SPACE) for text in others if isinstance(text, str))
    return (first, *texts) if first or texts else ()


def _text(first: Mapping[str, JsonValue], second: Mapping[str, JsonValue], key: str) -> str:
    for source in (first, second):
        value = source.get(key)
        if isinstance(value, str):
            return value.strip(JS_SPACE)
    return ""
