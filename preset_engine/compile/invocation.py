"""`compile_invocation_turn`: the one way from an invocation and its transcript to a request.

Function calls and chats take the same way. Without a preset stage 2 is `convert_to_llm_request`; with one the
transcript fills the preset's places and `compile_turn` makes the messages, and nothing else does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from preset_engine.compile.convert import (
    CompiledTurnContext,
    PromptContract,
    convert_to_llm_request,
    render_prompt,
)
from preset_engine.compile.frame import fill_content
from preset_engine.compile.mutations import ContextMutation
from preset_engine.compile.reduce import reduce_turn_context
from preset_engine.compile.selfref import DataFromSelfRef
from preset_engine.compile.transcript import is_system
from preset_engine.compile.turn import compile_turn
from preset_engine.content.content import Content
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.messages import ChatMessage
from preset_engine.preset.model import Preset


class InvocationMode(StrEnum):
    """What sort of call is made; a chat closes its prompt with the principles, a function does not."""

    FUNCTION = "function"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class InvocationSpec:
    """An invocation: what it says, and what fills its request beside the transcript.

    Attributes:
        contract: what it says about the prompt.
        mode: function or chat.
        selfref: the snapshot used where a call brings none of its own.
        preset: the skeleton of the request, or None for the plain list.
        content: what fills the preset beside history, turn, tail and system prompt, which the transcript fills.
        dialect: whose rules the preset follows.
        squash: the mode of shaping; None leaves it to the preset.
    """

    contract: PromptContract = field(default_factory=PromptContract)
    mode: InvocationMode = InvocationMode.FUNCTION
    selfref: DataFromSelfRef | None = None
    preset: Preset | None = None
    content: Content = field(default_factory=Content)
    dialect: Dialect = Dialect.native
    squash: str | bool | None = None


_FIXED_CONTEXT = Context()


def compile_invocation_turn(
    spec: InvocationSpec,
    transcript: Iterable[ChatMessage],
    pending_mutations: Iterable[ContextMutation] = (),
    selfref_snapshot: DataFromSelfRef | None = None,
    *,
    context: Context = _FIXED_CONTEXT,
) -> CompiledTurnContext:
    """Run both stages.

    Raises:
        CompileError: mutations or transcript break a rule.
        AssemblyError: preset and content cannot become messages.
    """
    snapshot = selfref_snapshot if selfref_snapshot is not None else spec.selfref
    reduced = reduce_turn_context(transcript, pending_mutations, snapshot)
    contract = _contract(spec)
    plain = convert_to_llm_request(reduced, contract)
    return plain if spec.preset is None else _framed(spec, contract, plain, context)


def _contract(spec: InvocationSpec) -> PromptContract:
    """The contract with the session's own prompt, which goes before it, and the principles of a chat."""
    slots = spec.content.slots
    own = slots.system_prompt if slots is not None and spec.preset is not None else ""
    return replace(
        spec.contract,
        system_prompt=own or spec.contract.system_prompt,
        include_must_principles=spec.contract.include_must_principles
        or spec.mode is InvocationMode.CHAT,
    )


def _framed(
    spec: InvocationSpec, contract: PromptContract, plain: CompiledTurnContext, context: Context
) -> CompiledTurnContext:
    """The same turn with the preset as its frame."""
    transcript = plain.transcript
    lead = transcript[0].text if transcript and is_system(transcript[0]) else ""
    content = fill_content(spec.content, transcript, render_prompt(lead, contract))
    turn = compile_turn(
        spec.preset, content, dialect=spec.dialect, context=context, squash=spec.squash
    )
    return replace(plain, llm_messages=turn.messages, turn=turn)
