"""The content half of a store in this process: meta, records and slots over a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from preset_engine.characters import clean_text
from preset_engine.session.meta import SessionFilter, SessionMeta
from preset_engine.session.protocols import Committed, TurnCommit
from preset_engine.session.record import EVERY_RECORD, RecordQuery, SessionRecord
from preset_engine.session.refusals import check_active, check_version, no_record
from preset_engine.session.topology import TopologyNode
from preset_engine.storage.block import Block
from preset_engine.storage.border import (
    check_id,
    check_turns,
    clean_record,
    clean_records,
    put_over,
    touched,
)
from preset_engine.storage.changes import (
    MetaPut,
    NodeAdded,
    RecordReplaced,
    RecordsAdded,
    RecordsKept,
    SlotPut,
)
from preset_engine.storage.slots import Slot, SlotDoors, turn_slots
from preset_engine.storage.workspace import Workspace


class LocalContent(SlotDoors):
    """`SessionStorage` but for `transaction`."""

    _work: Workspace

    async def get_session(self, session_id: str) -> SessionMeta | None:
        """The session's meta, or None."""
        async with self._work.reading(session_id) as shelf:
            return shelf.metas.get(session_id)

    async def put_session(self, meta: SessionMeta) -> SessionMeta:
        """Insert or replace; a new id becomes a root."""
        async with self._work.writing() as block:
            await self._work.journal.load(self._work.shelf, check_id(meta.id))
            old = self._work.shelf.metas.get(meta.id)
            new = put_over(meta, old, self._work.now())
            if old is None:
                block.make(NodeAdded(TopologyNode(meta.id, None), new))
            else:
                await self._work.session(meta.id)
                block.make(MetaPut(new))
            return new

    async def list_sessions(self, which: SessionFilter | None = None) -> list[SessionMeta]:
        """All sessions, or those the filter accepts, in order of creation."""
        async with self._work.reading(None) as shelf:
            metas = [shelf.metas[id_] for id_ in shelf.in_order()]
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
        async with self._work.writing() as block:
            meta, content = await self._work.session(session_id)
            check_version(meta, expected_version)
            stored = clean_records(records, content.next_number)
            if stored:
                block.make(RecordsAdded(session_id, stored))
                block.make(MetaPut(touched(meta, self._work.now())))
            return stored

    async def list_records(
        self, session_id: str, query: RecordQuery = EVERY_RECORD
    ) -> list[SessionRecord]:
        """Records in order; filters first, then offset, then limit."""
        async with self._work.reading(session_id) as shelf:
            content = shelf.contents.get(session_id)
            return [] if content is None else content.select(query)

    async def replace_record(
        self, session_id: str, record: SessionRecord, expected_version: int | None = None
    ) -> SessionMeta:
        """Replace the record of the same number."""
        async with self._work.writing() as block:
            meta, content = await self._work.session(session_id)
            check_version(meta, expected_version)
            if content.place(record.number) < 0:
                raise no_record(session_id, record.number)
            block.make(RecordReplaced(session_id, clean_record(record, record.number)))
            new = touched(meta, self._work.now())
            block.make(MetaPut(new))
            return new

    async def trim_records(
        self, session_id: str, keep: int, expected_version: int | None = None
    ) -> int:
        """Keep the newest `keep` records; gives the number removed."""
        async with self._work.writing() as block:
            _, content = await self._work.session(session_id)
            count = len(content.records)
            first = content.records[count - keep].number if 0 < keep < count else 1
            first = content.next_number if keep <= 0 else first
            return await self._keep(
                block, session_id, (first, content.next_number), expected_version
            )

    async def remove_records_after(
        self, session_id: str, number: int, expected_version: int | None = None
    ) -> int:
        """Remove the records with a higher number; gives the number removed."""
        async with self._work.writing() as block:
            return await self._keep(block, session_id, (1, max(number, 0)), expected_version)

    async def _keep(
        self, block: Block, session_id: str, numbers: tuple[int, int], expected_version: int | None
    ) -> int:
        meta, content = await self._work.session(session_id)
        check_version(meta, expected_version)
        first, last = numbers
        kept = sum(first <= record.number <= last for record in content.records)
        removed = len(content.records) - kept
        if removed:
            block.make(RecordsKept(session_id, first, last))
            block.make(MetaPut(touched(meta, self._work.now())))
        return removed

    async def commit_turn(self, session_id: str, turn: TurnCommit) -> Committed:
        """Store a whole turn in one step."""
        async with self._work.writing() as block:
            meta, content = await self._work.session(session_id)
            check_active(meta)
            check_version(meta, turn.expected_version)
            stored = clean_records(turn.records, content.next_number)
            if stored:
                block.make(RecordsAdded(session_id, stored))
            for slot, text in turn_slots(turn.variables, turn.state, turn.compression):
                block.make(SlotPut(session_id, slot, text))
            consumed = turn.consumed_insight
            if consumed is not None and content.slots.get(Slot.INSIGHT) == clean_text(consumed):
                block.make(SlotPut(session_id, Slot.INSIGHT, None))
            now = self._work.now()
            turns = meta.turn_count + check_turns(turn.completed_turns)
            new = replace(touched(meta, now), turn_count=turns, last_active_at=now)
            block.make(MetaPut(new))
            return Committed(new, stored)

    async def read_slot(self, session_id: str, slot: Slot) -> str | None:
        """The stored text, or None."""
        async with self._work.reading(session_id) as shelf:
            content = shelf.contents.get(session_id)
            return None if content is None else content.slots.get(slot)

    async def write_slot(self, session_id: str, slot: Slot, text: str | None) -> None:
        """Replace or (None) remove the text."""
        async with self._work.writing() as block:
            _, content = await self._work.session(session_id)
            if text is not None or slot in content.slots:
                block.make(SlotPut(session_id, slot, text))
