"""Stage 2: a reduced transcript becomes what a provider gets.

The system prompt is the first of: the snapshot's prompt, the contract's explicit prompt, the transcript's own
system message, the docstring. It takes the place of the leading system message; tools' practices stand before
it and the principles behind it in the message that is sent, and nowhere else. Nothing empty is sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from preset_engine.compile.experiences import PRINCIPLES_TAGS, without_block
from preset_engine.compile.reduce import ReducedTurnContext
from preset_engine.compile.selfref import DataFromSelfRef
from preset_engine.compile.tool_prompts import ToolPromptSpec, principles_block, tool_block
from preset_engine.compile.transcript import Transcript, is_system
from preset_engine.messages import ChatMessage, Role

if TYPE_CHECKING:
    from preset_engine.compile.turn import CompiledTurn


@dataclass(frozen=True, slots=True)
class PromptContract:
    """What an invocation says about its prompt.

    Attributes:
        base_instruction: the docstring; the last resort.
        system_prompt: the explicit prompt; None means "not set", an empty text means "none, please".
        tool_prompt_specs: what the mounted tools want said.
        include_must_principles: whether the principles close the prompt (chat mode: yes).
    """

    base_instruction: str = ""
    system_prompt: str | None = None
    tool_prompt_specs: tuple[ToolPromptSpec, ...] = ()
    include_must_principles: bool = False


@dataclass(frozen=True, slots=True)
class CompiledTurnContext:
    """What stage 2 gives.

    Attributes:
        transcript: the transcript with the resolved prompt in place; what a loop goes on with.
        system_prompt: the resolved prompt without the blocks for tools, or None.
        llm_messages: what is sent.
        selfref_snapshot: carried on from stage 1.
        turn: the compiled turn with its plan, where a preset framed the request.
    """

    transcript: Transcript
    system_prompt: str | None
    llm_messages: Transcript
    selfref_snapshot: DataFromSelfRef | None = None
    turn: CompiledTurn | None = None


def convert_to_llm_request(
    reduced: ReducedTurnContext, prompt_contract: PromptContract
) -> CompiledTurnContext:
    """Resolve, place and render the system prompt."""
    prompt = resolve_system_prompt(reduced, prompt_contract)
    transcript = _place(reduced.transcript, prompt)
    return CompiledTurnContext(
        transcript=transcript,
        system_prompt=prompt,
        llm_messages=_render(transcript, prompt_contract),
        selfref_snapshot=reduced.selfref_snapshot,
    )


def resolve_system_prompt(reduced: ReducedTurnContext, contract: PromptContract) -> str | None:
    """The prompt that counts, or None when nobody has one."""
    if reduced.selfref_snapshot is not None:
        return reduced.selfref_snapshot.system_prompt
    if contract.system_prompt is not None:
        return contract.system_prompt
    own = _first_prompt(reduced.transcript)
    return reduced.transcript[own].text if own is not None else contract.base_instruction or None


def render_prompt(prompt: str, contract: PromptContract) -> str:
    """The prompt as it is sent: practices, prompt without old principles, principles; blank lines between."""
    parts = (
        tool_block(contract.tool_prompt_specs),
        without_block(prompt, *PRINCIPLES_TAGS),
        principles_block() if contract.include_must_principles else None,
    )
    return "\n\n".join(part for part in parts if part)


def _first_prompt(messages: Transcript) -> int | None:
    """Place of the first system message with text."""
    places = (i for i, m in enumerate(messages) if is_system(m) and isinstance(m.content, str))
    return next(places, None)


def _place(messages: Transcript, prompt: str | None) -> Transcript:
    """The prompt in place of the leading system message, or in front; a blank prompt removes that message.

    A prompt that was taken from a system message further down stays where it is.
    """
    has_head = bool(messages) and is_system(messages[0])
    rest = messages[1:] if has_head else messages
    if prompt is None or not prompt.strip():
        return rest
    if has_head:
        return (replace(messages[0], content=prompt), *rest)
    own = _first_prompt(messages)
    if own is not None and messages[own].content == prompt:
        return messages
    return (ChatMessage(Role.SYSTEM, prompt), *rest)


def _render(messages: Transcript, contract: PromptContract) -> Transcript:
    """The messages with the blocks for tools in the first system message; no system message is blank."""
    own = _first_prompt(messages)
    if own is not None:
        rendered = replace(messages[own], content=render_prompt(messages[own].text, contract))
        messages = (*messages[:own], rendered, *messages[own + 1 :])
    elif messages and (text := render_prompt("", contract)):
        messages = (ChatMessage(Role.SYSTEM, text), *messages)
    return tuple(_not_blank(messages))


def _not_blank(messages: Iterable[ChatMessage]) -> Iterable[ChatMessage]:
    return (
        m
        for m in messages
        if not (is_system(m) and isinstance(m.content, str) and not m.content.strip())
    )
