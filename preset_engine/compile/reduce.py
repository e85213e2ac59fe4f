"""Stage 1: a transcript and pending mutations become a clean transcript, and the snapshot is brought up to date.

This stage knows neither presets nor tools nor providers. A loop uses it alone to keep its state between two
model calls (seed document 002).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from preset_engine.compile.apply import apply_mutations
from preset_engine.compile.mutations import ContextMutation
from preset_engine.compile.selfref import DataFromSelfRef, has_marks, parse_selfref
from preset_engine.compile.transcript import Transcript
from preset_engine.messages import ChatMessage


@dataclass(frozen=True, slots=True)
class ReducedTurnContext:
    """What stage 1 gives: the transcript with all mutations applied, and the snapshot that fits it."""

    transcript: Transcript
    selfref_snapshot: DataFromSelfRef | None = None


def reduce_turn_context(
    transcript: Iterable[ChatMessage],
    pending_mutations: Iterable[ContextMutation] = (),
    selfref_snapshot: DataFromSelfRef | None = None,
) -> ReducedTurnContext:
    """Apply the mutations, then refresh the snapshot.

    A given snapshot is read anew from the transcript when that carries a mark (an experience block or a
    summary), or when an experience was forgotten. Without a snapshot none is made.

    Raises:
        CompileError: as `apply_mutations` does.
    """
    applied = apply_mutations(tuple(transcript), pending_mutations)
    snapshot = selfref_snapshot
    if snapshot is not None and (applied.has_forgotten or has_marks(applied.transcript)):
        snapshot = parse_selfref(applied.transcript)
    return ReducedTurnContext(applied.transcript, snapshot)
