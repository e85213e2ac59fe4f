"""Forking: what a child gets of its parent, and writing the child in one step.

A child starts with copies of the parent's records (all of them, none, or what a function picks), without
incomplete tool groups, and an opening line behind them if one is given. Memory and insight are never copied, and
afterwards the two know nothing of each other. The fourth context, a summary, becomes a `<parent_context>` block
at the end of the child's system prompt, so the child itself starts without records (seeds 000 and 003).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace

from preset_engine.errors import NotConfigured
from preset_engine.history.tool_groups import keep_whole_groups
from preset_engine.messages import Role
from preset_engine.session.config import (
    CompressFn,
    ContextFn,
    ForkContext,
    SessionConfig,
    read_context,
)
from preset_engine.session.meta import SessionMeta
from preset_engine.session.protocols import SessionStorage
from preset_engine.session.record import SessionRecord
from preset_engine.session.refine import FORK_COMPRESS_PROMPT, compress_with


@dataclass(frozen=True, slots=True)
class Child:
    """What is written of a new session.

    Attributes:
        id: its id; the topology node has the same.
        label: its label.
        system_prompt: its prompt; None leaves the slot unset, an empty text is a value.
        records: what it starts with, numbers of its own not yet given.
    """

    id: str
    label: str
    system_prompt: str | None = None
    records: tuple[SessionRecord, ...] = ()


async def inherited(
    records: Sequence[SessionRecord],
    context: ForkContext | ContextFn | None,
    opening: str | None,
    now: str,
) -> tuple[SessionRecord, ...]:
    """The records that a child starts with."""
    copies = await _picked(records, context)
    started = [replace(record, number=0) for record in keep_whole_groups(copies)]
    if opening:
        started.append(SessionRecord(Role.ASSISTANT.value, opening, timestamp=now))
    return tuple(started)


async def _picked(
    records: Sequence[SessionRecord], context: ForkContext | ContextFn | None
) -> Sequence[SessionRecord]:
    if context is ForkContext.INHERIT:
        return records
    if context is None or isinstance(context, ForkContext):
        return ()
    picked = context(records)
    return await picked if isinstance(picked, Awaitable) else picked


async def write_child(storage: SessionStorage, child: Child) -> SessionMeta:
    """Write the child, whether its node is there already or not. Call it inside a transaction."""
    meta = await storage.get_session(child.id)
    if meta is None or meta.label != child.label:
        meta = await storage.put_session(
            replace(meta or SessionMeta(child.id, ""), label=child.label)
        )
    if child.system_prompt is not None:
        await storage.put_system_prompt(child.id, child.system_prompt)
    if child.records:
        await storage.append_records(child.id, child.records)
    return meta


@dataclass(frozen=True, slots=True)
class ForkPlan:
    """A composed config and the context that is left for the session layer.

    Attributes:
        config: the child's config, a parent summary already in its system prompt.
        context: none, inherit or a function; None where nothing was said.
        summarised_by: which function made the summary: `fork_compress`, `compress`, `default`, or None.
    """

    config: SessionConfig
    context: ForkContext | ContextFn | None = None
    summarised_by: str | None = None


async def resolve_context(
    config: SessionConfig,
    context: ForkContext | str | ContextFn | None,
    records: Sequence[SessionRecord],
) -> ForkPlan:
    """Turn the context `compress` into a block of the system prompt; others pass through.

    Call it before anything is created: when the summary fails there is nothing to undo.

    Raises:
        NotConfigured: a summary is wanted and neither a function nor a model is there; an unknown name.
    """
    context = read_context(context)
    if context is not ForkContext.COMPRESS:
        return ForkPlan(config, context)
    function, name = _summary_function(config)
    whole = keep_whole_groups(records)
    if not whole:
        return ForkPlan(config, ForkContext.NONE)
    summary = function(whole)
    text = await summary if inspect.isawaitable(summary) else summary
    prompt = f"{config.system_prompt or ''}\n\n<parent_context>\n{text}\n</parent_context>"
    return ForkPlan(replace(config, system_prompt=prompt), ForkContext.NONE, name)


def _summary_function(config: SessionConfig) -> tuple[CompressFn, str]:
    if config.fork_compress is not None:
        return config.fork_compress, "fork_compress"
    if config.compress is not None:
        return config.compress, "compress"
    if config.adapter is not None:
        return compress_with(config.adapter, prompt=FORK_COMPRESS_PROMPT), "default"
    raise NotConfigured(
        "a fork with context 'compress' needs a compress function or a model; give the child one"
    )
