"""The SQL store: content and shape over one database, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from preset_engine.session.protocols import SessionDump
from preset_engine.storage.border import check_id, check_tenant, dumps, key_of
from preset_engine.storage.rows import RECORD_COLUMNS, meta_of, records_of
from preset_engine.storage.slots import slot_text, slot_value
from preset_engine.storage.sql_content import (
    LOCK_SESSION,
    SqlContent,
    add_session,
    insert_records,
    put_slot,
)
from preset_engine.storage.sql_tree import SqlTree
from preset_engine.storage.sql_work import SqlWork

Result = TypeVar("Result")


class SqlStore(SqlContent, SqlTree):
    """`Store` over a SQL database."""

    def __init__(self, tenant: str, work: SqlWork) -> None:
        self._tenant = tenant
        self._work = work

    @property
    def tenant(self) -> str:
        """The name whose sessions are seen."""
        return self._tenant

    def for_tenant(self, tenant: str) -> SqlStore:
        """Another tenant's store over the same database and the same transaction."""
        return SqlStore(check_tenant(tenant), self._work)

    async def transaction(self, work: Callable[[SqlStore], Awaitable[Result]]) -> Result:
        """Run `work(self)` as one step; an exception undoes it."""
        async with self._work.nested():
            return await work(self)

    async def dump_session(self, session_id: str) -> SessionDump | None:
        """The whole session as values, or None."""
        key = (self._tenant, key_of(session_id))
        async with self._work.writing() as connection:
            # The row's lock holds other writers off, so that all parts are of one moment.
            rows = await connection.execute(LOCK_SESSION, key)
            node = await self.get_node(session_id)
            if node is None:
                return None
            sql = f"SELECT {RECORD_COLUMNS} FROM pe_records WHERE tenant = ? AND session_id = ? ORDER BY number"
            records = await connection.execute(sql, key)
            sql = "SELECT slot, content FROM pe_slots WHERE tenant = ? AND session_id = ? ORDER BY slot"
            slots = await connection.execute(sql, key)
            return SessionDump(
                meta=meta_of(rows[0]),
                node=node,
                config=await self.get_config(session_id),
                slots={slot: slot_value(slot, text) for slot, text in slots},
                records=tuple(records_of(records)),
                next_number=int(rows[0][-1]),
            )

    async def restore_session(self, dump: SessionDump) -> None:
        """Store a dumped session under its own id."""
        id_, place = check_id(dump.meta.id), dump.node
        async with self._work.writing() as connection:
            await self._refuse_taken(connection, id_)
            await self._next_place(connection, place.parent_id)
            config = None if dump.config is None else dumps(dump.config.to_json())
            number = dump.next_number
            await add_session(
                connection, self._tenant, dump.meta, place, next_number=number, config=config
            )
            await insert_records(connection, self._tenant, id_, dump.records)
            for slot, value in dump.slots.items():
                await put_slot(connection, self._tenant, id_, slot, slot_text(slot, value))

    async def close(self) -> None:
        """Give all connections back."""
        await self._work.database.close()
