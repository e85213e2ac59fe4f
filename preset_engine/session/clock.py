"""The world as a session sees it when nobody gives another: the present time, real randomness, fresh ids.

What is stored carries its time and what is sent may tell it, so a clock that stands still, which is right for
`compile_turn`, would be wrong here. Exact tokens need `settings.live_context()`; sizes are estimated here.
"""

from __future__ import annotations

import random
import uuid
from datetime import datetime

from preset_engine.context import Context


def running() -> Context:
    """A context with the machine's clock and zone, real randomness and fresh ids."""
    return Context(
        clock=_now,
        random=random.random,
        new_id=_new_id,
    )


def _now() -> datetime:
    return datetime.now().astimezone()


def _new_id() -> str:
    return uuid.uuid4().hex
