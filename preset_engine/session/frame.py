"""What a call is about, as a value, and how the records fall into history, turn and tool tail for it.

A session is one model call at a time; five kinds of call differ only in what of the records is shown and what
becomes of the reply::

    send        history r1…rn         turn: the new text          reply: a new record behind the user's
    results     history before the last user record, turn: it     tail: calls and results; a new record
    continue    history r1…rn, the reply to extend included       reply: appended to that record
    swipe       as if the last reply were not there               reply: one more alternative of it
    regenerate  everything after the last user record dropped     reply: a new record in its place

Continue, swipe and regenerate mean what a SillyTavern user knows under these names. Incomplete tool groups are
left out of what is shown, never out of what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from preset_engine.characters import clean_text
from preset_engine.errors import SessionChanged, SessionError
from preset_engine.history.tool_groups import keep_whole_groups
from preset_engine.messages import ChatMessage, JsonValue, Role
from preset_engine.session.compression import arguments_text
from preset_engine.session.record import SessionRecord
from preset_engine.session.tools import ToolResult

_TOOL = Role.TOOL.value


class AskKind(StrEnum):
    """The kinds of call."""

    SEND = "send"
    RESULTS = "results"
    CONTINUE = "continue"
    SWIPE = "swipe"
    REGENERATE = "regenerate"


_GENERATION = {
    AskKind.SEND: "normal",
    AskKind.RESULTS: "normal",
    AskKind.CONTINUE: "continue",
    AskKind.SWIPE: "swipe",
    AskKind.REGENERATE: "regenerate",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """One call.

    Attributes:
        kind: what sort.
        text: what the user says (`send`); never trimmed, never looked into (NUL and half surrogates apart).
        results: answers to the open tool calls (`results`).
        task: the step's task, which goes to the last place of the prompt and is not stored.
    """

    kind: AskKind
    text: str = ""
    results: tuple[ToolResult, ...] = ()
    task: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """The records as one call shows them.

    Attributes:
        history: what goes into the history hole; may be compressed at its head.
        turn: the user's text; empty where the history ends the prompt.
        tail: the running tool loop behind the turn.
        generation_type: SillyTavern's name of the kind.
        added: records to store before the reply.
        target: the record that the reply changes, or None.
        replaced: the reply that the new one stands in for, or None; it is not shown.
        keep_through: number of the last record that stays (`regenerate`), or None.
    """

    history: tuple[SessionRecord, ...]
    turn: str = ""
    tail: tuple[SessionRecord, ...] = ()
    generation_type: str = "normal"
    added: tuple[SessionRecord, ...] = ()
    target: SessionRecord | None = None
    replaced: SessionRecord | None = None
    keep_through: int | None = None


def make_frame(ask: Ask, records: Sequence[SessionRecord], now: str) -> Frame:
    """The frame of a call over the stored records.

    Raises:
        SessionError: the records hold nothing that such a call could work on.
        SessionChanged: the open tool calls are no longer the end of the session.
    """
    frame = _MAKERS[ask.kind](ask, records, now)
    return replace(frame, generation_type=_GENERATION[ask.kind])


def _send(ask: Ask, records: Sequence[SessionRecord], now: str) -> Frame:
    if not ask.text:
        raise SessionError("the message is empty; say something, or continue or regenerate a reply")
    text = clean_text(ask.text)
    user = SessionRecord(Role.USER.value, text, timestamp=now)
    return Frame(keep_whole_groups(records), text, added=(user,))


def _results(ask: Ask, records: Sequence[SessionRecord], now: str) -> Frame:
    _check_open(ask, records)
    added = tuple(
        SessionRecord(_TOOL, clean_text(result.text), tool_call_id=result.call_id, timestamp=now)
        for result in ask.results
    )
    return replace(_split((*records, *added)), added=added)


def _check_open(ask: Ask, records: Sequence[SessionRecord]) -> None:
    """Refuse answers whose calls stand further up: another writer has gone on with the session."""
    wanted = {result.call_id for result in ask.results}
    above = {call.id for record in records[:-1] for call in record.tool_calls}
    here = {call.id for call in records[-1].tool_calls} if records else set()
    if wanted & above and not wanted & here:
        raise SessionChanged("the session went on while its tools ran; send the message again")


def _continue(ask: Ask, records: Sequence[SessionRecord], now: str) -> Frame:
    del ask, now
    return Frame(keep_whole_groups(records), target=_last_reply(records, "continue"))


def _swipe(ask: Ask, records: Sequence[SessionRecord], now: str) -> Frame:
    del ask, now
    target = _last_reply(records, "swipe")
    return replace(_split(records[:-1]), target=target, replaced=target)


def _regenerate(ask: Ask, records: Sequence[SessionRecord], now: str) -> Frame:
    del ask, now
    place = _last_user(records)
    if place is None:
        raise SessionError("there is no user message to answer again; send one")
    shown = _split(records[: place + 1])
    old = records[-1] if place < len(records) - 1 else None
    return replace(shown, keep_through=records[place].number, replaced=old)


_MAKERS = {
    AskKind.SEND: _send,
    AskKind.RESULTS: _results,
    AskKind.CONTINUE: _continue,
    AskKind.SWIPE: _swipe,
    AskKind.REGENERATE: _regenerate,
}


def _last_reply(records: Sequence[SessionRecord], what: str) -> SessionRecord:
    last = records[-1] if records else None
    if last is None or last.role != Role.ASSISTANT.value or last.tool_calls:
        raise SessionError(f"the last record is no reply, so there is nothing to {what}")
    if _last_user(records) is None:
        raise SessionError(f"no user message stands before the reply, so it cannot {what}")
    return last


def _last_user(records: Sequence[SessionRecord]) -> int | None:
    places = range(len(records) - 1, -1, -1)
    return next((i for i in places if records[i].role == Role.USER.value), None)


def _split(records: Sequence[SessionRecord]) -> Frame:
    """History, turn and tail of records that end in a user's turn and what followed it."""
    whole = keep_whole_groups(records)
    place = _last_user(whole)
    if place is None or not whole[place].content:
        return Frame(whole)
    return Frame(whole[:place], whole[place].content, whole[place + 1 :])


def to_message(record: SessionRecord) -> ChatMessage:
    """The record as a chat message, calls in OpenAI form."""
    calls: list[dict[str, JsonValue]] = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": arguments_text(call.arguments)},
        }
        for call in record.tool_calls
    ]
    return ChatMessage(
        record.role, record.content, tool_calls=tuple(calls), tool_call_id=record.tool_call_id
    )
