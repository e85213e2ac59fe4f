"""The shape half of a store in this process: nodes, references and configs over a workspace."""

from __future__ import annotations

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
from preset_engine.session.refusals import taken
from preset_engine.session.topology import (
    SessionTreeNode,
    TopologyNode,
    build_forest,
    check_reference,
)
from preset_engine.storage.border import check_id, check_turns, clean_config, put_over
from preset_engine.storage.changes import ConfigPut, MetaPut, NodeAdded, RefAdded
from preset_engine.storage.workspace import Workspace


class LocalTree:
    """`SessionTree` over a workspace."""

    _work: Workspace

    async def create_session(
        self,
        *,
        parent_id: str | None = None,
        label: str | None = None,
        source_session_id: str | None = None,
        session_id: str | None = None,
    ) -> TopologyNode:
        """Make a node; without a parent it is a root."""
        async with self._work.writing() as block:
            id_ = check_id(self._work.new_id() if session_id is None else session_id)
            if id_ in self._work.shelf.metas:
                raise taken(id_)
            parent = None if parent_id is None else self._work.place(parent_id)
            source = None if source_session_id is None else clean_text(source_session_id)
            node = TopologyNode(
                id=id_,
                parent_id=parent_id,
                depth=0 if parent is None else parent.node.depth + 1,
                index=0 if parent is None else len(parent.children),
                source_session_id=source,
            )
            default = DEFAULT_ROOT_LABEL if parent is None else DEFAULT_CHILD_LABEL
            meta = SessionMeta(id_, default if label is None else label)
            block.make(NodeAdded(node, put_over(meta, None, self._work.now())))
            return self._work.shelf.node(id_)

    async def get(self, session_id: str) -> SessionMeta | None:
        """The session's meta, or None."""
        async with self._work.reading(session_id) as shelf:
            return shelf.metas.get(session_id)

    async def get_node(self, session_id: str) -> TopologyNode | None:
        """The session's node, or None."""
        async with self._work.reading(session_id) as shelf:
            return shelf.node(session_id) if session_id in shelf.places else None

    async def list_all(self) -> list[TopologyNode]:
        """Every node in order of creation."""
        async with self._work.reading(None) as shelf:
            return [shelf.node(id_) for id_ in shelf.in_order()]

    async def list_roots(self) -> list[TopologyNode]:
        """Nodes without a parent in order of creation."""
        return [node for node in await self.list_all() if node.parent_id is None]

    async def get_tree(self) -> list[SessionTreeNode]:
        """The forest as nested views."""
        async with self._work.reading(None) as shelf:
            return build_forest([shelf.node(id_) for id_ in shelf.in_order()], shelf.metas)

    async def get_ancestors(self, session_id: str) -> list[TopologyNode]:
        """The nodes above, nearest first."""
        async with self._work.reading(None) as shelf:
            self._work.place(session_id)
            return [shelf.node(id_) for id_ in shelf.ancestors(session_id)]

    async def get_siblings(self, session_id: str) -> list[TopologyNode]:
        """Other children of the parent in order; a root has none."""
        async with self._work.reading(None) as shelf:
            parent_id = self._work.place(session_id).node.parent_id
            children = [] if parent_id is None else shelf.places[parent_id].children
            return [shelf.node(id_) for id_ in children if id_ != session_id]

    async def archive(self, session_id: str) -> None:
        """Set the status; children stay as they are."""
        await self.update_meta(session_id, MetaUpdate(status=SessionStatus.ARCHIVED))

    async def add_ref(self, from_id: str, to_id: str) -> None:
        """Point from one node to another; a repeat changes nothing."""
        async with self._work.writing() as block:
            place, _ = self._work.place(from_id), self._work.place(to_id)
            above = self._work.shelf.ancestors
            check_reference(from_id, to_id, above(from_id), above(to_id))
            if to_id not in place.refs:
                block.make(RefAdded(from_id, to_id))

    async def update_meta(self, session_id: str, update: MetaUpdate) -> SessionMeta:
        """Change label, turn count or status."""
        async with self._work.writing() as block:
            meta, _ = await self._work.session(session_id)
            new = update.applied(meta, self._work.now())
            new = replace(new, label=clean_text(new.label), turn_count=check_turns(new.turn_count))
            block.make(MetaPut(new))
            return new

    async def get_config(self, session_id: str) -> FrozenConfig | None:
        """The frozen config, or None when never written."""
        async with self._work.reading(session_id) as shelf:
            place = shelf.places.get(session_id)
            return None if place is None else place.config

    async def put_config(self, session_id: str, config: FrozenConfig) -> None:
        """Replace the frozen config as a whole."""
        async with self._work.writing() as block:
            self._work.place(session_id)
            block.make(ConfigPut(session_id, clean_config(config)))
