"""Transcripts at the border: JSON lists in, frozen messages inside, JSON lists out.

Inside the pipeline a transcript is a tuple of frozen `ChatMessage` values, so two stages can hold the same
message and neither can change it under the other. Only JSON objects can be edited; therefore reading copies
them once and writing copies them once, and nothing a caller does to its own lists reaches the engine::

    given = [{"role": "user", "content": "a"}]
    transcript = read_transcript(given)
    given[0]["content"] = "edited"          # transcript[0].content is still "a"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import TypeAlias

from preset_engine.compile.linkage import check_shape
from preset_engine.errors import CompileError
from preset_engine.messages import ChatMessage, JsonObject, Role

Transcript: TypeAlias = tuple[ChatMessage, ...]


def read_transcript(value: object) -> Transcript:
    """Read a list of message objects; every message is checked and copied.

    Raises:
        CompileError: with the code `not_a_list`, or that of `check_shape`.
    """
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        message = f"a transcript is a list of messages, not {type(value).__name__}"
        raise CompileError(message, "not_a_list")
    return tuple(read_message(item, index) for index, item in enumerate(value))


def read_message(value: object, index: int = 0) -> ChatMessage:
    """Read one message object; `index` is its place, for the error."""
    return ChatMessage.from_json(deepcopy(check_shape(value, index)))


def write_transcript(messages: Iterable[ChatMessage]) -> list[JsonObject]:
    """Message objects that share nothing with the transcript: the caller may edit them freely."""
    return [deepcopy(message.to_json()) for message in messages]


def is_system(message: ChatMessage) -> bool:
    """Whether the message is a system message."""
    return message.role == Role.SYSTEM


def is_assistant(message: ChatMessage) -> bool:
    """Whether the message is an assistant message."""
    return message.role == Role.ASSISTANT
