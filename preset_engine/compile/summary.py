"""The context summary: a tagged text of seven headed parts that stands for a conversation.

`render_summary` writes it, `parse_summary` reads it; a text that breaks the form is simply no summary::

    <context_compaction_summary>
    ## Goal
    Repair the lamp

    ## Discoveries
    - The wick is damp
    ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from preset_engine.errors import CompileError

OPEN, CLOSE = "<context_compaction_summary>", "</context_compaction_summary>"

# The heads in the order in which they are written, and the field each one fills.
_HEADS = {
    "Goal": "goal",
    "Instruction": "instruction",
    "Discoveries": "discoveries",
    "Completed": "completed",
    "Current Status": "current_status",
    "Likely next work": "likely_next_work",
    "Relevant files/directories": "relevant_files_directories",
}
_TEXTS = ("goal", "instruction", "current_status")


@dataclass(frozen=True, slots=True)
class Summary:
    """What a conversation was about: three texts that are never blank, four lists that may be empty."""

    goal: str
    instruction: str
    current_status: str
    discoveries: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    likely_next_work: tuple[str, ...] = ()
    relevant_files_directories: tuple[str, ...] = ()


def read_summary(body: Mapping[str, object]) -> Summary:
    """Read a summary object: texts are trimmed, blank list items dropped, line breaks in items made spaces.

    Raises:
        CompileError: `not_text`, `blank_text` or `not_a_list`, naming the field.
    """
    return Summary(
        goal=_text(body, "goal"),
        instruction=_text(body, "instruction"),
        current_status=_text(body, "current_status"),
        discoveries=_items(body, "discoveries"),
        completed=_items(body, "completed"),
        likely_next_work=_items(body, "likely_next_work"),
        relevant_files_directories=_items(body, "relevant_files_directories"),
    )


def write_summary(summary: Summary) -> dict[str, str | list[str]]:
    """The summary as a JSON object."""
    values = ((item.name, getattr(summary, item.name)) for item in fields(summary))
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values}


def _text(body: Mapping[str, object], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        message = f"the summary's {name!r} must be a text"
        raise CompileError(message, "not_text")
    if not value.strip():
        message = f"the summary's {name!r} must not be blank"
        raise CompileError(message, "blank_text")
    return value.strip()


def _items(body: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = body.get(name)
    if not isinstance(value, list | tuple):
        message = f"the summary's {name!r} must be a list of texts"
        raise CompileError(message, "not_a_list")
    if not all(isinstance(item, str) for item in value):
        message = f"the summary's {name!r} must hold texts only"
        raise CompileError(message, "not_text")
    lines = (" ".join(line.strip() for line in item.splitlines()).strip() for item in value)
    return tuple(line for line in lines if line)


def render_summary(summary: Summary) -> str:
    """The tagged text; checked as `read_summary` checks."""
    body = write_summary(read_summary(write_summary(summary)))
    parts = []
    for head, name in _HEADS.items():
        value = body[name]
        lines = [value] if isinstance(value, str) else [f"- {item}" for item in value]
        parts.append("\n".join([f"## {head}", *lines]))
    return "\n".join((OPEN, "\n\n".join(parts), CLOSE))


def parse_summary(content: object) -> Summary | None:
    """The summary a message's content holds, or None when it is no summary.

    The tags must be at both ends and all seven heads there. Unknown heads are skipped with their lines; list
    lines without a dash are dropped.
    """
    if not isinstance(content, str):
        return None
    text = content.strip()
    if not (text.startswith(OPEN) and text.endswith(CLOSE)):
        return None
    parts = _parts(text[len(OPEN) : -len(CLOSE)])
    if len(parts) < len(_HEADS):
        return None
    body: dict[str, object] = {
        name: "\n".join(lines)
        if name in _TEXTS
        else [line[2:] for line in lines if line.startswith("- ")]
        for name, lines in parts.items()
    }
    try:
        return read_summary(body)
    except CompileError:
        return None


def _parts(body: str) -> dict[str, list[str]]:
    """Lines under each known head; a head that comes twice starts anew."""
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (raw.strip() for raw in body.splitlines()):
        if line.startswith("## "):
            lines = []
            name = _HEADS.get(line[3:].strip())
            if name:
                parts[name] = lines
        elif line:
            lines.append(line)
    return parts
