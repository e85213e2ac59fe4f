"""A session's stored state, and a call that is made from it and ready to be sent: values on their way.

Also here: what the state remembers of the newest prompt's reported size, since it needs both.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from preset_engine.compile.mutations import ContextMutation
from preset_engine.compile.turn import CompiledTurn
from preset_engine.dialect import Dialect
from preset_engine.llm.request import Request
from preset_engine.messages import ChatMessage, JsonObject
from preset_engine.session.compression import Compressed, UsageBase, message_tokens
from preset_engine.session.frame import Frame
from preset_engine.session.meta import CompressionSnapshot, SessionMeta
from preset_engine.session.record import SessionRecord
from preset_engine.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class TurnView:
    """What a mutation producer may look at before a call.

    Attributes:
        session: the session's meta.
        history: the records that would be shown, as messages.
        turn: the user's text.
        generation_type: what sort of call it is.
    """

    session: SessionMeta
    history: tuple[ChatMessage, ...]
    turn: str
    generation_type: str


MutationProducer: TypeAlias = Callable[[TurnView], Awaitable[Sequence[ContextMutation]]]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A session's stored state at one version. The memory is not in it."""

    meta: SessionMeta
    records: tuple[SessionRecord, ...] = ()
    system_prompt: str | None = None
    insight: str | None = None
    variables: JsonObject = field(default_factory=dict)
    state: JsonObject = field(default_factory=dict)
    snapshot: CompressionSnapshot | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that is ready to be sent.

    Attributes:
        loaded: the state it was made from.
        frame: what the call is about.
        compressed: what of the history is covered by a summary.
        compiled: the messages with their plan and notes.
        request: what the adapter gets.
        insight: the insight that the prompt holds; None where there is none or no place for it.
        window_first: number of the window's first record; 0 when everything is held.
        dialect: the rules it was compiled by.
        is_limited: the model's window is known.
    """

    loaded: Loaded
    frame: Frame
    compressed: Compressed
    compiled: CompiledTurn
    request: Request
    insight: str | None = None
    window_first: int = 0
    dialect: Dialect = Dialect.native
    is_limited: bool = False


def read_base(loaded: Loaded) -> UsageBase | None:
    """The reported size of the newest prompt, from the session's state; None when it no longer fits the records."""
    usage = loaded.state.get("usage")
    if not isinstance(usage, dict):
        return None
    size, count, estimated = (usage.get(key) for key in ("input_tokens", "records", "estimated"))
    if not (isinstance(size, int) and isinstance(count, int) and isinstance(estimated, int)):
        return None
    if not 0 < count <= len(loaded.records):
        return None
    through = loaded.records[count - 1].number
    return UsageBase(size, through, estimated, str(usage.get("covered", "")))


def write_base(prepared: Prepared, input_tokens: int | None, counter: TokenCounter) -> JsonObject:
    """The state's entry for `read_base`; empty where the provider told nothing or no window is known."""
    if input_tokens is None or not prepared.is_limited:
        return {}
    shown = prepared.loaded.records
    kept = prepared.frame.keep_through
    count = len(shown) if kept is None else sum(record.number <= kept for record in shown)
    return {
        "input_tokens": input_tokens,
        "records": count + len(prepared.frame.added),
        "estimated": message_tokens(prepared.request.messages, counter),
        "covered": prepared.compressed.digest,
    }
