"""Self-reference: what a transcript says about itself, and the transcript written anew from it.

A snapshot holds the base prompt, the experiences, the summary and the working messages. `parse_selfref` takes
them out of a transcript, `build_transcript` puts them back in the one canonical order: a system message (base
prompt and experience block), the summary, the working messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from preset_engine.compile.experiences import (
    OPEN,
    Experience,
    join_prompt,
    split_prompt,
    without_framework_blocks,
)
from preset_engine.compile.summary import Summary, parse_summary, read_summary, render_summary
from preset_engine.compile.transcript import (
    Transcript,
    is_assistant,
    is_system,
    read_message,
    read_transcript,
)
from preset_engine.errors import CompileError
from preset_engine.messages import ChatMessage, Role

_TRANSIENT = "reasoning_details"  # belongs to one reply of one provider; never carried on


@dataclass(frozen=True, slots=True)
class DataFromSelfRef:
    """A snapshot of what a transcript says about itself.

    Attributes:
        base_system_prompt: the prompt without the experience block and without framework blocks.
        experiences: the lessons, oldest first.
        summary: the parsed context summary, or None.
        summary_message: the message that held it, or None.
        working_messages: all other messages that are not system messages.
    """

    base_system_prompt: str = ""
    experiences: tuple[Experience, ...] = ()
    summary: Summary | None = None
    summary_message: ChatMessage | None = None
    working_messages: Transcript = ()

    @property
    def system_prompt(self) -> str:
        """Base prompt and experience block; empty when there is neither."""
        return join_prompt(self.base_system_prompt, self.experiences)


def parse_selfref(messages: Iterable[ChatMessage]) -> DataFromSelfRef:
    """Take a transcript apart.

    Of several system messages the last one's text counts. Only the first assistant message that holds a
    summary is the summary; a later one is an ordinary message.
    """
    transcript = tuple(messages)
    base, experiences = split_prompt(without_framework_blocks(_last_prompt(transcript)))
    summary: Summary | None = None
    summary_message: ChatMessage | None = None
    working: list[ChatMessage] = []
    for message in transcript:
        if is_system(message):
            continue
        found = (
            parse_summary(message.content) if summary is None and is_assistant(message) else None
        )
        if found is None:
            working.append(message)
        else:
            summary, summary_message = found, message
    return DataFromSelfRef(base, experiences, summary, summary_message, tuple(working))


def _last_prompt(transcript: Transcript) -> str:
    texts = (m.content for m in reversed(transcript) if is_system(m) and isinstance(m.content, str))
    return str(next(texts, ""))


def build_transcript(data: DataFromSelfRef) -> Transcript:
    """The canonical transcript of a snapshot; no system message when there is nothing to say in it."""
    head: list[ChatMessage] = []
    if data.system_prompt:
        head.append(ChatMessage(Role.SYSTEM, data.system_prompt))
    if data.summary is not None:
        head.append(ChatMessage(Role.ASSISTANT, render_summary(data.summary)))
    elif data.summary_message is not None:
        head.append(data.summary_message)
    return (*head, *map(_without_transient, data.working_messages))


def canonicalize(messages: Iterable[ChatMessage]) -> Transcript:
    """The transcript in canonical order."""
    return build_transcript(parse_selfref(messages))


def _without_transient(message: ChatMessage) -> ChatMessage:
    extra = message.extra
    if not extra or _TRANSIENT not in extra:
        return message
    kept = {key: value for key, value in extra.items() if key != _TRANSIENT}
    return replace(message, extra=kept or None)


def has_marks(messages: Iterable[ChatMessage]) -> bool:
    """Whether the transcript carries an experience block or a summary."""
    transcript = tuple(messages)
    if OPEN in without_framework_blocks(_last_prompt(transcript)):
        return True
    return any(is_assistant(m) and parse_summary(m.content) is not None for m in transcript)


def read_selfref(body: Mapping[str, object]) -> DataFromSelfRef:
    """Read a snapshot object: `base_system_prompt`, `experiences`, `summary`, `summary_message`, `working_messages`.

    Raises:
        CompileError: as the readers of its parts do.
    """
    experiences, summary = body.get("experiences") or [], body.get("summary")
    message = body.get("summary_message")
    if not isinstance(experiences, list):
        text = "a snapshot's experiences must be a list"
        raise CompileError(text, "not_a_list")
    return DataFromSelfRef(
        base_system_prompt=str(body.get("base_system_prompt") or ""),
        experiences=tuple(Experience(str(item["id"]), str(item["text"])) for item in experiences),
        summary=read_summary(summary) if isinstance(summary, Mapping) else None,
        summary_message=read_message(message) if isinstance(message, Mapping) else None,
        working_messages=read_transcript(body.get("working_messages") or []),
    )
