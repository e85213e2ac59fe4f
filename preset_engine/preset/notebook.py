"""Collects the notes of one import: one note a code, however many places it has.

A real file has hundreds of entries; a remark for each would bury what matters. The first place is named,
the rest is counted::

    notes.add("role-unknown", "the role 'model' is read as 'system'", "$.prompts[3].role")
    notes.add("role-unknown", "the role '' is read as 'system'", "$.prompts[7].role")
    -> role-unknown, $.prompts[3].role, "the role 'model' is read as 'system'; 2 places in all", count 2
"""

from __future__ import annotations

from preset_engine.errors import Note, Weight
from preset_engine.preset.note_codes import NOTE_KINDS

_RANK = {Weight.ERROR: 0, Weight.WARNING: 1, Weight.INFO: 2}


class Notebook:
    """Notes by code; the weight and the advice come from the table of codes."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, str]] = {}
        self._count: dict[str, int] = {}

    def add(self, code: str, message: str, path: str = "", count: int = 1) -> None:
        """Write a remark down; of several with one code the first is shown.

        Args:
            code: a key of `NOTE_KINDS`.
            message: what was found and done, one line without secrets.
            path: JSON path of the place.
            count: how many places this call stands for.
        """
        self._first.setdefault(code, (message, path))
        self._count[code] = self._count.get(code, 0) + count

    def to_notes(self) -> tuple[Note, ...]:
        """The notes, weightiest first; among equals in the order they were found."""
        notes = [self._note(code) for code in self._first]
        return tuple(sorted(notes, key=lambda note: _RANK[note.weight]))

    def _note(self, code: str) -> Note:
        message, path = self._first[code]
        count = self._count[code]
        kind = NOTE_KINDS[code]
        if count > 1:
            message = f"{message}; {count} places in all"
        return Note(code, message, path, kind.advice, kind.weight, count)


def shown(value: object, limit: int = 40) -> str:
    """A value of the file as it may stand in a message: quoted, printable, on one line, cut."""
    if isinstance(value, (list, dict)):  # may hold anything, secrets too
        return "a list" if isinstance(value, list) else "an object"
    text = ascii(value) if not isinstance(value, str) else repr(value)
    text = "".join(
        character if character.isprintable() else f"\\u{ord(character):04x}" for character in text
    )
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
