"""Tool groups are whole or absent.

A group is an assistant record with calls and all tool records directly behind it. It is kept when every call
has an answer in it; otherwise the whole run goes, and so does a tool record outside any group: a provider
refuses both. The stored list is never touched, only what enters a prompt or a fork::

    user, assistant(a, b), tool a, user     ->   user, user
    user, assistant(a, b), tool a, tool b   ->   unchanged

Source: golden/seeds `stello.tool_groups`, reference/seeds.md, section 1.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from preset_engine.errors import Note, Weight
from preset_engine.messages import ChatMessage


class ToolRecord(Protocol):
    """What a record must tell: its role, its calls, the call it answers."""

    @property
    def role(self) -> str:
        """Wire name of the role."""
        ...

    @property
    def tool_calls(self) -> Sequence[Any]:  # OpenAI objects or our ToolCall: `call_ids` reads both
        """The calls of an assistant record."""
        ...

    @property
    def tool_call_id(self) -> str | None:
        """The call that a tool record answers."""
        ...


R = TypeVar("R", bound=ToolRecord)


def call_ids(record: ToolRecord) -> list[str]:
    """The ids of a record's calls, in order; calls are OpenAI objects or values with an `id`."""
    found = (
        call.get("id") if isinstance(call, dict) else getattr(call, "id", None)
        for call in record.tool_calls
    )
    return [call for call in found if isinstance(call, str)]


def keep_whole_groups(records: Sequence[R]) -> tuple[R, ...]:
    """The records without incomplete tool groups and without tool records outside a group.

    Extra and repeated answers inside a complete group stay (`clean_tool_groups` drops those too).
    """
    if not _has_tools(records):
        return tuple(records)
    return tuple(record for group in _runs(records) if group.is_kept for record in group.records)


@dataclass(frozen=True, slots=True)
class CleanHistory:
    """A history fit for a provider, and what was left out of it."""

    messages: tuple[ChatMessage, ...]
    notes: tuple[Note, ...] = ()


def clean_tool_groups(messages: Sequence[ChatMessage], place: str = "history") -> CleanHistory:
    """Drop incomplete groups, and answers that match no open call, each with a note.

    Args:
        messages: the history, oldest first.
        place: what the list is called in the notes' paths.
    """
    if not _has_tools(messages):
        return CleanHistory(tuple(messages))
    kept: list[ChatMessage] = []
    notes: list[Note] = []
    for run in _runs(messages):
        if not run.is_kept:
            notes.append(_incomplete(run, place))
            continue
        kept += _matching(run, place, notes)
    return CleanHistory(tuple(kept), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Run(Generic[R]):
    """Neighbouring records that stay or go together."""

    start: int
    records: Sequence[R]
    is_kept: bool


def _has_tools(records: Sequence[R]) -> bool:
    return any(record.tool_calls or record.role == "tool" for record in records)


def _runs(records: Sequence[R]) -> Iterator[_Run[R]]:
    number = 0
    while number < len(records):
        record = records[number]
        stop = number + 1
        if record.role == "assistant" and record.tool_calls:
            while stop < len(records) and records[stop].role == "tool":
                stop += 1
            answered = {answer.tool_call_id for answer in records[number + 1 : stop]}
            is_kept = all(call in answered for call in call_ids(record)) and _all_named(record)
            yield _Run(number, records[number:stop], is_kept)
        else:
            yield _Run(number, records[number:stop], record.role != "tool")
        number = stop


def _all_named(record: ToolRecord) -> bool:
    return len(call_ids(record)) == len(record.tool_calls)


def _matching(run: _Run[R], place: str, notes: list[Note]) -> list[R]:
    """The records of a kept run without answers that no open call asks for."""
    first, *answers = run.records
    open_calls = set(call_ids(first))
    kept = [first]
    for number, answer in enumerate(answers, run.start + 1):
        if answer.tool_call_id in open_calls:
            open_calls.discard(answer.tool_call_id)
            kept.append(answer)
        else:
            notes.append(_unmatched(number, answer, place))
    return kept


def _incomplete(run: _Run[R], place: str) -> Note:
    first = run.records[0]
    if first.role == "tool":
        return _unmatched(run.start, first, place)
    answered = {answer.tool_call_id for answer in run.records[1:]}
    missing = [call for call in call_ids(first) if call not in answered]
    what = f"no answer to {', '.join(map(repr, missing))}" if missing else "a call without an id"
    return Note(
        "tool-group-incomplete",
        f"a tool group of {len(run.records)} messages is left out: {what}",
        path=f"{place}[{run.start}]",
        advice="store the missing tool results, or nothing: the group stays out of prompts",
        weight=Weight.WARNING,
        count=len(run.records),
    )


def _unmatched(number: int, answer: ToolRecord, place: str) -> Note:
    return Note(
        "tool-answer-unmatched",
        f"the tool result for {answer.tool_call_id!r} answers no open call and is left out",
        path=f"{place}[{number}]",
        advice="a tool result must directly follow the message that made the call",
        weight=Weight.WARNING,
    )
