"""Let the engine forget: what is remembered from turn to turn, in one list, for benchmarks and tests.

Nothing in it ever shows in a result; it only saves work (tests/assembler/test_memories.py).
"""

from __future__ import annotations

from preset_engine.assembler import (
    collection,
    examples,
    inject,
    layout,
    recall,
    scene,
    seen,
    skeleton,
    turns,
)
from preset_engine.macros.parses import SHARED_PARSES
from preset_engine.squash import native, runs


def forget_chats() -> None:
    """Forget the chats that were seen."""
    turns.known.forget()
    seen.tools.forget()
    runs._known.clear()


def forget_presets() -> None:
    """Forget the presets that were prepared."""
    skeleton._known.clear()


def forget_texts() -> None:
    """Forget how texts are parsed, what they gave and what was made of them."""
    recall._voices.clear()
    collection._prepared.clear()
    layout._known.clear()
    inject._groups.clear()
    native._zones.clear()
    examples.example_drafts.cache_clear()
    examples.parse_examples.cache_clear()
    scene._filled_card.cache_clear()
    SHARED_PARSES.forget()
