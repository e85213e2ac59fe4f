"""The content half of a SQL store: meta, records and slots.

The session's row is the lock: every change of records begins with an `UPDATE ... RETURNING` of it, which makes other
writers of the session wait, checks version and status, and hands out the record numbers, in one statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from preset_engine.characters import clean_text
from preset_engine.session.meta import SessionFilter, SessionMeta
from preset_engine.session.protocols import Committed, TurnCommit
from preset_engine.session.record import EVERY_RECORD, RecordQuery, SessionRecord
from preset_engine.session.refusals import check_active, check_version, no_record, not_found
from preset_engine.session.topology import TopologyNode
from preset_engine.storage.border import (
    bounded,
    check_id,
    check_turns,
    clean_record,
    clean_records,
    key_of,
    put_over,
)
from preset_engine.storage.rows import (
    META_COLUMNS,
    RECORD_COLUMNS,
    meta_of,
    record_row,
    records_of,
)
from preset_engine.storage.schema import Row
from preset_engine.storage.slots import Slot, SlotDoors, turn_slots
from preset_engine.storage.sql_work import Connection, SqlWork

_ALL = 2**62  # a limit that is none, for engines that want one beside an offset

LOCK_SESSION = f"""UPDATE pe_sessions SET version = version WHERE tenant = ? AND id = ? RETURNING {META_COLUMNS}"""
_CHANGE = f"""UPDATE pe_sessions SET version = version + 1, next_number = next_number + ?, updated_at = ?
    WHERE tenant = ? AND id = ? AND version = coalesce(?, version) RETURNING {META_COLUMNS}"""
_TURN = f"""UPDATE pe_sessions SET version = version + 1, next_number = next_number + ?, updated_at = ?,
    last_active_at = ?, turn_count = turn_count + ?
    WHERE tenant = ? AND id = ? AND status = 'active' AND version = coalesce(?, version) RETURNING {META_COLUMNS}"""
_PUT_SESSION = """UPDATE pe_sessions SET label = ?, status = ?, turn_count = ?, created_at = ?, updated_at = ?,
    last_active_at = ? WHERE tenant = ? AND id = ?"""
_ADD_SESSION = """INSERT INTO pe_sessions (tenant, id, label, status, turn_count, created_at, updated_at,
    last_active_at, version, next_number, parent_id, depth, place, child_count, source_session_id, config)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)"""
_ADD_RECORD = f"""INSERT INTO pe_records (tenant, session_id, {RECORD_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_PUT_RECORD = """UPDATE pe_records SET role = ?, content = ?, tool_call_id = ?, said_at = ?, detail = ?
    WHERE tenant = ? AND session_id = ? AND number = ?"""
_PUT_SLOT = """INSERT INTO pe_slots (tenant, session_id, slot, content)
    SELECT tenant, id, ?, ? FROM pe_sessions WHERE tenant = ? AND id = ?
    ON CONFLICT (tenant, session_id, slot) DO UPDATE SET content = excluded.content RETURNING slot"""
_CLEAR_SLOT = "DELETE FROM pe_slots WHERE tenant = ? AND session_id = ? AND slot = ?"
_META = f"SELECT {META_COLUMNS} FROM pe_sessions WHERE tenant = ? AND id = ?"
_OUTSIDE = "tenant = ? AND session_id = ? AND (number < ? OR number > ?)"


class SqlContent(SlotDoors):
    """`SessionStorage` but for `transaction`."""

    _tenant: str
    _work: SqlWork

    async def get_session(self, session_id: str) -> SessionMeta | None:
        """The session's meta, or None."""
        rows = await self._work.fetch(_META, (self._tenant, key_of(session_id)))
        return meta_of(rows[0]) if rows else None

    async def put_session(self, meta: SessionMeta) -> SessionMeta:
        """Insert or replace; a new id becomes a root."""
        async with self._work.writing() as connection:
            rows = await connection.execute(LOCK_SESSION, (self._tenant, check_id(meta.id)))
            new = put_over(meta, meta_of(rows[0]) if rows else None, self._work.now())
            if rows:
                values = (new.label, new.status.value, new.turn_count, *_times(new))
                await connection.execute(_PUT_SESSION, (*values, self._tenant, new.id))
            else:
                await add_session(connection, self._tenant, new, TopologyNode(new.id, None))
            return new

    async def list_sessions(self, which: SessionFilter | None = None) -> list[SessionMeta]:
        """All sessions, or those the filter accepts, in order of creation."""
        sql = f"SELECT {META_COLUMNS} FROM pe_sessions WHERE tenant = ? ORDER BY created_at, id"
        metas = [meta_of(row) for row in await self._work.fetch(sql, (self._tenant,))]
        return [meta for meta in metas if which is None or which.accepts(meta)]

    async def append_record(self, session_id: str, record: SessionRecord) -> SessionRecord:
        """Append one record; gives it back with its number."""
        return (await self.append_records(session_id, (record,)))[0]

    async def append_records(
        self,
        session_id: str,
        records: Sequence[SessionRecord],
        expected_version: int | None = None,
    ) -> tuple[SessionRecord, ...]:
        """Append records with numbers that follow each other."""
        async with self._work.writing() as connection:
            if not records:
                await self._locked(connection, session_id, expected_version)
                return ()
            row = await self._change(connection, session_id, len(records), expected_version)
            return await self._add_records(connection, row, records)

    async def list_records(
        self, session_id: str, query: RecordQuery = EVERY_RECORD
    ) -> list[SessionRecord]:
        """Records in order; filters first, then offset, then limit."""
        where = "tenant = ? AND session_id = ? AND number > ?"
        values: list[object] = [self._tenant, key_of(session_id), bounded(query.after)]
        if query.role is not None:
            where += " AND role = ?"
            values.append(clean_text(query.role))
        limit = _ALL if query.limit is None else max(bounded(query.limit), 0)
        sql = f"SELECT {RECORD_COLUMNS} FROM pe_records WHERE {where} ORDER BY number LIMIT ? OFFSET ?"
        rows = await self._work.fetch(sql, (*values, limit, max(bounded(query.offset), 0)))
        return records_of(rows)

    async def replace_record(
        self, session_id: str, record: SessionRecord, expected_version: int | None = None
    ) -> SessionMeta:
        """Replace the record of the same number."""
        key = (self._tenant, key_of(session_id), bounded(record.number))
        async with self._work.writing() as connection:
            await self._locked(connection, session_id, expected_version)
            sql = "SELECT 1 FROM pe_records WHERE tenant = ? AND session_id = ? AND number = ?"
            if not await connection.execute(sql, key):
                raise no_record(session_id, record.number)
            values = record_row(clean_record(record, record.number))[1:]
            await connection.execute(_PUT_RECORD, (*values, *key))
            return meta_of(await self._change(connection, session_id, 0, None))

    async def trim_records(
        self, session_id: str, keep: int, expected_version: int | None = None
    ) -> int:
        """Keep the newest `keep` records; gives the number removed."""
        async with self._work.writing() as connection:
            row = await self._locked(connection, session_id, expected_version)
            first = int(row[-1])
            if keep > 0:
                sql = """SELECT number FROM pe_records WHERE tenant = ? AND session_id = ?
                    ORDER BY number DESC LIMIT 1 OFFSET ?"""
                found = await connection.execute(sql, (self._tenant, session_id, bounded(keep) - 1))
                first = int(found[0][0]) if found else 0
            return await self._keep(connection, session_id, first, _ALL)

    async def remove_records_after(
        self, session_id: str, number: int, expected_version: int | None = None
    ) -> int:
        """Remove the records with a higher number; gives the number removed."""
        async with self._work.writing() as connection:
            await self._locked(connection, session_id, expected_version)
            return await self._keep(connection, session_id, 0, max(bounded(number), 0))

    async def commit_turn(self, session_id: str, turn: TurnCommit) -> Committed:
        """Store a whole turn in one step."""
        key = (self._tenant, key_of(session_id))
        async with self._work.writing() as connection:
            now = self._work.now()
            turns = check_turns(turn.completed_turns)
            values = (len(turn.records), now, now, turns, *key, _bounded(turn.expected_version))
            rows = await connection.execute(_TURN, values)
            if not rows:
                await self._refuse(connection, session_id, turn.expected_version, is_turn=True)
            stored = await self._add_records(connection, rows[0], turn.records)
            for slot, text in turn_slots(turn.variables, turn.state, turn.compression):
                await connection.execute(_PUT_SLOT, (slot.value, text, *key))
            if turn.consumed_insight is not None:
                consumed = clean_text(turn.consumed_insight)
                sql = _CLEAR_SLOT + " AND content = ?"
                await connection.execute(sql, (*key, Slot.INSIGHT.value, consumed))
            return Committed(meta_of(rows[0]), stored)

    async def read_slot(self, session_id: str, slot: Slot) -> str | None:
        """The stored text, or None."""
        sql = "SELECT content FROM pe_slots WHERE tenant = ? AND session_id = ? AND slot = ?"
        values = (self._tenant, key_of(session_id), slot.value)
        rows = await self._work.fetch(sql, values)
        return str(rows[0][0]) if rows else None

    async def write_slot(self, session_id: str, slot: Slot, text: str | None) -> None:
        """Replace or (None) remove the text."""
        key = (self._tenant, key_of(session_id))
        async with self._work.writing() as connection:
            if text is None:
                found = await connection.execute(_META, key)
                await connection.execute(_CLEAR_SLOT, (*key, slot.value))
            else:
                found = await connection.execute(_PUT_SLOT, (slot.value, text, *key))
            if not found:
                raise not_found(session_id)

    # ---- pieces ----

    async def _locked(
        self, connection: Connection, session_id: str, expected_version: int | None
    ) -> Row:
        """The session's row, locked against other writers."""
        rows = await connection.execute(LOCK_SESSION, (self._tenant, key_of(session_id)))
        if not rows:
            raise not_found(session_id)
        check_version(meta_of(rows[0]), expected_version)
        return rows[0]

    async def _change(
        self, connection: Connection, session_id: str, count: int, expected_version: int | None
    ) -> Row:
        """Count up version and numbers; gives the new row."""
        key = (self._tenant, key_of(session_id))
        values = (count, self._work.now(), *key, _bounded(expected_version))
        rows = await connection.execute(_CHANGE, values)
        if not rows:
            await self._refuse(connection, session_id, expected_version)
        return rows[0]

    async def _refuse(
        self,
        connection: Connection,
        session_id: str,
        expected_version: int | None,
        *,
        is_turn: bool = False,
    ) -> NoReturn:
        """Say why a session's row did not take a change."""
        rows = await connection.execute(_META, (self._tenant, key_of(session_id)))
        if not rows:
            raise not_found(session_id)
        meta = meta_of(rows[0])
        if is_turn:
            check_active(meta)
        check_version(meta, expected_version)
        raise not_found(session_id)

    async def _add_records(
        self, connection: Connection, row: Row, records: Sequence[SessionRecord]
    ) -> tuple[SessionRecord, ...]:
        """Insert records under the last numbers that the row handed out."""
        stored = clean_records(records, int(row[-1]) - len(records))
        await insert_records(connection, self._tenant, str(row[0]), stored)
        return stored

    async def _keep(self, connection: Connection, session_id: str, first: int, last: int) -> int:
        values = (self._tenant, session_id, first, last)
        sql = f"SELECT count(*) FROM pe_records WHERE {_OUTSIDE}"
        removed = int((await connection.execute(sql, values))[0][0])
        if removed:
            await connection.execute(f"DELETE FROM pe_records WHERE {_OUTSIDE}", values)
            await self._change(connection, session_id, 0, None)
        return removed


def _bounded(number: int | None) -> int | None:
    return None if number is None else bounded(number)


def _times(meta: SessionMeta) -> tuple[str, str, str]:
    return meta.created_at, meta.updated_at, meta.last_active_at


async def add_session(
    connection: Connection,
    tenant: str,
    meta: SessionMeta,
    node: TopologyNode,
    *,
    next_number: int = 1,
    config: str | None = None,
) -> None:
    """Insert a session's row."""
    about = (meta.id, meta.label, meta.status.value, meta.turn_count, *_times(meta), meta.version)
    place = (node.parent_id, node.depth, node.index, node.source_session_id)
    await connection.execute(_ADD_SESSION, (tenant, *about, next_number, *place, config))


async def insert_records(
    connection: Connection, tenant: str, session_id: str, records: Sequence[SessionRecord]
) -> None:
    """Insert records that have their numbers."""
    if records:
        rows = [(tenant, session_id, *record_row(record)) for record in records]
        await connection.execute_many(_ADD_RECORD, rows)


async def put_slot(
    connection: Connection, tenant: str, session_id: str, slot: str, text: str
) -> None:
    """Insert or replace a slot's text."""
    await connection.execute(_PUT_SLOT, (slot, text, tenant, session_id))
