"""The world as a session sees it when nobody gives another: the present time, real randomness, fresh ids.

What is stored carries its time and what is sent may tell it, so a clock that stands still, which is right for
`compile_turn`, would be wrong here. Exact tokens need `settings.live_context()`; sizes are estimated here.
"""

from __future__ import annotations

import random
from datetime import datetime
from uuid import uuid4

from preset_engine.context import Context


def running_context() -> Context:
    """A context with the machine's clock and zone, real randomness and fresh ids."""
    return Context(clock=_now, random=random.random, new_id=fresh_id)


def fresh_id() -> str:
    """A random id that nobody has: 32 hexadecimal digits."""
    return uuid4().hex


def _now() -> datetime:
    return datetime.now().astimezone()
