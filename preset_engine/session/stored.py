"""A session without its model: meta, slots and records, and what may be done to them by hand.

An archived session can be read and forked; everything else is refused. Edits and swipes are SillyTavern's: an
edit changes the chosen text, a swipe is one more text of the same reply. Both change what the next prompt holds,
so the reported size of the newest prompt is forgotten; a summary that covered a changed record no longer fits
its digest and is made anew by itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from preset_engine.context import Context
from preset_engine.errors import SessionError
from preset_engine.session.clock import running_context
from preset_engine.session.meta import SessionMeta, SessionStatus, stamp
from preset_engine.session.protocols import SessionStorage
from preset_engine.session.record import EVERY_RECORD, RecordQuery, SessionRecord
from preset_engine.session.refusals import check_active, not_found

T = TypeVar("T")


class StoredSession:
    """One session in a store, by its id."""

    def __init__(
        self, storage: SessionStorage, session_id: str, context: Context | None = None
    ) -> None:
        self._storage = storage
        self._id = session_id
        self._context = context or running_context()

    @property
    def id(self) -> str:
        """The id, shared with the topology node."""
        return self._id

    @property
    def storage(self) -> SessionStorage:
        """Where the session lives."""
        return self._storage

    def now(self) -> str:
        """A time stamp of this moment, as records carry it."""
        return stamp(self._context.clock())

    async def meta(self) -> SessionMeta:
        """The session's meta.

        Raises:
            SessionNotFound: the session is not in the store.
        """
        meta = await self._storage.get_session(self._id)
        if meta is None:
            raise not_found(self._id)
        return meta

    async def _active(self) -> SessionMeta:
        return self._check_active(await self.meta())

    def _check_active(self, meta: SessionMeta) -> SessionMeta:
        check_active(meta)
        return meta

    async def messages(self, query: RecordQuery = EVERY_RECORD) -> list[SessionRecord]:
        """The stored records; the role filter works first, then offset, then limit."""
        await self.meta()
        return await self._storage.list_records(self._id, query)

    async def system_prompt(self) -> str | None:
        """The system prompt slot."""
        return await self._storage.get_system_prompt(self._id)

    async def put_system_prompt(self, content: str) -> None:
        """Replace the system prompt."""
        await self._active()
        await self._storage.put_system_prompt(self._id, content)

    async def insight(self) -> str | None:
        """The insight that the next prompt will hold, or None."""
        return await self._storage.get_insight(self._id)

    async def put_insight(self, content: str) -> None:
        """Replace the insight: exactly one successful prompt will hold it."""
        await self._active()
        await self._storage.put_insight(self._id, content)

    async def clear_insight(self) -> None:
        """Take back an insight that was not sent yet."""
        await self._active()
        await self._storage.clear_insight(self._id)

    async def memory(self) -> str | None:
        """The memory, for readers outside; no prompt of the session holds it."""
        return await self._storage.get_memory(self._id)

    async def put_memory(self, content: str) -> None:
        """Replace the memory."""
        await self._active()
        await self._storage.put_memory(self._id, content)

    async def rename(self, label: str) -> SessionMeta:
        """Change the label; the next prompt's identity shows it."""
        return await self._change_meta(label=label)

    async def archive(self) -> SessionMeta:
        """Take no more turns; repeatable."""
        meta = await self.meta()
        return meta if meta.is_archived else await self._change_meta(status=SessionStatus.ARCHIVED)

    async def _change_meta(
        self, label: str | None = None, status: SessionStatus | None = None
    ) -> SessionMeta:
        async def change(storage: SessionStorage) -> SessionMeta:
            meta = await self._taken(storage)
            changed = SessionMeta(
                id=meta.id,
                label=meta.label if label is None else label,
                status=meta.status if status is None else status,
                turn_count=meta.turn_count,
                created_at=meta.created_at,
                last_active_at=meta.last_active_at,
            )
            return await storage.put_session(changed)

        return await self._storage.transaction(change)

    async def _taken(self, storage: SessionStorage) -> SessionMeta:
        """The meta, which nobody else changes before the running transaction ends."""
        await storage.append_records(self._id, ())
        return await StoredSession(storage, self._id, self._context)._active()

    async def trim(self, keep: int) -> int:
        """Keep only the newest records.

        Returns:
            How many were removed.

        Raises:
            SessionError: `keep` is negative.
        """
        if keep < 0:
            raise SessionError(f"cannot keep {keep} records; give 0 or more")
        return await self._rewrite(lambda storage: storage.trim_records(self._id, keep))

    async def remove_after(self, number: int) -> int:
        """Remove all records behind this one (undo); how many were removed."""
        return await self._rewrite(lambda storage: storage.remove_records_after(self._id, number))

    async def edit(self, number: int, text: str) -> SessionRecord:
        """Replace the chosen text of a record; its other alternatives stay."""
        return await self._change_record(number, lambda record: record.edited(text, self.now()))

    async def add_alternative(self, number: int, text: str) -> SessionRecord:
        """Give a reply one more text and choose it."""

        def add(record: SessionRecord) -> SessionRecord:
            _check_reply(record)
            return record.with_alternative(text)

        return await self._change_record(number, add)

    async def choose_alternative(self, number: int, index: int) -> SessionRecord:
        """Choose another text of a reply.

        Raises:
            SessionError: the reply has no such text.
        """

        def choose(record: SessionRecord) -> SessionRecord:
            try:
                return record.choose(index)
            except IndexError as error:
                raise SessionError(f"{error}; choose another index") from error

        return await self._change_record(number, choose)

    async def _change_record(
        self, number: int, change: Callable[[SessionRecord], SessionRecord]
    ) -> SessionRecord:
        async def replace(storage: SessionStorage) -> SessionRecord:
            query = RecordQuery(after=number - 1, limit=1)
            found = [r for r in await storage.list_records(self._id, query) if r.number == number]
            if not found:
                raise SessionError(f"session {self._id!r} has no record {number}")
            changed = change(found[0])
            await storage.replace_record(self._id, changed)
            return changed

        return await self._rewrite(replace)

    async def _rewrite(self, work: Callable[[SessionStorage], Awaitable[T]]) -> T:
        """Change records by hand, in one step with forgetting the newest prompt's size."""

        async def step(storage: SessionStorage) -> T:
            await self._taken(storage)
            result = await work(storage)
            state = await storage.get_state(self._id)
            if "usage" in state:
                left = {key: value for key, value in state.items() if key != "usage"}
                await storage.put_state(self._id, left)
            return result

        return await self._storage.transaction(step)


def _check_reply(record: SessionRecord) -> None:
    if record.role != "assistant" or record.tool_calls:
        raise SessionError(f"record {record.number} is no reply, so it takes no alternatives")
