"""The shape half of a SQL store: nodes, references and configs.

Children are told by their parent's id, ancestors by a recursive query. A new child takes its index from a counter in
the parent's row, so children created at the same time wait for each other and none is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from preset_engine.characters import clean_text
from preset_engine.session.meta import (
    DEFAULT_CHILD_LABEL,
    DEFAULT_ROOT_LABEL,
    FrozenConfig,
    MetaUpdate,
    SessionMeta,
    SessionStatus,
)
from preset_engine.session.refusals import not_found, taken
from preset_engine.session.topology import (
    SessionTreeNode,
    TopologyNode,
    build_forest,
    check_reference,
)
from preset_engine.storage.border import (
    check_id,
    check_turns,
    clean_config,
    dumps,
    key_of,
    put_over,
)
from preset_engine.storage.rows import META_COLUMNS, NODE_COLUMNS, config_of, meta_of, nodes_of
from preset_engine.storage.sql_content import LOCK_SESSION, add_session
from preset_engine.storage.sql_work import Connection, SqlWork

_CHUNK = 500  # ids in one statement

_ONE_MORE_CHILD = """UPDATE pe_sessions SET child_count = child_count + 1 WHERE tenant = ? AND id = ?
    RETURNING depth, child_count"""
_ABOVE = """WITH RECURSIVE up (id, parent_id, depth) AS (
        SELECT id, parent_id, depth FROM pe_sessions WHERE tenant = ? AND id = ?
        UNION ALL
        SELECT above.id, above.parent_id, above.depth FROM pe_sessions AS above
        JOIN up ON above.id = up.parent_id WHERE above.tenant = ?)
    SELECT id FROM up ORDER BY depth DESC"""
_ADD_REF = """INSERT INTO pe_refs (tenant, from_id, to_id, place)
    SELECT tenant, id, ?, (SELECT coalesce(max(place) + 1, 0) FROM pe_refs WHERE tenant = ? AND from_id = ?)
    FROM pe_sessions WHERE tenant = ? AND id = ? ON CONFLICT (tenant, from_id, to_id) DO NOTHING"""
_UPDATE = """UPDATE pe_sessions SET label = ?, status = ?, turn_count = ?, updated_at = ?
    WHERE tenant = ? AND id = ?"""


class SqlTree:
    """`SessionTree` over a database."""

    _tenant: str
    _work: SqlWork

    async def create_session(
        self,
        *,
        parent_id: str | None = None,
        label: str | None = None,
        source_session_id: str | None = None,
        session_id: str | None = None,
    ) -> TopologyNode:
        """Make a node; without a parent it is a root."""
        id_ = check_id(self._work.new_id() if session_id is None else session_id)
        default = DEFAULT_ROOT_LABEL if parent_id is None else DEFAULT_CHILD_LABEL
        meta = SessionMeta(id_, default if label is None else label)
        async with self._work.writing() as connection:
            meta = put_over(meta, None, self._work.now())
            await self._refuse_taken(connection, id_)
            depth, index = await self._next_place(connection, parent_id)
            source = None if source_session_id is None else clean_text(source_session_id)
            node = TopologyNode(id_, parent_id, (), (), depth, index, meta.label, source)
            await add_session(connection, self._tenant, meta, node)
            return node

    async def get(self, session_id: str) -> SessionMeta | None:
        """The session's meta, or None."""
        sql = f"SELECT {META_COLUMNS} FROM pe_sessions WHERE tenant = ? AND id = ?"
        rows = await self._work.fetch(sql, (self._tenant, key_of(session_id)))
        return meta_of(rows[0]) if rows else None

    async def get_node(self, session_id: str) -> TopologyNode | None:
        """The session's node, or None."""
        found = await self._nodes([key_of(session_id)])
        return found[0] if found else None

    async def list_all(self) -> list[TopologyNode]:
        """Every node in order of creation."""
        values = (self._tenant,)
        refs = await self._work.fetch(
            "SELECT from_id, to_id FROM pe_refs WHERE tenant = ? ORDER BY place", values
        )
        rows = await self._work.fetch(
            f"SELECT {NODE_COLUMNS} FROM pe_sessions WHERE tenant = ? ORDER BY created_at, id",
            values,
        )
        by_place = sorted(rows, key=lambda row: int(row[3]))
        return nodes_of(rows, [(row[1], row[0]) for row in by_place], refs)

    async def list_roots(self) -> list[TopologyNode]:
        """Nodes without a parent in order of creation."""
        sql = """SELECT id FROM pe_sessions WHERE tenant = ? AND parent_id IS NULL
            ORDER BY created_at, id"""
        rows = await self._work.fetch(sql, (self._tenant,))
        return await self._nodes([row[0] for row in rows])

    async def get_tree(self) -> list[SessionTreeNode]:
        """The forest as nested views."""
        nodes = await self.list_all()
        sql = f"SELECT {META_COLUMNS} FROM pe_sessions WHERE tenant = ?"
        metas = {row[0]: meta_of(row) for row in await self._work.fetch(sql, (self._tenant,))}
        return build_forest(nodes, metas)

    async def get_ancestors(self, session_id: str) -> list[TopologyNode]:
        """The nodes above, nearest first."""
        line = await self._line(session_id)
        return await self._nodes(line[1:])

    async def get_siblings(self, session_id: str) -> list[TopologyNode]:
        """Other children of the parent in order; a root has none."""
        line = await self._line(session_id)
        if len(line) == 1:
            return []
        sql = """SELECT id FROM pe_sessions WHERE tenant = ? AND parent_id = ? AND id <> ?
            ORDER BY place"""
        rows = await self._work.fetch(sql, (self._tenant, line[1], line[0]))
        return await self._nodes([row[0] for row in rows])

    async def archive(self, session_id: str) -> None:
        """Set the status; children stay as they are."""
        await self.update_meta(session_id, MetaUpdate(status=SessionStatus.ARCHIVED))

    async def add_ref(self, from_id: str, to_id: str) -> None:
        """Point from one node to another; a repeat changes nothing."""
        async with self._work.writing() as connection:
            if not await connection.execute(LOCK_SESSION, (self._tenant, key_of(from_id))):
                raise not_found(from_id)
            above_from, above_to = await self._line(from_id), await self._line(to_id)
            check_reference(from_id, to_id, above_from[1:], above_to[1:])
            values = (to_id, self._tenant, from_id, self._tenant, from_id)
            await connection.execute(_ADD_REF, values)

    async def update_meta(self, session_id: str, update: MetaUpdate) -> SessionMeta:
        """Change label, turn count or status."""
        key = (self._tenant, key_of(session_id))
        async with self._work.writing() as connection:
            await connection.execute(LOCK_SESSION, key)
            meta = await self.get(session_id)
            if meta is None:
                raise not_found(session_id)
            new = update.applied(meta, self._work.now())
            new = replace(new, label=clean_text(new.label), turn_count=check_turns(new.turn_count))
            values = (new.label, new.status.value, new.turn_count, new.updated_at)
            await connection.execute(_UPDATE, (*values, *key))
            return new

    async def get_config(self, session_id: str) -> FrozenConfig | None:
        """The frozen config, or None when never written."""
        sql = "SELECT config FROM pe_sessions WHERE tenant = ? AND id = ?"
        rows = await self._work.fetch(sql, (self._tenant, key_of(session_id)))
        return config_of(rows[0][0]) if rows else None

    async def put_config(self, session_id: str, config: FrozenConfig) -> None:
        """Replace the frozen config as a whole."""
        sql = "UPDATE pe_sessions SET config = ? WHERE tenant = ? AND id = ? RETURNING id"
        values = (dumps(clean_config(config).to_json()), self._tenant, key_of(session_id))
        async with self._work.writing() as connection:
            if not await connection.execute(sql, values):
                raise not_found(session_id)

    # ---- pieces ----

    async def _line(self, session_id: str) -> list[str]:
        """Ids from the session up to its root; raises `SessionNotFound`."""
        values = (self._tenant, key_of(session_id), self._tenant)
        rows = await self._work.fetch(_ABOVE, values)
        if not rows:
            raise not_found(session_id)
        return [row[0] for row in rows]

    async def _nodes(self, ids: Sequence[str]) -> list[TopologyNode]:
        """The nodes of these ids, in this order; unknown ids are left out."""
        found: dict[str, TopologyNode] = {}
        for start in range(0, len(ids), _CHUNK):
            chunk = ids[start : start + _CHUNK]
            some = f"tenant = ? AND %s IN ({', '.join('?' * len(chunk))})"
            values = (self._tenant, *chunk)
            nodes = nodes_of(
                await self._work.fetch(
                    f"SELECT {NODE_COLUMNS} FROM pe_sessions WHERE {some % 'id'}", values
                ),
                await self._work.fetch(
                    f"SELECT parent_id, id FROM pe_sessions WHERE {some % 'parent_id'} ORDER BY place",
                    values,
                ),
                await self._work.fetch(
                    f"SELECT from_id, to_id FROM pe_refs WHERE {some % 'from_id'} ORDER BY place",
                    values,
                ),
            )
            found.update((node.id, node) for node in nodes)
        return [found[id_] for id_ in ids if id_ in found]

    async def _refuse_taken(self, connection: Connection, session_id: str) -> None:
        sql = "SELECT id FROM pe_sessions WHERE tenant = ? AND id = ?"
        if await connection.execute(sql, (self._tenant, session_id)):
            raise taken(session_id)

    async def _next_place(self, connection: Connection, parent_id: str | None) -> tuple[int, int]:
        """Depth and index of a new node; the parent's row stays locked."""
        if parent_id is None:
            return 0, 0
        key = (self._tenant, key_of(parent_id))
        rows = await connection.execute(_ONE_MORE_CHILD, key)
        if not rows:
            raise not_found(parent_id)
        return int(rows[0][0]) + 1, int(rows[0][1]) - 1
