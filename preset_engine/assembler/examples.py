r"""Dialogue examples: a card's text becomes blocks of parts, each part one line of the model's list.

SillyTavern's rules (reference, section 9): blocks are parted by `<START>` in any case; inside a block only a
change of speaker closes a part; lines before the first speaker belong to the first part; two lines of one
speaker stay one part::

    <START>\n{{user}}: Hi\n{{char}}: Hello  ->  [[("user", "Hi"), ("char", "Hello")]]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from preset_engine.assembler.pieces import draft_of, draft_text
from preset_engine.characters import JS_SPACE
from preset_engine.messages import Draft, Origin, OriginKind, Piece

_START = re.compile(re.escape("<START>"), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ExamplePart:
    """One part of an example block: whose it is (`user` or `char`), and its text."""

    speaker: str
    text: str


ExampleBlock = tuple[ExamplePart, ...]


def split_blocks(text: str) -> list[str]:
    """The blocks of an examples text, trimmed; blocks without text stay (a lone head in the prompt)."""
    if not text or text == "<START>":
        return []
    if not text.startswith("<START>"):
        text = "<START>\n" + text
    return [block.strip(JS_SPACE) for block in _START.split(text)[1:]]


def parse_block(block: str, user: str, char: str) -> ExampleBlock:
    """The parts of one block; a block without a speaker line has none."""
    parts: list[ExamplePart] = []
    lines: list[str] = []
    speaker = ""
    names = {"user": f"{user}:", "char": f"{char}:"}
    for line in block.split("\n"):
        now = _speaker_of(line, names, speaker)
        if now != speaker:
            if speaker:
                parts.append(_close(speaker, lines, names))
                lines = []
            speaker = now
        lines.append(line)
    if speaker:
        parts.append(_close(speaker, lines, names))
    return tuple(parts)


@lru_cache(maxsize=64)
def parse_examples(text: str, user: str, char: str) -> tuple[ExampleBlock, ...]:
    """All blocks of an (expanded) examples text."""
    return tuple(parse_block(block, user, char) for block in split_blocks(text))


@lru_cache(maxsize=16)
def example_drafts(
    blocks: tuple[ExampleBlock, ...], head: str, *, volatile: bool
) -> tuple[Draft, ...]:
    """The messages of example blocks; most turns of a chat send the same.

    Args:
        blocks: the blocks.
        head: the text in front of each block, its macros run; empty for none.
        volatile: the examples' own macros can give another text next turn.
    """
    place = "$.new_example_chat_prompt"
    control = Origin(OriginKind.CONTROL, "newChat", "newChat", place)
    found: list[Draft] = []
    for number, block in enumerate(blocks):
        if head:
            found.append(draft_text("system", head, control, is_fixed=True))
        origin = Origin(
            OriginKind.EXAMPLE, str(number), f"Example {number + 1}", "card.mes_example"
        )
        for part in block:
            name = "example_user" if part.speaker == "user" else "example_assistant"
            pieces = (Piece(origin, part.text, volatile),) if part.text else ()
            found.append(draft_of("system", pieces, name=name))
    return tuple(found)


def _speaker_of(line: str, names: dict[str, str], speaker: str) -> str:
    if line.startswith(names["user"]):
        return "user"
    if line.startswith(names["char"]):
        return "char"
    return speaker


def _close(speaker: str, lines: list[str], names: dict[str, str]) -> ExamplePart:
    return ExamplePart(speaker, "\n".join(lines).replace(names[speaker], "", 1).strip(JS_SPACE))
