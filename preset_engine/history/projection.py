"""Old projections of a history text: how much of it a step saw before windows existed.

`fixed` shows none of it, `fields` the newest 5 blocks, `summary` and `brief` 20, `full` and anything else 80.
Blocks begin at heads; without heads they are parted by blank lines, else they are lines. A body in this form
moves at every turn, so new code uses the window with hysteresis instead (`history.window`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from preset_engine.characters import JS_SPACE

NoticeKind = Literal["empty", "not_injected", "older_left_out"]
_KEPT_BLOCKS = {"fields": 5, "summary": 20, "brief": 20}
_BLOCK_START = re.compile(r"\n(?=##\s|【|(?:用户|助手|系统)[:：])")


@dataclass(frozen=True, slots=True)
class Projection:
    """What a step sees of the history.

    Attributes:
        body: the newest blocks, parted by blank lines.
        notice: why something is missing, or None.
        kept_blocks: how many blocks `older_left_out` kept; 0 otherwise.
    """

    body: str
    notice: NoticeKind | None = None
    kept_blocks: int = 0

    @property
    def text(self) -> str:
        """The body under a notice in words."""
        words = {
            "empty": "（还没有对话）",
            "not_injected": "（本步不含对话正文）",
            "older_left_out": f"（只含最近 {self.kept_blocks} 段）",
        }
        lines = [words[self.notice]] if self.notice else []
        return "\n\n".join([*lines, *([self.body] if self.body else [])])


def project_history(text: str, projection: str | None = None) -> Projection:
    """Cut a history text to what a projection shows."""
    whole = text.replace("\r\n", "\n").strip(JS_SPACE)
    level = (projection or "full").strip().lower()
    if level == "fixed":
        return Projection("", "not_injected" if whole else None)
    if not whole:
        return Projection("", "empty")
    blocks = split_blocks(whole)
    limit = _KEPT_BLOCKS.get(level, 80)
    body = "\n\n".join(blocks[-limit:])
    if len(blocks) <= limit:
        return Projection(body)
    return Projection(body, "older_left_out", limit)


def split_blocks(text: str) -> list[str]:
    """The blocks of a history text: by heads, else by blank lines, else by lines."""
    for parts in (_BLOCK_START.split(text), re.split(r"\n{2,}", text)):
        blocks = [block for part in parts if (block := part.strip(JS_SPACE))]
        if len(blocks) >= 2:
            return blocks
    return [line for part in text.split("\n") if (line := part.strip(JS_SPACE))]
