r"""History text to turns and back.

Text before the first head is preamble and belongs to `worldBookBefore`; a text without any head is preamble
as a whole. Bodies are trimmed and keep their inner blank lines; empty turns vanish::

    parse_history("很久以前……\n用户：推门\n助手：门后是雨")
        ->  preamble "很久以前……", user "推门", assistant "门后是雨"

Source: golden/seeds `seed.parse_history`, `wa.history_append`, `wa.history_fallback`; reference/seeds.md, 3.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from preset_engine.characters import JS_SPACE
from preset_engine.errors import AssemblyError, Note, Weight
from preset_engine.history.heads import (
    ROLE_NAMES,
    HeadForm,
    escape_line,
    read_head,
    unescape_line,
    write_head,
)
from preset_engine.messages import ChatMessage


@dataclass(frozen=True, slots=True)
class ParsedHistory:
    """A history text, taken apart.

    Attributes:
        messages: the turns, oldest first.
        preamble: the text before the first head, trimmed; empty when there is none.
    """

    messages: tuple[ChatMessage, ...]
    preamble: str = ""


def parse_history(text: str) -> ParsedHistory:
    """Read the turns of a text; any mixture of the three head forms."""
    preamble: list[str] = []
    turns: list[tuple[str, list[str]]] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        head = read_head(line)
        if head is not None:
            turns.append((head.role, [head.text]))
        else:
            (turns[-1][1] if turns else preamble).append(unescape_line(line))
    bodies = ((role, "\n".join(lines).strip(JS_SPACE)) for role, lines in turns)
    messages = tuple(ChatMessage(role, body) for role, body in bodies if body)
    return ParsedHistory(messages, "\n".join(preamble).strip(JS_SPACE))


@dataclass(frozen=True, slots=True)
class PrintedHistory:
    """A history as text, with remarks on what a text cannot hold."""

    text: str
    notes: tuple[Note, ...] = ()


def print_history(
    messages: Iterable[ChatMessage],
    preamble: str = "",
    form: HeadForm = HeadForm.HEADING,
    *,
    english: bool = False,
) -> PrintedHistory:
    """Write turns as text that `parse_history` reads back.

    Tool messages, tool calls and media have no text form: they are left out, with one note.

    Args:
        messages: the turns, oldest first.
        preamble: text in front of the first turn.
        form: how heads are written; the bracket and colon forms put the body on the head's line.
        english: English head names.
    """
    blocks = [block for block in [_escaped(preamble)] if block]
    lost = 0
    for message in messages:
        lost += _holds_more_than_text(message)
        body = _escaped(message.text, begins_line=form is HeadForm.HEADING)
        if body and message.role in ROLE_NAMES:
            blocks.append(write_head(message.role, form, english=english) + body)
    return PrintedHistory("\n\n".join(blocks), _lost_notes(lost))


def append_turn(existing: str, role: str, text: str) -> str:
    """The history text with one more turn in the heading form; a blank turn changes nothing.

    Args:
        existing: the text so far.
        role: `user`, `assistant` or `system`, or the Chinese name of one.
        text: what was said.

    Raises:
        AssemblyError: a role that has no head in a text.
    """
    body = _escaped(text)
    blocks = [existing.strip(JS_SPACE)]
    if body:
        name = {chinese: wire for wire, chinese in ROLE_NAMES.items()}.get(role, role)
        if name not in ROLE_NAMES:
            known = ", ".join((*ROLE_NAMES, *ROLE_NAMES.values()))
            raise AssemblyError(f"a history text has no head for {role!r}: use one of {known}")
        blocks.append(write_head(name, HeadForm.HEADING) + body)
    return "\n\n".join(block for block in blocks if block)


def fallback_history(history: str = "", event_stream: str = "", latest_user: str = "") -> str:
    """The history text, or one made of the event stream and the newest input where there is none.

    Made for showing and for projections; it is never stored.
    """
    known = history.strip(JS_SPACE)
    if known:
        return known
    events = event_stream.strip(JS_SPACE)
    made = f"## 事件流\n\n{events}" if events else ""
    return append_turn(made, "user", latest_user)


def _escaped(text: str, *, begins_line: bool = True) -> str:
    first, *rest = text.replace("\r\n", "\n").replace("\r", "\n").strip(JS_SPACE).split("\n")
    return "\n".join([escape_line(first) if begins_line else first, *map(escape_line, rest)])


def _holds_more_than_text(message: ChatMessage) -> bool:
    has_parts = isinstance(message.content, tuple) and any(
        part.get("type") != "text" for part in message.content
    )
    return has_parts or bool(message.tool_calls) or message.role not in ROLE_NAMES


def _lost_notes(lost: int) -> tuple[Note, ...]:
    if not lost:
        return ()
    note = Note(
        "transcript-text-incomplete",
        f"{lost} messages hold tool calls, tool results or media, which a history text cannot hold",
        path="history",
        advice="export the records as JSON lines to keep them",
        weight=Weight.WARNING,
        count=lost,
    )
    return (note,)
