"""Stello's order without a preset, until `compile_turn` has its built-in skeleton."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from preset_engine.content.content import Content, Slots
from preset_engine.errors import Note
from preset_engine.messages import ChatMessage, JsonValue


@dataclass(frozen=True)
class CompiledTurn:
    messages: tuple[ChatMessage, ...]
    notes: tuple[Note, ...] = ()
    variables: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)


def compile_without_preset(content: Content) -> CompiledTurn:
    """System prompt, shared memory, identity, insight, summary, history, turn, tail."""
    slots = content.slots or Slots()
    texts = (slots.system_prompt, slots.shared_memory, slots.identity, slots.insight, slots.summary)
    messages = [ChatMessage("system", text) for text in texts if text]
    messages += [message for message in content.history if isinstance(message, ChatMessage)]
    if content.turn:
        messages.append(ChatMessage("user", content.turn))
    messages += content.tail
    if slots.task:
        messages.append(ChatMessage("system", slots.task))
    return CompiledTurn(tuple(messages))
