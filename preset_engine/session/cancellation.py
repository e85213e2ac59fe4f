"""Telling a cancellation that somebody asked for from one that leaks out of foreign code.

A tool, an observer or an adapter may wait for a task of its own that was cancelled; what it then raises looks like
the cancellation of the turn, and is its own failure.
"""

from __future__ import annotations

import asyncio


def is_asked_for() -> bool:
    """Whether the running task is being cancelled, by its owner or by a cancel scope."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
