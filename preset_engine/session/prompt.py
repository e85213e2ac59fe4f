"""From a session's stored state to the request: the frame, the window, the summary, the slots, `compile_turn`.

`compile_turn` is the only thing that orders messages. With no preset its built-in skeleton is Stello's fixed
order; with one, the preset decides (design decision 6). What is read from the store is one `Loaded`, what is
ready to be sent one `Prepared`; both are values, so a prompt can be looked at without a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from preset_engine.compile.mutations import ContextMutation
from preset_engine.compile.reduce import reduce_turn_context
from preset_engine.compile.turn import CompiledTurn, compile_turn
from preset_engine.content.content import Content
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.errors import SessionError
from preset_engine.history.window import UNLIMITED, window_start
from preset_engine.llm.request import Request, ToolSpec
from preset_engine.messages import ChatMessage, JsonValue, Role
from preset_engine.preset.model import Generation, Preset
from preset_engine.session.clock import running_context
from preset_engine.session.compression import (
    Budget,
    Compressed,
    Head,
    UsageBase,
    compress,
    message_tokens,
    record_tokens,
)
from preset_engine.session.config import CompressFn
from preset_engine.session.frame import Frame
from preset_engine.session.memo import RecordMemo
from preset_engine.session.prepared import (
    Loaded,
    MutationProducer,
    Prepared,
    TurnView,
    read_base,
)
from preset_engine.session.slots import make_slots
from preset_engine.tokens import TokenCounter

_NO_REPLY = "…"  # never sent: stands where a reply is taken off the chat and there is none


@dataclass(frozen=True, slots=True)
class PromptSetup:
    """How the prompts of a session are made; the same for every call.

    Attributes:
        preset: the preset that orders the messages, or None for Stello's order.
        content: cards, books, persona and bags; history, turn, tail and slots come from the session.
        dialect: the rules of assembly.
        context: clock, dice, ids, tokens and the like; by default the machine's, with estimated tokens.
        squash: a shaping mode over the preset's own; None leaves it.
        generation: generation parameters; they replace the preset's as a whole. None takes the preset's.
        params: further fields of the request's body, under the endpoint's own names.
        model: the model's name; None takes the adapter's own.
        window_records: how many records a cut of the history window keeps; negative is unlimited.
    """

    preset: Preset | None = None
    content: Content = field(default_factory=Content)
    dialect: Dialect = Dialect.native
    context: Context = field(default_factory=running_context)
    squash: str | bool | None = None
    generation: Generation | None = None
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    model: str | None = None
    window_records: int = UNLIMITED


@dataclass(frozen=True, slots=True)
class PromptParts:
    """What one call adds to the setup.

    Attributes:
        task: the step's task.
        shared_memory: the index of the shared memory.
        tools: what is on offer.
        window_tokens: the model's context window, or None when unknown.
        compress: gives the compress function when one is needed.
        producers: asked for mutations before the call.
        memo: what was worked out of the session's records before.
    """

    task: str = ""
    shared_memory: str = ""
    tools: tuple[ToolSpec, ...] | None = None
    window_tokens: float | None = None
    compress: Callable[[], CompressFn] | None = None
    producers: tuple[MutationProducer, ...] = ()
    memo: RecordMemo = field(default_factory=RecordMemo)


async def prepare(setup: PromptSetup, loaded: Loaded, frame: Frame, parts: PromptParts) -> Prepared:
    """Make the request of one call.

    Raises:
        SessionError: a mutation producer gave something that is no mutation.
        PresetEngineError: what `compile_turn`, the compress function or a producer raises.
    """
    first = _window_first(setup, loaded, frame)
    if first:
        frame = replace(frame, history=tuple(r for r in frame.history if r.number >= first))
    content = _content(setup, loaded, frame, parts)
    compressed = await _compressed(setup, loaded, frame, parts, content)
    slots = content.slots
    if compressed.summary and slots is not None:
        content = replace(content, slots=replace(slots, summary=compressed.summary))
    history = parts.memo.messages(frame.history[compressed.start :])
    history = await _mutated(history, loaded, frame, parts.producers)
    compiled = _compile(setup, _placed(setup, frame, replace(content, history=history)))
    request = Request(
        messages=tuple(compiled.messages),
        tools=parts.tools,
        generation=_generation(setup),
        params=setup.params,
        model=setup.model,
        has_preset=setup.preset is not None,
    )
    insight = loaded.insight if _shows_insight(setup, loaded.insight, compiled) else None
    return Prepared(
        loaded,
        frame,
        compressed,
        compiled,
        request,
        insight,
        first,
        setup.dialect,
        is_limited=parts.window_tokens is not None,
    )


def _window_first(setup: PromptSetup, loaded: Loaded, frame: Frame) -> int:
    """Number of the first record of the history window; the session keeps its start."""
    if setup.window_records < 0 or not frame.history:
        return 0
    kept = loaded.state.get("window_first")
    numbers = [record.number for record in frame.history]
    previous = None
    if isinstance(kept, int):
        previous = sum(number < kept for number in numbers)
    start = window_start(frame.history, setup.window_records, previous or 0)
    return numbers[start] if start < len(numbers) else numbers[-1] + 1


def _content(setup: PromptSetup, loaded: Loaded, frame: Frame, parts: PromptParts) -> Content:
    """The content of the call, its history still empty."""
    slots = make_slots(
        system_prompt=loaded.system_prompt,
        label=loaded.meta.label,
        insight=loaded.insight,
        task=parts.task,
        shared_memory=parts.shared_memory,
    )
    return replace(
        setup.content,
        history=(),
        slots=slots,
        turn=frame.turn,
        tail=parts.memo.messages(frame.tail),
        variables={**setup.content.variables, **loaded.variables},
        settings={"chat_hash": chat_hash(loaded.meta.id), **setup.content.settings},
        generation_type=frame.generation_type,
    )


def _placed(setup: PromptSetup, frame: Frame, content: Content) -> Content:
    """The content with the turn where the dialect looks for it.

    The dialect sillytavern knows a turn only as what was just typed; an older one, and a tool loop, are
    part of the chat. Before a swipe or a regeneration the compile stage takes the old reply off the chat
    itself, as SillyTavern does, so it gets one to take off.
    """
    if setup.preset is None:
        return content
    history = [message for message in content.history if isinstance(message, ChatMessage)]
    has_turn_hole = setup.dialect.switches.has_turn_hole
    is_typed = any(record.role == Role.USER.value for record in frame.added)
    if not has_turn_hole and not is_typed:
        turn = [ChatMessage(Role.USER.value, content.turn)] if content.turn else []
        history += [*turn, *content.tail]
        content = replace(content, turn="", tail=())
    if frame.generation_type == "swipe" or (
        frame.generation_type == "regenerate" and has_turn_hole
    ):
        text = frame.replaced.content if frame.replaced else ""
        history.append(ChatMessage(Role.ASSISTANT.value, text or _NO_REPLY))
    return replace(content, history=tuple(history))


def _shows_insight(setup: PromptSetup, insight: str | None, compiled: CompiledTurn) -> bool:
    """Whether the insight found a place; a preset may have none, and then it is not used up."""
    if not insight:
        return False
    if setup.preset is None:
        return True
    is_off = any(
        note.code == "hole-off" and "worldBookAfter" in note.path for note in compiled.notes
    )
    if is_off or not setup.dialect.switches.has_turn_hole:
        return False
    return any(insight.strip() in message.text for message in reversed(compiled.messages))


async def _compressed(
    setup: PromptSetup, loaded: Loaded, frame: Frame, parts: PromptParts, content: Content
) -> Compressed:
    if parts.window_tokens is None or parts.compress is None or not frame.history:
        return Compressed()
    counter = setup.context.tokens
    base = read_base(loaded)
    budget = Budget(
        window_tokens=parts.window_tokens,
        fixed_tokens=message_tokens(_compile(setup, content).messages, counter),
        new_tokens=_new_tokens(frame, base, counter),
        base=base,
    )
    memo = parts.memo
    head = Head(frame.history, lambda records: memo.sizes(records, counter), memo.digest)
    return await compress(head, budget, loaded.snapshot, parts.compress, counter)


def _new_tokens(frame: Frame, base: UsageBase | None, counter: TokenCounter) -> int:
    """What the newest prompt did not hold beside the history: a new turn, the newest part of the tool loop."""
    through = base.through if base else 0
    newer = [r for r in frame.tail if r.number == 0 or r.number > through]
    turn = counter.count(frame.turn) if any(r.role == "user" for r in frame.added) else 0
    return turn + sum(record_tokens(record, counter) for record in newer)


def chat_hash(session_id: str) -> int:
    """The number that `pick` is seeded with: the same for all prompts of a session, in any process."""
    return int.from_bytes(blake2b(session_id.encode(), digest_size=6).digest())


async def _mutated(
    history: tuple[ChatMessage, ...],
    loaded: Loaded,
    frame: Frame,
    producers: tuple[MutationProducer, ...],
) -> tuple[ChatMessage, ...]:
    """The history after the producers' mutations; they change this prompt, never the store."""
    for producer in producers:
        view = TurnView(loaded.meta, history, frame.turn, frame.generation_type)
        mutations = [_checked(mutation) for mutation in await producer(view)]
        history = tuple(reduce_turn_context(history, mutations).transcript)
    return history


def _checked(value: object) -> ContextMutation:
    if isinstance(value, ContextMutation):
        return value
    raise SessionError(f"a mutation producer gave a {type(value).__name__}, which is no mutation")


def _generation(setup: PromptSetup) -> Generation:
    if setup.generation is not None:
        return setup.generation
    return Generation() if setup.preset is None else setup.preset.generation


def _compile(setup: PromptSetup, content: Content) -> CompiledTurn:
    return compile_turn(
        setup.preset, content, dialect=setup.dialect, context=setup.context, squash=setup.squash
    )
