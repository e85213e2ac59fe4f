"""Content of the wrong type is refused by its field's name, before it fails somewhere deep inside.

Only the outer types are looked at, and of a list its first item, so a long history costs nothing; what is empty
passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from preset_engine.content.content import Block, Content, Persona, Slots
from preset_engine.errors import AssemblyError
from preset_engine.messages import ChatMessage, ChatRecord


def check_content(content: Content) -> None:
    """Refuse content with a field of the wrong type.

    Raises:
        AssemblyError: names the field and what belongs there.
    """
    for name, is_right, wanted in _FIELDS:
        value = getattr(content, name)
        if (value or value is None) and not is_right(value):
            message = f"Content.{name} is {_shown(value)}; give {wanted}"
            raise AssemblyError(message)


def _shown(value: object) -> str:
    if isinstance(value, list | tuple) and value:
        return f"a {type(value).__name__} of {type(value[0]).__name__}"
    return "None" if value is None else f"of type {type(value).__name__}"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _maybe(kind: type) -> Callable[[object], bool]:
    return lambda value: value is None or isinstance(value, kind)


def _listed(*kinds: type) -> Callable[[object], bool]:
    """A list, by its first item."""

    def is_list(value: object) -> bool:
        if isinstance(value, str) or not isinstance(value, Sequence):
            return False
        return not value or isinstance(value[0], kinds)

    return is_list


_records = _listed(ChatMessage, ChatRecord)


def _is_history(value: object) -> bool:
    return isinstance(value, str) or _records(value)


_BLOCKS = "a list of Block(title, body)"
_FIELDS: tuple[tuple[str, Callable[[object], bool], str], ...] = (
    ("before", _listed(Block), _BLOCKS),
    ("after", _listed(Block), _BLOCKS),
    ("post_turn", _listed(Block), _BLOCKS),
    (
        "history",
        _is_history,
        "a text, or a list of ChatMessage or ChatRecord (load_history and parse_messages make them)",
    ),
    ("slots", _maybe(Slots), "Slots or None"),
    ("turn", _is_text, "a text"),
    ("tail", _listed(ChatMessage), "a list of ChatMessage"),
    ("user", _is_text, "a text"),
    ("char", _is_text, "a text"),
    ("persona", _maybe(Persona), "Persona(name, description) or None"),
    ("card", _maybe(Mapping), "the card's JSON object or None"),
    ("world_books", _listed(Mapping), "a list of JSON objects"),
    ("note", _maybe(Mapping), "a JSON object or None"),
    ("regex_scripts", _listed(Mapping), "a list of JSON objects"),
    ("variables", _is_mapping, "a mapping"),
    ("global_variables", _is_mapping, "a mapping"),
    ("generation_type", _is_text, "a text"),
    ("settings", _is_mapping, "a mapping"),
)
