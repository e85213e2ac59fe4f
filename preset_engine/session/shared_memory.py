"""Shared memory: short notes that all sessions of an agent may read and write. Optional, off by default.

The model sees an index (one line a note) between the system prompt and the identity, and three tools:
recall, remember, forget. The seeds' fixed order has no such slot, so nothing is sent unless an application
hands a `SharedMemory` to its agent (reference/seeds.md 1.14 and resolution 24).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from preset_engine.json_values import as_text
from preset_engine.llm.request import ToolSpec
from preset_engine.messages import JsonValue
from preset_engine.session.tools import Tool, ToolOutput

_HINT = (
    "Notes shared by all sessions. Call recall for a note's full text, remember to write one, "
    "forget to delete one."
)


@dataclass(frozen=True, slots=True)
class SharedNote:
    """One note: a line for the index, and the text behind it."""

    summary: str
    body: str = ""


class SharedMemory:
    """An ordered map of notes. Overwriting keeps a note's place; a note written anew goes last.

    All methods are plain functions, so no other task can run within one: writes never interleave.
    """

    def __init__(self, notes: Mapping[str, SharedNote] | None = None) -> None:
        self._notes: dict[str, SharedNote] = dict(notes or {})

    @property
    def slugs(self) -> tuple[str, ...]:
        """The notes' names, in order."""
        return tuple(self._notes)

    def get(self, slug: str) -> SharedNote | None:
        """The note of this name, or None."""
        return self._notes.get(slug)

    def put(self, slug: str, summary: str, body: str = "") -> None:
        """Write a note."""
        self._notes[slug] = SharedNote(summary, body)

    def remove(self, slug: str) -> bool:
        """Delete a note; whether there was one."""
        return self._notes.pop(slug, None) is not None

    def index(self) -> str:
        """What the model sees: the index block and how to use it; empty without notes."""
        if not self._notes:
            return ""
        lines = (f"- {slug}: {_one_line(note.summary)}" for slug, note in self._notes.items())
        body = "\n".join(lines)
        return f"<shared_memory_index>\n{body}\n</shared_memory_index>\n{_HINT}"

    def tools(self) -> tuple[Tool, ...]:
        """The three tools."""
        return (
            Tool(
                _spec("recall", "Read a shared note.", ("slug",)), self._recall, is_read_only=True
            ),
            Tool(
                _spec("remember", "Write a shared note.", ("slug", "summary", "body")),
                self._remember,
                is_idempotent=True,
            ),
            Tool(
                _spec("forget", "Delete a shared note.", ("slug",)),
                self._forget,
                is_idempotent=True,
            ),
        )

    def _recall(self, arguments: Mapping[str, JsonValue]) -> ToolOutput:
        slug = _text(arguments, "slug")
        note = self._notes.get(slug)
        if note is None:
            return ToolOutput(error=f"No note named {slug!r}", is_error=True)
        return ToolOutput(data=note.body or note.summary)

    def _remember(self, arguments: Mapping[str, JsonValue]) -> ToolOutput:
        slug = _text(arguments, "slug").strip()
        if not slug:
            return ToolOutput(error="A note needs a slug", is_error=True)
        self.put(slug, _text(arguments, "summary"), _text(arguments, "body"))
        return ToolOutput(data=f"Remembered {slug}")

    def _forget(self, arguments: Mapping[str, JsonValue]) -> ToolOutput:
        slug = _text(arguments, "slug")
        if not self.remove(slug):
            return ToolOutput(error=f"No note named {slug!r}", is_error=True)
        return ToolOutput(data=f"Forgot {slug}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(arguments: Mapping[str, JsonValue], key: str) -> str:
    return as_text(arguments.get(key))


def _spec(name: str, description: str, keys: tuple[str, ...]) -> ToolSpec:
    properties: dict[str, JsonValue] = {key: {"type": "string"} for key in keys}
    required: list[JsonValue] = [key for key in keys if key != "body"]
    return ToolSpec(
        name, description, {"type": "object", "properties": properties, "required": required}
    )
