"""Experiences: short lessons that live in the system prompt as one tagged block.

    You write a log book.

    <experience>
    - [exp_1] The keeper counts the ships aloud.
    </experience>

The block is the stored form; `split_prompt` reads it, `join_prompt` writes it. Blocks that the framework put
into a prompt for one request (tool practices, principles, contracts) are no part of the stored prompt.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from preset_engine.errors import CompileError

OPEN, CLOSE = "<experience>", "</experience>"
PRINCIPLES_TAGS = ("<must_principles>", "</must_principles>")
TOOL_TAGS = ("<tool_best_practices>", "</tool_best_practices>")

_FRAMEWORK_TAGS = (
    TOOL_TAGS,
    ("<runtime_primitive_contract>", "</runtime_primitive_contract>"),
    ("[SelfReference Memory Contract]", "[/SelfReference Memory Contract]"),
    PRINCIPLES_TAGS,
)
_LINE = re.compile(r"-\s*\[([^\]]+)\]\s+(\S.*)")
_NUMBERED = re.compile(r"exp_([0-9]+)")


@dataclass(frozen=True, slots=True)
class Experience:
    """One lesson: an id (`exp_3`) and its text on one line."""

    id: str
    text: str


def split_prompt(prompt: str) -> tuple[str, tuple[Experience, ...]]:
    """The prompt without its experience block, and the block's experiences.

    Only the first block is read; text before and after it is joined by a blank line; malformed lines are
    skipped; a block that is never closed is cut off.
    """
    before, opened, rest = prompt.partition(OPEN)
    block, closed, after = rest.partition(CLOSE)
    if not opened or not closed:
        return before.strip(), ()
    parts = [part for part in (before.strip(), after.strip()) if part]
    return "\n\n".join(parts), tuple(_read_lines(block))


def _read_lines(block: str) -> Iterable[Experience]:
    for line in block.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match and match[1].strip():
            yield Experience(match[1].strip(), _one_line(match[2]))


def join_prompt(base: str, experiences: Sequence[Experience]) -> str:
    """The prompt with its experience block; the bare prompt when there is nothing to remember."""
    if not experiences:
        return base.strip()
    lines = [f"- [{item.id}] {item.text}" for item in experiences]
    block = "\n".join((OPEN, *lines, CLOSE))
    return f"{base.strip()}\n\n{block}" if base.strip() else block


def revise(
    experiences: Iterable[Experience], forget: Collection[str], remember: Iterable[str]
) -> tuple[Experience, ...]:
    """Forget first, then remember: the order inside a batch plays no part.

    New ids go on from the highest number that is left. A text that is there already is not added again.

    Raises:
        CompileError: `blank_text` for a text of white space only.
    """
    kept = [item for item in experiences if item.id not in forget]
    number = max(
        (int(match[1]) for item in kept if (match := _NUMBERED.fullmatch(item.id))), default=0
    )
    known = {item.text for item in kept}
    for text in map(_checked, remember):
        if text not in known:
            number += 1
            known.add(text)
            kept.append(Experience(f"exp_{number}", text))
    return tuple(kept)


def _checked(text: str) -> str:
    line = _one_line(text)
    if not line:
        message = "an experience to remember is blank; give it a text or leave it out"
        raise CompileError(message, "blank_text")
    return line


def _one_line(text: str) -> str:
    return " ".join(text.split())


def without_framework_blocks(prompt: str) -> str:
    """The prompt without the blocks that were put in for one request."""
    for opened, closed in _FRAMEWORK_TAGS:
        prompt = without_block(prompt, opened, closed)
    return prompt


def without_block(text: str, opened: str, closed: str) -> str:
    """The stripped text without any stretch from `opened` to `closed`; an unclosed one is cut to the end."""
    kept: list[str] = []
    while True:
        before, found, text = text.partition(opened)
        kept.append(before)
        if not found:
            return "".join(kept).strip()
        text = text.partition(closed)[2]
