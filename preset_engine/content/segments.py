"""Context segments: tagged texts in one order, from which both the bags and the flat text are made.

Segments are walked in order. What stands before the segment with a history tag goes to `worldBookBefore`; that
segment fills the history; what follows goes to `worldBookAfter`; the segment with a current-turn tag fills the
turn; what follows that goes to `postTurn`::

    persona, history, state, turn, task   ->   before | history | after | turn | post

The flat text holds the same sections, each once, parted by a ruled line: what a worker without a history is
given as one text. Source: reference/seeds.md, section 3.3; seeds/004.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from preset_engine.characters import JS_SPACE
from preset_engine.content.content import Block, Content

RULE = "\n\n---\n\n"
_NOTHING = Content()
_TAIL_LINES = re.compile(r"tail_lines_(\d+)")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s*)?")

HISTORY_TAGS = frozenset({"对话.历史", "history", "chat.history", "对话历史", "历史对话"})
TURN_TAGS = frozenset({"用户.最新输入", "currentTurn", "user.latest", "用户最新输入"})


def is_history_ref(ref: str) -> bool:
    """Whether a tag means the dialogue history: one of its names exactly, after trimming."""
    return ref.strip() in HISTORY_TAGS


def is_current_turn_ref(ref: str) -> bool:
    """Whether a tag means the newest input: one of its names exactly, after trimming."""
    return ref.strip() in TURN_TAGS


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment.

    Attributes:
        id: unique name.
        tags: keys into the inputs; a history or current-turn tag gives the segment its place.
        label: heading of the section; its heading marks are left out of a block's title.
        text: text of its own, used instead of the inputs.
        policy: `latest` and `concat` take a text whole, `tail_lines_N` its last N lines.
        is_stable: a hint for the cache.
    """

    id: str
    tags: tuple[str, ...] = ()
    label: str = ""
    text: str = ""
    policy: str = ""
    is_stable: bool = False

    @property
    def is_history(self) -> bool:
        """The segment stands for the dialogue history."""
        return any(map(is_history_ref, self.tags))

    @property
    def is_turn(self) -> bool:
        """The segment stands for the newest input."""
        return any(map(is_current_turn_ref, self.tags))

    @property
    def title(self) -> str:
        """Title of its block: the label without heading marks, else the id."""
        return _HEADING.sub("", self.label).strip(JS_SPACE) or self.id


@dataclass(frozen=True, slots=True)
class Section:
    """A segment with its text."""

    segment: Segment
    text: str

    @property
    def flat(self) -> str:
        """The section in the flat text: the label as it stands, a blank line, the text."""
        label = self.segment.label.strip(JS_SPACE)
        return f"{label}\n\n{self.text}" if label else self.text

    @property
    def block(self) -> Block:
        """The section as a block of a bag."""
        return Block(self.segment.title, self.text)


@dataclass(frozen=True, slots=True)
class Sections:
    """All sections with text, in order.

    Attributes:
        sections: one for each segment that has text.
        tail: sections behind the segments (the task of this step); they go to `postTurn` in any case.
    """

    sections: tuple[Section, ...]
    tail: tuple[Section, ...] = ()

    @property
    def flat(self) -> str:
        """One text of all sections, parted by ruled lines."""
        return RULE.join(section.flat for section in (*self.sections, *self.tail))

    @property
    def has_history(self) -> bool:
        """A segment stands for the history, so the model is sent real turns; otherwise one flat text."""
        return any(section.segment.is_history for section in self.sections)

    def to_content(self, base: Content = _NOTHING) -> Content:
        """Sort the sections into bags; each lands in exactly one place.

        Args:
            base: what else the content holds; its history and turn stay where no segment gives them.
        """
        bags: tuple[list[Block], list[Block], list[Block]] = ([], [], [])
        phase = 0
        content = base
        for section in self.sections:
            if section.segment.is_history:
                content = replace(content, history=section.text)
                phase = max(phase, 1)
            elif section.segment.is_turn:
                content = replace(content, turn=section.text)
                phase = 2
            else:
                bags[phase].append(section.block)
        bags[2].extend(section.block for section in self.tail)
        return replace(
            content,
            before=(*base.before, *bags[0]),
            after=(*base.after, *bags[1]),
            post_turn=(*base.post_turn, *bags[2]),
        )


def read_sections(
    segments: Iterable[Segment], inputs: Mapping[str, str], tail: Iterable[Segment] = ()
) -> Sections:
    """Give every segment its text; a segment without text vanishes.

    Args:
        segments: in the order of the prompt.
        inputs: texts by tag; an alias of the history or turn tag counts as the tag.
        tail: segments that close the prompt.
    """
    return Sections(_with_text(segments, inputs), _with_text(tail, inputs))


def _with_text(segments: Iterable[Segment], inputs: Mapping[str, str]) -> tuple[Section, ...]:
    found = (Section(segment, _text_of(segment, inputs)) for segment in segments)
    return tuple(section for section in found if section.text)


def _text_of(segment: Segment, inputs: Mapping[str, str]) -> str:
    own = segment.text.strip(JS_SPACE)
    if own:
        return own
    parts: list[str] = []
    for tag in segment.tags:
        text = _cut(_input(tag.strip(), inputs), segment.policy).strip(JS_SPACE)
        if text and not any(_holds(part, text) for part in parts):
            parts.append(text)
    return "\n\n".join(parts)


def _input(tag: str, inputs: Mapping[str, str]) -> str:
    if tag in inputs:
        return inputs[tag]
    for aliases in (HISTORY_TAGS, TURN_TAGS):
        if tag in aliases:
            return next((inputs[alias] for alias in sorted(aliases) if inputs.get(alias)), "")
    return ""


def _cut(text: str, policy: str) -> str:
    found = _TAIL_LINES.fullmatch(policy)
    count = int(found[1]) if found else 0
    return "\n".join(text.splitlines()[-count:]) if count else text


def _holds(part: str, text: str) -> bool:
    """Whether a text repeats a part, or one of its paragraphs begins or ends with it."""
    return part == text or f"\n\n{text}" in part or part.startswith(f"{text}\n\n")
