"""Neighbours of one role inside the history become one message; nothing else there changes.

Which records join depends on the records alone, so it is remembered: the next turn of a chat shares its
prefix with the last one, and only its new records are looked at. The memory compares references, never
texts, and holds the last few chats.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress, count, islice
from operator import attrgetter, eq
from typing import TypeAlias

from preset_engine.messages import ChatMessage, Draft
from preset_engine.squash.parts import chunks_of, content_from

_ROLE = attrgetter("role")
_JOINABLE = frozenset({"system", "user", "assistant"})


@dataclass(frozen=True, slots=True)
class Span:
    """Records that are sent as they are: `records[start:stop]`."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Joined:
    """One message made of several neighbours.

    Attributes:
        message: what is sent.
        sources: ranges of records and drafts it was made of, in order.
    """

    message: ChatMessage
    sources: tuple[Span | Draft, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Two or more records in a row that join: `records[start:stop]`."""

    start: int
    stop: int
    message: ChatMessage


def can_join(first: ChatMessage, second: ChatMessage) -> bool:
    """Whether two neighbours may be one message: same speaker, some text, no tools, nothing unknown."""
    return (
        first.role == second.role
        and first.role in _JOINABLE
        and first.name == second.name
        and _is_plain(first)
        and _is_plain(second)
    )


def _is_plain(message: ChatMessage) -> bool:
    return bool(
        message.content
        and not message.tool_calls
        and message.tool_call_id is None
        and not message.extra
    )


def join_messages(messages: Iterable[ChatMessage]) -> ChatMessage:
    """One message of several that can join; texts are parted by a blank line, media stay whole."""
    members = list(messages)
    chunks = [chunk for message in members for chunk in chunks_of(message)]
    first = members[0]
    return ChatMessage(first.role, content_from(chunks), first.name, extra=first.extra)


_MEMORY_SIZE = 8
_known: dict[int, tuple[tuple[ChatMessage, ...], tuple[Run, ...]]] = {}


def find_runs(records: tuple[ChatMessage, ...]) -> tuple[Run, ...]:
    """The runs of a history, oldest first; the shared prefix of a known history is not scanned again."""
    if not records:
        return ()
    seen, runs = _known.pop(id(records[0]), ((), ()))
    shared = min(len(seen), len(records))
    if seen[:shared] != records[:shared]:
        seen, runs, shared = (), (), 0
    if len(seen) != len(records):
        # The last shared record may join the next one, and a run over it is found anew.
        settled = [run for run in runs if run.stop < shared]
        unsettled = [run.start for run in runs[len(settled) :] if run.start < shared]
        resume = min([*unsettled, max(shared - 1, 0)])
        runs = (*settled, *_scan(records, resume))
    for oldest in list(_known)[: 1 - _MEMORY_SIZE]:
        _known.pop(oldest, None)
    _known[id(records[0])] = (records, runs)
    return runs


def _scan(records: tuple[ChatMessage, ...], start: int) -> Iterator[Run]:
    roles = list(map(_ROLE, records[start:] if start else records))
    stop = start
    for number in compress(count(start), map(eq, roles, islice(roles, 1, None))):
        if number >= stop and can_join(records[number], records[number + 1]):
            stop = number + 2
            while stop < len(records) and can_join(records[stop - 1], records[stop]):
                stop += 1
            yield Run(number, stop, join_messages(records[number:stop]))


Segment: TypeAlias = "Span | Draft | Joined"


def join_segments(
    segments: Iterable[Span | Draft], records: tuple[ChatMessage, ...]
) -> Iterator[Segment]:
    """Join neighbours of one role in a zone of ranges and drafts.

    Works in steps of runs and drafts, not of records: a long history without runs is a handful of steps.
    """
    group: list[Segment] = []
    last: ChatMessage | None = None
    for atom in _atoms(segments, records):
        first = records[atom.start] if isinstance(atom, Span) else atom.message
        if last is not None and last.role == first.role and can_join(last, first):
            yield from _open(group)
            if isinstance(atom, Span) and atom.stop - atom.start > 1:
                group.append(Span(atom.start, atom.start + 1))
                yield _close(group, records)
                group = [Span(atom.start + 1, atom.stop)]
            else:
                group.append(atom)
        else:
            if group:
                yield group[0] if len(group) == 1 else _close(group, records)
            group = [atom]
        last = records[atom.stop - 1] if isinstance(atom, Span) else first
    if group:
        yield group[0] if len(group) == 1 else _close(group, records)


def _open(group: list[Segment]) -> Iterator[Segment]:
    """Let only the last record of a range be joined with what follows; gives the rest of the range."""
    head = group[0]
    if len(group) == 1 and isinstance(head, Span) and head.stop - head.start > 1:
        group[0] = Span(head.stop - 1, head.stop)
        yield Span(head.start, head.stop - 1)


def _atoms(segments: Iterable[Span | Draft], records: tuple[ChatMessage, ...]) -> Iterator[Segment]:
    """Cut each range at its runs; inside what is left of a range nothing joins."""
    runs = find_runs(records)
    place, count_of_runs = -1, len(runs)
    for segment in segments:
        if not runs or isinstance(segment, Draft):
            yield segment
            continue
        at, stop = segment.start, segment.stop
        if place < 0:
            place = bisect_right(runs, at, key=lambda run: run.stop)
        while place < count_of_runs and (run := runs[place]).start < stop:
            start, end = max(run.start, at), min(run.stop, stop)
            place += run.stop <= stop  # else the rest of it follows behind a draft
            if start > at:
                yield Span(at, start)
            if end - start == run.stop - run.start:
                yield Joined(run.message, (Span(start, end),))
            elif end - start > 1:
                yield Joined(join_messages(records[start:end]), (Span(start, end),))
            else:
                yield Span(start, end)
            at = end
            if end == stop:
                break
        if stop > at:
            yield Span(at, stop)


def _first(atom: Segment, records: tuple[ChatMessage, ...]) -> ChatMessage:
    return records[atom.start] if isinstance(atom, Span) else atom.message


def _close(group: list[Segment], records: tuple[ChatMessage, ...]) -> Segment:
    message = join_messages(_first(atom, records) for atom in group)
    sources = tuple(
        source
        for atom in group
        for source in (atom.sources if isinstance(atom, Joined) else (atom,))
    )
    return Joined(message, sources)
