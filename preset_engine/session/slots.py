"""What a session adds to a prompt beside its records: the four slots, as the compile stage takes them.

The memory is no parameter of anything here, on purpose: it is read by others and never sent.
"""

from __future__ import annotations

from preset_engine.content.content import Slots


def identity(label: str) -> str:
    """The identity message of a label (seed 000); empty for an empty label."""
    if not label:
        return ""
    return f"<session_identity>\n你当前在「{label}」子会话中。\n</session_identity>"


def make_slots(
    *,
    system_prompt: str | None = None,
    label: str = "",
    insight: str | None = None,
    summary: str = "",
    task: str = "",
    shared_memory: str = "",
) -> Slots:
    """The slots of one prompt. The label is today's label, so a rename shows in the next prompt."""
    return Slots(
        system_prompt=system_prompt or "",
        identity=identity(label),
        insight=insight or "",
        summary=summary,
        task=task,
        shared_memory=shared_memory,
    )
