"""How one session works, beside its model and its tools: prompts, functions, producers, attempts."""

from __future__ import annotations

from dataclasses import dataclass, field

from preset_engine.session.call import CallListener
from preset_engine.session.config import CompressFn, ConsolidateFn
from preset_engine.session.prepared import MutationProducer
from preset_engine.session.prompt import PromptSetup
from preset_engine.session.shared_memory import SharedMemory


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """How a session works; the same for its whole life in this process.

    Attributes:
        prompt: how prompts are made.
        compress: makes summaries of what no longer fits; None asks the session's own model.
        consolidate: makes the memory; None refuses `consolidate()`.
        shared_memory: notes shared with other sessions; None sends no index.
        producers: asked for mutations before each call, in order.
        listener: told of every model call after its end; what it raises is logged and fails nothing.
        attempts: how often one call is made at most while other writers commit first.
    """

    prompt: PromptSetup = field(default_factory=PromptSetup)
    compress: CompressFn | None = None
    consolidate: ConsolidateFn | None = None
    shared_memory: SharedMemory | None = None
    producers: tuple[MutationProducer, ...] = ()
    listener: CallListener | None = None
    attempts: int = 5
