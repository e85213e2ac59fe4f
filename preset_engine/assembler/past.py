"""The history zone of a turn: records as messages, injections at their places, macros run newest first.

Records that hold no macro stay the very objects that came in. SillyTavern runs the macros of the sequence from
its end to its head, injected messages among the records (reference, section 8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from preset_engine.assembler.inject import Injection
from preset_engine.assembler.pieces import Pieces, draft_of, expand
from preset_engine.assembler.scene import Scene
from preset_engine.assembler.turns import (
    Style,
    Turns,
    extend_turns,
    first_messages,
    first_records,
    read_turns,
)
from preset_engine.messages import ChatMessage, ChatRecord, Draft, Origin, OriginKind
from preset_engine.squash.parts import plain_pieces
from preset_engine.squash.zones import HistoryZone, Injected


@dataclass(frozen=True, slots=True)
class Past:
    """The history before and while it is put into the prompt.

    Attributes:
        turns: the messages of the records that are sent.
        injections: what stands between them.
        start: first record that is sent.
    """

    turns: Turns
    injections: Sequence[Injection] = ()
    start: int = 0

    @property
    def last_role(self) -> str:
        """Role of the newest message, injected ones included; empty where there is none."""
        if self.injections and self.injections[-1].item >= self.turns.length:
            return self.injections[-1].role
        return self.turns.messages[-1].role if self.turns.messages else ""


def read_past(scene: Scene, style: Style) -> Turns:
    """The messages of the chat; a swiped reply is left out."""
    chat = scene.chat
    kept, tail = chat.kept, chat.tail
    if scene.generation_type == "swipe" and len(chat):
        kept, tail = (kept, tail[:-1]) if tail else (kept - 1, tail)
    turns = read_turns(chat.stored, style)
    if kept < len(chat.stored):
        turns = first_records(turns, kept)
    for number, record in chat.changed.items():
        turns = _changed(turns, number, record, style, kept)
    return extend_turns(turns, tail, kept, style) if tail else turns


def _changed(turns: Turns, number: int, record: ChatRecord, style: Style, kept: int) -> Turns:
    """The turns with another text for one record (the first, whose macros have run)."""
    if number >= kept:
        return turns
    place = number if turns.sources is None else _find(turns.sources, number)
    if place < 0:
        return turns
    old = turns.messages[place]
    made = _remade(old, record, style)
    messages = (*turns.messages[:place], made, *turns.messages[place + 1 :])
    marked = turns.marked if place in turns.marked[:1] else (place, *turns.marked)
    return replace(turns, messages=messages, marked=tuple(sorted(set(marked))))


def _remade(old: ChatMessage, record: ChatRecord, style: Style) -> ChatMessage:
    made = extend_turns(Turns(), (record,), 0, style).messages
    text = made[0] if made else old
    if isinstance(old.content, str):
        return replace(old, content=text.text)
    return text


def _find(sources: tuple[int, ...], number: int) -> int:
    return sources.index(number) if number in sources else -1


def without_last(past: Past) -> tuple[Past, tuple[ChatMessage, ...]]:
    """Take the newest record out; injections stay where they are."""
    turns = past.turns
    if not turns.length:
        return past, ()
    first = turns.first_message(turns.length - 1)
    taken = turns.messages[first:]
    rest = first_messages(turns, first)
    moved = [
        replace(one, item=rest.length) if one.item > rest.length else one for one in past.injections
    ]
    return replace(past, turns=rest, injections=moved), taken


def run_macros(past: Past, scene: Scene) -> HistoryZone:
    """Run the macros of the sequence from its end to its head, and make the zone."""
    turns = past.turns
    changed: dict[int, ChatMessage] = {}
    volatile: set[int] = set()
    drafts: list[Injected] = []
    places = [turns.first_message(one.item) for one in past.injections]
    marked: Sequence[int] = turns.marked if scene.switches.expands_history else ()
    if scene.runs_always:
        marked = range(len(turns.messages))
    steps: list[tuple[int, int, Injection | None]] = [(number, 1, None) for number in marked]
    steps += [(place, 0, one) for place, one in zip(places, past.injections, strict=True)]
    steps.sort(key=lambda step: step[:2])
    for place, _, injection in reversed(steps):
        if injection is None:
            given = turns.messages[place]
            message = _expanded(given, scene.expand)
            if message is not given:
                changed[place] = message
                if scene.expander.last_volatile:
                    scene.causes[_origin(turns.source(place))] = given.text
                    volatile.add(place)
            continue
        ready = injection.group.draft
        if ready is not None and not scene.runs_always:
            drafts.append(Injected(place, ready))
            continue
        pieces = injection.pieces
        if scene.switches.expands_history:
            pieces = expand(pieces, scene.trace)
        if pieces:
            drafts.append(Injected(place, draft_of(injection.role, pieces)))
    drafts.reverse()
    return _zone(turns, changed, drafts, past.start, volatile)


def _expanded(message: ChatMessage, work: Callable[[str], str]) -> ChatMessage:
    content = message.content
    if isinstance(content, str):
        text = work(content)
        return message if text == content else replace(message, content=text)
    if content is None:
        return message
    parts = tuple(
        {**part, "text": work(part["text"])} if isinstance(part.get("text"), str) else part  # type: ignore[arg-type]  # a string here
        for part in content
    )
    return message if parts == content else replace(message, content=parts)


def _zone(
    turns: Turns,
    changed: dict[int, ChatMessage],
    drafts: list[Injected],
    start: int,
    volatile: set[int],
) -> HistoryZone:
    messages, sources = turns.messages, turns.sources
    if changed:
        renewed = list(messages)
        for number, message in changed.items():
            renewed[number] = message
        messages = tuple(renewed)
    empty = [n for n in _suspects(turns, changed) if messages[n].is_empty]
    if empty:
        gone = set(empty)
        kept = [number for number in range(len(messages)) if number not in gone]
        sources = tuple(turns.source(number) for number in kept)
        drafts = [
            Injected(one.position - sum(n < one.position for n in empty), one.draft)
            for one in drafts
        ]
        messages = tuple(messages[number] for number in kept)
        volatile = {number for number, old in enumerate(kept) if old in volatile}
    if sources is None and volatile:
        sources = tuple(range(len(messages)))
    pieces_of = None if sources is None else _Sources(messages, sources, frozenset(volatile))
    return HistoryZone(messages, start, tuple(drafts), pieces_of=pieces_of)


def _suspects(turns: Turns, changed: dict[int, ChatMessage]) -> list[int]:
    """Messages that may be empty: those whose macros ran, and those that came in so."""
    return sorted({*changed, *turns.empty})


@dataclass(frozen=True, slots=True)
class _Sources:
    """Tells the pieces of a message whose number is not its record's number."""

    messages: tuple[ChatMessage, ...]
    sources: tuple[int, ...]
    volatile: frozenset[int]

    def __call__(self, number: int) -> Pieces:
        origin = _origin(self.sources[number])
        return plain_pieces(self.messages[number], origin, volatile=number in self.volatile)


def _origin(record: int) -> Origin:
    return Origin(OriginKind.HISTORY, str(record), place=f"history[{record}]")


def moved_draft(message: ChatMessage, number: int, work: Callable[[str], str] | None) -> Draft:
    """A record that stands outside the history: the continued one, without its name."""
    origin = _origin(number)
    moved = _expanded(message, work) if work else message
    return Draft(moved, plain_pieces(moved, origin))
