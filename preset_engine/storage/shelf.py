"""The forest as it is held in this process: what the memory back end is, and what the file back end reads into.

Changes are applied one by one; while a block is open each also leaves behind how to undo it, so a block that fails
costs what it changed and not what there is. Records are shared values, never copied.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import assert_never

from preset_engine.session.meta import FrozenConfig, SessionMeta
from preset_engine.session.record import RecordQuery, SessionRecord
from preset_engine.session.refusals import no_record
from preset_engine.session.topology import TopologyNode
from preset_engine.storage.changes import (
    Change,
    ConfigPut,
    MetaPut,
    NodeAdded,
    NumberSet,
    RecordReplaced,
    RecordsAdded,
    RecordsKept,
    RefAdded,
    SlotPut,
)


@dataclass(slots=True)
class Content:
    """Records and slots of one session."""

    records: list[SessionRecord] = field(default_factory=list)
    slots: dict[str, str] = field(default_factory=dict)
    next_number: int = 1

    def place(self, number: int) -> int:
        """Index of the record of this number, or -1."""
        found = bisect_left(self.records, number, key=_number)
        hit = found < len(self.records) and self.records[found].number == number
        return found if hit else -1

    def select(self, query: RecordQuery) -> list[SessionRecord]:
        """The records that the query asks for."""
        start = bisect_left(self.records, query.after + 1, key=_number) if query.after else 0
        found = self.records[start:] if start else self.records
        if query.role is not None:
            found = [record for record in found if record.role == query.role]
        first = max(query.offset, 0)
        last = None if query.limit is None else first + max(query.limit, 0)
        return found[first:last]


def _number(record: SessionRecord) -> int:
    return record.number


@dataclass(slots=True)
class Place:
    """Where a session stands: its node without derived parts, its children, references and config."""

    node: TopologyNode
    children: list[str] = field(default_factory=list)
    refs: list[str] = field(default_factory=list)
    config: FrozenConfig | None = None


class Shelf:
    """All sessions of one tenant."""

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self.metas: dict[str, SessionMeta] = {}
        self.contents: dict[str, Content] = {}

    def node(self, session_id: str) -> TopologyNode:
        """The node with its children, references and present label."""
        place = self.places[session_id]
        return replace(
            place.node,
            children=tuple(place.children),
            refs=tuple(place.refs),
            label=self.metas[session_id].label,
        )

    def in_order(self) -> list[str]:
        """Ids in order of creation."""
        return sorted(self.metas, key=lambda id_: (self.metas[id_].created_at, id_))

    def ancestors(self, session_id: str) -> list[str]:
        """Ids above, nearest first."""
        found: list[str] = []
        parent = self.places[session_id].node.parent_id
        while parent is not None:
            found.append(parent)
            parent = self.places[parent].node.parent_id
        return found

    def apply(self, change: Change, undo: list[Callable[[], None]]) -> None:
        """Make one change and note how to take it back."""
        match change:
            case NodeAdded() | ConfigPut() | RefAdded():
                self._apply_to_tree(change, undo)
            case MetaPut(meta):
                old = self.metas[meta.id]
                self.metas[meta.id] = meta
                undo.append(lambda: self.metas.__setitem__(meta.id, old))
            case _:
                _apply_to_content(self.contents[change.id], change, undo)

    def _apply_to_tree(
        self, change: NodeAdded | ConfigPut | RefAdded, undo: list[Callable[[], None]]
    ) -> None:
        match change:
            case NodeAdded(node, meta):
                self._add(node, meta, undo)
            case ConfigPut(id_, config):
                place = self.places[id_]
                old = place.config
                place.config = config
                undo.append(lambda: setattr(place, "config", old))
            case RefAdded(id_, target):
                refs = self.places[id_].refs
                refs.append(target)
                undo.append(lambda: refs.remove(target))
            case _:
                assert_never(change)

    def _add(self, node: TopologyNode, meta: SessionMeta, undo: list[Callable[[], None]]) -> None:
        self.places[node.id] = Place(node)
        self.metas[node.id] = meta
        siblings = self.places[node.parent_id].children if node.parent_id is not None else None
        if siblings is not None:
            siblings.append(node.id)

        def take_back() -> None:
            del self.places[node.id], self.metas[node.id]
            self.contents.pop(node.id, None)
            if siblings is not None:
                siblings.remove(node.id)

        undo.append(take_back)


def _apply_to_content(
    content: Content,
    change: RecordsAdded | RecordReplaced | RecordsKept | NumberSet | SlotPut,
    undo: list[Callable[[], None]],
) -> None:
    old_number = content.next_number
    match change:
        case RecordsAdded(_, records):
            count = len(content.records)
            content.records.extend(records)
            content.next_number = records[-1].number + 1 if records else old_number
            undo.append(lambda: _cut_back(content, count, old_number))
        case RecordReplaced(id_, record):
            place = content.place(record.number)
            if place < 0:
                raise no_record(id_, record.number)
            old_record = content.records[place]
            content.records[place] = record
            undo.append(lambda: content.records.__setitem__(place, old_record))
        case RecordsKept(_, first, last):
            old_records = content.records
            start = bisect_left(old_records, first, key=_number)
            end = bisect_left(old_records, last + 1, key=_number)
            content.records = old_records[start:end]
            undo.append(lambda: setattr(content, "records", old_records))
        case NumberSet(_, next_number):
            content.next_number = next_number
            undo.append(lambda: setattr(content, "next_number", old_number))
        case SlotPut(_, slot, text):
            old_text = content.slots.get(slot)
            _set_slot(content, slot, text)
            undo.append(lambda: _set_slot(content, slot, old_text))
        case _:
            assert_never(change)


def _cut_back(content: Content, count: int, next_number: int) -> None:
    del content.records[count:]
    content.next_number = next_number


def _set_slot(content: Content, slot: str, text: str | None) -> None:
    if text is None:
        content.slots.pop(slot, None)
    else:
        content.slots[slot] = text
