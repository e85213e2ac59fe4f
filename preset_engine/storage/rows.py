"""Rows of the tables as values, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable

from preset_engine.session.meta import FrozenConfig, SessionMeta, SessionStatus
from preset_engine.session.record import SessionRecord
from preset_engine.session.topology import TopologyNode
from preset_engine.storage.border import dumps
from preset_engine.storage.schema import Row

META_COLUMNS = (
    "id, label, status, turn_count, created_at, updated_at, last_active_at, version, next_number"
)
NODE_COLUMNS = "id, parent_id, depth, place, label, source_session_id"
RECORD_COLUMNS = "number, role, content, tool_call_id, said_at, detail"


def meta_of(row: Row) -> SessionMeta:
    """The meta in a row of `META_COLUMNS`."""
    id_, label, status, turn_count, created_at, updated_at, last_active_at, version = row[:8]
    return SessionMeta(
        id=id_,
        label=label,
        status=SessionStatus(status),
        turn_count=turn_count,
        created_at=created_at,
        updated_at=updated_at,
        last_active_at=last_active_at,
        version=version,
    )


def records_of(rows: Iterable[Row]) -> list[SessionRecord]:
    """The records in rows of `RECORD_COLUMNS`; one loop, since there may be ten thousand."""
    return [
        SessionRecord(role, content, (), call_id, said_at, number)
        if detail is None
        else _detailed((number, role, content, call_id, said_at, detail))
        for number, role, content, call_id, said_at, detail in rows
    ]


def _detailed(row: Row) -> SessionRecord:
    number, role, content, tool_call_id, said_at, detail = row
    plain = {"number": number, "role": role, "content": content, "timestamp": said_at}
    return SessionRecord.from_json({**json.loads(detail), **plain, "tool_call_id": tool_call_id})


def record_row(record: SessionRecord) -> Row:
    """The row of `RECORD_COLUMNS` of a record."""
    detail = record.detail_json()
    return (
        record.number,
        record.role,
        record.content,
        record.tool_call_id,
        record.timestamp,
        dumps(detail) if detail else None,
    )


def nodes_of(
    rows: Iterable[Row], child_rows: Iterable[Row], ref_rows: Iterable[Row]
) -> list[TopologyNode]:
    """Nodes in the order of `rows` (`NODE_COLUMNS`).

    Args:
        rows: the nodes.
        child_rows: `(parent_id, id)` in order of place.
        ref_rows: `(from_id, to_id)` in order of place.
    """
    children = _gathered(child_rows)
    refs = _gathered(ref_rows)
    return [
        TopologyNode(
            id=id_,
            parent_id=parent_id,
            children=tuple(children.get(id_, ())),
            refs=tuple(refs.get(id_, ())),
            depth=depth,
            index=place,
            label=label,
            source_session_id=source,
        )
        for id_, parent_id, depth, place, label, source in rows
    ]


def _gathered(pairs: Iterable[Row]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def config_of(text: str | None) -> FrozenConfig | None:
    """The config in a column."""
    return None if text is None else FrozenConfig.from_json(json.loads(text))
