"""Applying mutations: a transcript and changes in, a new transcript out.

Experience mutations wait and are written as one batch before the next mutation of another sort and at the end.
Such a write rebuilds the transcript in canonical order (`selfref`). The result is checked for tool linkage,
also where nothing was applied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from preset_engine.compile.experiences import revise
from preset_engine.compile.linkage import call_ids, check_linkage, open_calls
from preset_engine.compile.mutations import (
    AssistantMessageMutation,
    AssistantTruncatedMutation,
    ContextMutation,
    ContextReplaceMutation,
    ContextSummaryMutation,
    ExperienceForgetMutation,
    ExperienceRememberMutation,
    MultimodalToolResultMutation,
    ToolCancelledMutation,
    ToolResultMutation,
    UserMessageMutation,
)
from preset_engine.compile.selfref import build_transcript, parse_selfref
from preset_engine.compile.transcript import Transcript, is_system
from preset_engine.messages import ChatMessage, JsonObject, Role


@dataclass(frozen=True, slots=True)
class Applied:
    """A transcript with mutations applied.

    Attributes:
        transcript: well linked.
        has_forgotten: an experience was dropped, so a snapshot made before is out of date.
    """

    transcript: Transcript
    has_forgotten: bool = False


def apply_mutations(transcript: Transcript, mutations: Iterable[ContextMutation]) -> Applied:
    """Apply mutations in order.

    Raises:
        CompileError: `blank_text` for a blank experience, or a code of `check_linkage`.
    """
    work = Applied(transcript)
    waiting: list[ExperienceRememberMutation | ExperienceForgetMutation] = []
    for mutation in mutations:
        if isinstance(mutation, ExperienceRememberMutation | ExperienceForgetMutation):
            waiting.append(mutation)
            continue
        work = _write_experiences(work, waiting)
        waiting = []
        work = _apply(work, mutation)
    work = _write_experiences(work, waiting)
    check_linkage(work.transcript)
    return work


def _write_experiences(
    work: Applied, waiting: list[ExperienceRememberMutation | ExperienceForgetMutation]
) -> Applied:
    if not waiting:
        return work
    forget = {item.experience_id for item in waiting if isinstance(item, ExperienceForgetMutation)}
    remember = [item.text for item in waiting if isinstance(item, ExperienceRememberMutation)]
    data = parse_selfref(work.transcript)
    revised = replace(data, experiences=revise(data.experiences, forget, remember))
    has_forgotten = any(item.id in forget for item in data.experiences)
    return Applied(build_transcript(revised), work.has_forgotten or has_forgotten)


def _apply(work: Applied, mutation: _Plain) -> Applied:
    if isinstance(mutation, ContextReplaceMutation):
        return replace(work, transcript=mutation.messages)
    if isinstance(mutation, ContextSummaryMutation):
        return _summarise(work, mutation)
    if isinstance(mutation, MultimodalToolResultMutation):
        return replace(work, transcript=_hand_over(work.transcript, mutation))
    return replace(work, transcript=work.transcript + _additions(work.transcript, mutation))


def _summarise(work: Applied, mutation: ContextSummaryMutation) -> Applied:
    head = work.transcript[:1] if work.transcript and is_system(work.transcript[0]) else ()
    remember = [ExperienceRememberMutation(text) for text in mutation.remember if text.strip()]
    replaced = replace(work, transcript=(*head, mutation.summary_message))
    return _write_experiences(replaced, [*remember])


def _hand_over(transcript: Transcript, mutation: MultimodalToolResultMutation) -> Transcript:
    """Take the call back, say so, and let the user show the result."""
    line = (
        f"The result of {mutation.tool_name} (arguments: {mutation.arguments}) cannot come back as text; "
        "the user shows it in the next message."
    )
    said = ChatMessage(Role.ASSISTANT, line)
    return (*_without_call(transcript, mutation.tool_call_id), said, *mutation.user_messages)


def _without_call(transcript: Transcript, call_id: str) -> Transcript:
    """The transcript without one call of the latest assistant message that has it."""
    for index in range(len(transcript) - 1, -1, -1):
        message = transcript[index]
        if call_id in call_ids(message):
            kept = tuple(call for call in message.tool_calls if call.get("id") != call_id)
            content = message.content if kept or message.content is not None else ""
            changed = replace(message, tool_calls=kept, content=content)
            return (*transcript[:index], changed, *transcript[index + 1 :])
    return transcript


def _additions(transcript: Transcript, mutation: _Added) -> Transcript:
    """The messages that a mutation adds at the end."""
    match mutation:
        case AssistantMessageMutation(content, calls):
            said = ChatMessage(Role.ASSISTANT, content, tool_calls=calls)
            return (said,) if calls or content is not None else ()
        case ToolResultMutation(call_id, content):
            return (ChatMessage(Role.TOOL, content, tool_call_id=call_id),)
        case UserMessageMutation(message):
            return (message,)
        case AssistantTruncatedMutation():
            return (ChatMessage(Role.ASSISTANT, _cut_off(mutation)),)
        case ToolCancelledMutation():
            return _cancel(transcript, mutation)
        case _:
            assert_never(mutation)


_Added = (
    AssistantMessageMutation
    | ToolResultMutation
    | UserMessageMutation
    | AssistantTruncatedMutation
    | ToolCancelledMutation
)
_Plain = _Added | ContextReplaceMutation | ContextSummaryMutation | MultimodalToolResultMutation


def _cut_off(mutation: AssistantTruncatedMutation) -> str:
    reason = f": {mutation.abort_reason}" if mutation.abort_reason else ""
    notice = f"[The reply was cut off here{reason}]"
    return f"{mutation.partial_content}\n\n{notice}" if mutation.partial_content else notice


def _cancel(transcript: Transcript, mutation: ToolCancelledMutation) -> Transcript:
    """Answer the open call; add the call too where the transcript has none; keep a result that came in time."""
    call_id = mutation.tool_call_id
    reason = f": {mutation.abort_reason}" if mutation.abort_reason else ""
    notice = f"[The call of {mutation.tool_name} was cancelled before it returned{reason}]"
    answer = ChatMessage(Role.TOOL, notice, tool_call_id=call_id)
    if call_id in open_calls(transcript):
        return (answer,)
    if any(call_id in call_ids(message) for message in transcript):
        return ()
    call: JsonObject = {
        "id": call_id,
        "type": "function",
        "function": {"name": mutation.tool_name, "arguments": "{}"},
    }
    return (ChatMessage(Role.ASSISTANT, None, tool_calls=(call,)), answer)
