"""Reading a session's state, and not reading twice what has not changed.

Records are immutable and the store counts every change of them, so the records of the version that was read
last are kept; a session that only this process writes reads its history once. Summaries that were made but
not yet stored are kept here too, so a call that failed does not cost the summary again.
"""

from __future__ import annotations

from preset_engine.errors import StorageError
from preset_engine.session.commit import TurnResult
from preset_engine.session.memo import RecordMemo
from preset_engine.session.meta import CompressionSnapshot, SessionMeta
from preset_engine.session.prepared import Loaded, Prepared
from preset_engine.session.protocols import SessionStorage
from preset_engine.session.record import SessionRecord
from preset_engine.session.refusals import not_found


class Loader:
    """Reads one session."""

    def __init__(self, storage: SessionStorage, session_id: str) -> None:
        self._storage = storage
        self._id = session_id
        self.memo = RecordMemo()
        self._version = -1
        self._records: tuple[SessionRecord, ...] = ()
        self._snapshot: CompressionSnapshot | None = None
        self._has_read_snapshot = False

    async def load(self) -> Loaded:
        """The state at the newest version. The meta is read first, so a later change is found at the commit.

        Raises:
            SessionNotFound: there is no such session.
        """
        storage = self._storage
        meta = await storage.get_session(self._id)
        if meta is None:
            raise not_found(self._id)
        return Loaded(
            meta=meta,
            records=await self._read_records(meta),
            system_prompt=await storage.get_system_prompt(self._id),
            insight=await storage.get_insight(self._id),
            variables=await storage.get_variables(self._id),
            state=await storage.get_state(self._id),
            snapshot=await self._read_snapshot(),
        )

    async def _read_records(self, meta: SessionMeta) -> tuple[SessionRecord, ...]:
        if meta.version != self._version:
            self._records = tuple(await self._storage.list_records(self._id))
            self._version = meta.version
        return self._records

    async def _read_snapshot(self) -> CompressionSnapshot | None:
        """The kept summary; a store that cannot give it costs a new summary, not the turn."""
        if not self._has_read_snapshot:
            self._has_read_snapshot = True
            try:
                self._snapshot = await self._storage.get_compression_cache(self._id)
            except StorageError:
                self._snapshot = None
        return self._snapshot

    def keep(self, snapshot: CompressionSnapshot | None) -> None:
        """Remember a summary that was just made."""
        self._snapshot = snapshot

    def committed(self, prepared: Prepared, result: TurnResult) -> None:
        """Take over what a commit stored, where it only added records to what is known."""
        frame = prepared.frame
        only_added = frame.target is None and frame.keep_through is None
        if only_added and self._version == prepared.loaded.meta.version:
            self._records = (*prepared.loaded.records, *result.records)
            self._version = result.meta.version
