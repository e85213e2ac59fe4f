"""Names under which context segments point at the history and at the newest input.

A reference counts when it equals one of the names exactly, after trimming.
"""

from __future__ import annotations

HISTORY_REFS = frozenset({"对话.历史", "history", "chat.history", "对话历史", "历史对话"})
TURN_REFS = frozenset({"用户.最新输入", "currentTurn", "user.latest", "用户最新输入"})


def is_history_ref(ref: str) -> bool:
    """Whether a tag means the dialogue history."""
    return ref.strip() in HISTORY_REFS


def is_current_turn_ref(ref: str) -> bool:
    """Whether a tag means the newest user input."""
    return ref.strip() in TURN_REFS
