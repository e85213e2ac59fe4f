"""The changes that a store in this process is made of: small values, applied to the shelf and written to files.

Each change says what it does to one session or to the tree, with every number and time decided already, so
replaying the same changes gives the same shelf. `to_json` and `change_from_json` are the line format of the
file back end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from preset_engine.errors import UnreadableInput
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.session.meta import FrozenConfig, SessionMeta, read_count, read_text
from preset_engine.session.record import SessionRecord
from preset_engine.session.topology import TopologyNode


@dataclass(frozen=True, slots=True)
class NodeAdded:
    """A new session: its place (without children and references) and its first meta."""

    node: TopologyNode
    meta: SessionMeta


@dataclass(frozen=True, slots=True)
class ConfigPut:
    """The frozen config of a session."""

    id: str
    config: FrozenConfig


@dataclass(frozen=True, slots=True)
class RefAdded:
    """A reference from `id` to `target`."""

    id: str
    target: str


@dataclass(frozen=True, slots=True)
class MetaPut:
    """The whole new meta of a session."""

    meta: SessionMeta

    @property
    def id(self) -> str:
        """The session's id."""
        return self.meta.id


@dataclass(frozen=True, slots=True)
class RecordsAdded:
    """Records at the end, numbers ascending."""

    id: str
    records: tuple[SessionRecord, ...]


@dataclass(frozen=True, slots=True)
class RecordReplaced:
    """Another value for the record of the same number."""

    id: str
    record: SessionRecord


@dataclass(frozen=True, slots=True)
class RecordsKept:
    """Only the records numbered `first` to `last` stay; `next_number` goes on from the old value."""

    id: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class NumberSet:
    """The number of the next record, for a session that is restored after trimming."""

    id: str
    next_number: int


@dataclass(frozen=True, slots=True)
class SlotPut:
    """A slot's text, or None for removed."""

    id: str
    slot: str
    text: str | None


TreeChange: TypeAlias = NodeAdded | ConfigPut | RefAdded
SessionChange: TypeAlias = (
    MetaPut | RecordsAdded | RecordReplaced | RecordsKept | NumberSet | SlotPut
)
Change: TypeAlias = TreeChange | SessionChange


def tree_change_to_json(change: TreeChange) -> JsonObject:
    """One change as it stands in the tree's file."""
    match change:
        case NodeAdded(node, meta):
            return {"op": "node", "node": node_to_json(node), "meta": meta.to_json()}
        case ConfigPut(id_, config):
            return {"op": "config", "id": id_, "config": config.to_json()}
        case RefAdded(id_, target):
            return {"op": "ref", "id": id_, "target": target}
        case _:
            assert_never(change)


def tree_change_from_json(body: Mapping[str, JsonValue]) -> TreeChange:
    """Read what `tree_change_to_json` wrote."""
    match body:
        case {"op": "node", "node": dict(place), "meta": dict(meta)}:
            return NodeAdded(node_from_json(place), SessionMeta.from_json(meta))
        case {"op": "config", "config": dict(config)}:
            return ConfigPut(read_text(body, "id"), FrozenConfig.from_json(config))
        case {"op": "ref"}:
            return RefAdded(read_text(body, "id"), read_text(body, "target"))
        case _:
            raise UnreadableInput(f"unknown change {str(body.get('op'))!r:.40} of the tree")


def node_to_json(node: TopologyNode) -> JsonObject:
    """A node without what is derived or stands elsewhere: children, references, label."""
    place = node.to_json()
    for derived in ("children", "refs", "label"):
        del place[derived]
    return place


def node_from_json(place: Mapping[str, JsonValue]) -> TopologyNode:
    """A node without children and references from its JSON."""
    parent, source = place.get("parent_id"), place.get("source_session_id")
    return TopologyNode(
        id=read_text(place, "id"),
        parent_id=parent if isinstance(parent, str) else None,
        depth=read_count(place, "depth"),
        index=read_count(place, "index"),
        source_session_id=source if isinstance(source, str) else None,
    )


def session_change_to_json(change: SessionChange) -> JsonObject:
    """One change as it stands in a session's file; the file's name is the id."""
    match change:
        case MetaPut(meta):
            return {"op": "meta", "meta": meta.to_json()}
        case RecordsAdded(_, records):
            return {"op": "records", "records": [record.to_json() for record in records]}
        case RecordReplaced(_, record):
            return {"op": "record", "record": record.to_json()}
        case RecordsKept(_, first, last):
            return {"op": "keep", "first": first, "last": last}
        case NumberSet(_, next_number):
            return {"op": "number", "next": next_number}
        case SlotPut(_, slot, text):
            return {"op": "slot", "slot": slot, "text": text}
        case _:
            assert_never(change)


def session_change_from_json(id_: str, body: Mapping[str, JsonValue]) -> SessionChange:
    """Read what `session_change_to_json` wrote."""
    match body:
        case {"op": "meta", "meta": dict(meta)}:
            return MetaPut(SessionMeta.from_json(meta))
        case {"op": "records", "records": list(records)}:
            found = (SessionRecord.from_json(item) for item in records if isinstance(item, dict))
            return RecordsAdded(id_, tuple(found))
        case {"op": "record", "record": dict(record)}:
            return RecordReplaced(id_, SessionRecord.from_json(record))
        case {"op": "keep"}:
            return RecordsKept(id_, read_count(body, "first"), read_count(body, "last"))
        case {"op": "number"}:
            return NumberSet(id_, read_count(body, "next"))
        case {"op": "slot", "text": str() | None as text}:
            return SlotPut(id_, read_text(body, "slot"), text)
        case _:
            raise UnreadableInput(f"unknown change {str(body.get('op'))!r:.40} of a session")
