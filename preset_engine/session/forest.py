"""What may be read and written of all sessions without a model: lists, topology, digests, slots, references.

This is the side that a reflection works from: it collects the memories of all sessions at once and puts insights
back, one by one. How often, with which model and which prompt is the application's affair (seed 000, section 4).
"""

from __future__ import annotations

from preset_engine.context import Context
from preset_engine.errors import NotConfigured
from preset_engine.session.clock import running_context
from preset_engine.session.meta import (
    SessionDigest,
    SessionFilter,
    SessionMeta,
    SessionStatus,
    stamp,
)
from preset_engine.session.protocols import Store
from preset_engine.session.record import EVERY_RECORD, RecordQuery, SessionRecord
from preset_engine.session.refusals import not_found
from preset_engine.session.stored import StoredSession
from preset_engine.session.topology import SessionTreeNode, TopologyNode


class Forest:
    """All sessions of one store.

    Args:
        store: where they live. Without one every method says what is missing.
        context: clock and ids.
    """

    def __init__(self, store: Store | None = None, context: Context | None = None) -> None:
        self._given = store
        self._context = context or running_context()

    @property
    def store(self) -> Store:
        """The store.

        Raises:
            NotConfigured: there is none.
        """
        if self._given is None:
            raise NotConfigured(
                "the agent has no storage; give it one, as from open_storage('memory:')"
            )
        return self._given

    def now(self) -> str:
        """A time stamp of this moment."""
        return stamp(self._context.clock())

    def _stored(self, session_id: str) -> StoredSession:
        return StoredSession(self.store, session_id, self._context)

    async def list_sessions(self, status: SessionStatus | str | None = None) -> list[SessionMeta]:
        """All sessions, or those of one status, in order of creation."""
        return await self.store.list_sessions(_filter(status))

    async def list_roots(self) -> list[TopologyNode]:
        """Sessions without a parent."""
        return await self.store.list_roots()

    async def get_topology(self) -> list[SessionTreeNode]:
        """The whole forest as nested views."""
        return await self.store.get_tree()

    async def get_topology_node(self, session_id: str) -> TopologyNode:
        """One session's place in the forest.

        Raises:
            SessionNotFound: there is no such session.
        """
        node = await self.store.get_node(session_id)
        if node is None:
            raise not_found(session_id)
        return node

    async def get_session_metadata(self, session_id: str) -> SessionMeta:
        """Label, status, turn count and times of one session.

        Raises:
            SessionNotFound: there is no such session.
        """
        return await self._stored(session_id).meta()

    async def list_session_digests(
        self, status: SessionStatus | str | None = None
    ) -> list[SessionDigest]:
        """What a reflection reads: label, memory and unread insight of every session."""
        return [await self._digest(meta) for meta in await self.list_sessions(status)]

    async def get_session_digest(self, session_id: str) -> SessionDigest:
        """The digest of one session.

        Raises:
            SessionNotFound: there is no such session.
        """
        return await self._digest(await self.get_session_metadata(session_id))

    async def _digest(self, meta: SessionMeta) -> SessionDigest:
        return SessionDigest(
            id=meta.id,
            label=meta.label,
            status=meta.status,
            memory=await self.store.get_memory(meta.id),
            insight=await self.store.get_insight(meta.id),
        )

    async def list_messages(
        self, session_id: str, query: RecordQuery = EVERY_RECORD
    ) -> list[SessionRecord]:
        """The records of one session; the role filter works first, then offset, then limit."""
        return await self._stored(session_id).messages(query)

    async def put_memory(self, session_id: str, content: str) -> None:
        """Replace a session's memory."""
        await self._stored(session_id).put_memory(content)

    async def put_insight(self, session_id: str, content: str) -> None:
        """Replace a session's insight; its next successful prompt holds it, and only that one."""
        await self._stored(session_id).put_insight(content)

    async def clear_insight(self, session_id: str) -> None:
        """Take back an insight that was not sent yet."""
        await self._stored(session_id).clear_insight()

    async def rename_session(self, session_id: str, label: str) -> SessionMeta:
        """Change a session's label."""
        return await self._stored(session_id).rename(label)

    async def add_reference(self, from_id: str, to_id: str) -> None:
        """Let one session point to another, across trees too.

        Raises:
            InvalidReference: the session itself, an ancestor or a descendant.
        """
        await self.store.add_ref(from_id, to_id)


def _filter(status: SessionStatus | str | None) -> SessionFilter | None:
    return None if status is None else SessionFilter(SessionStatus(status))
