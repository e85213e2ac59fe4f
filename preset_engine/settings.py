"""What an application or the command line runs with: the live context.

The core never looks at the clock or the environment; this module does, once, and hands the result in.
"""

from __future__ import annotations

from dataclasses import replace

from preset_engine.context import Context
from preset_engine.errors import Note
from preset_engine.session.clock import running_context
from preset_engine.vocabulary import load_counter

DEFAULT_ENCODING = "o200k_base"


def live_context(encoding: str = DEFAULT_ENCODING) -> tuple[Context, tuple[Note, ...]]:
    """The machine's clock and zone, real randomness, fresh ids and exact tokens.

    Args:
        encoding: the tiktoken vocabulary that counts.

    Returns:
        The context, and notes on what could not be had (an estimate in place of a vocabulary).
    """
    counter, notes = load_counter(encoding)
    return replace(running_context(), tokens=counter), notes
