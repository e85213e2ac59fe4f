"""The working side of a store in this process: shelf, journal, and who may touch them when.

The journal makes the shelf last: the memory back end has one that does nothing, the file back end one that locks,
reads what other processes wrote, and appends what this one did::

    write:  lock -> journal.acquire (other processes wait, their changes are read) -> changes on the shelf
            -> journal.write (stored for good) -> release;  an exception before that takes the changes back
    read:   lock -> journal.refresh -> shelf
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Protocol

from anyio import Lock

from preset_engine.session.meta import SessionMeta, stamp
from preset_engine.session.refusals import not_found
from preset_engine.storage.block import Block
from preset_engine.storage.changes import Change
from preset_engine.storage.shelf import Content, Place, Shelf


class Journal(Protocol):
    """Makes a shelf last. A session id stands for its content, None for the metas of all sessions."""

    async def acquire(self, shelf: Shelf) -> None:
        """Keep other processes out and read what they wrote to the tree."""
        ...

    async def release(self) -> None:
        """Let other processes in."""
        ...

    async def refresh(self, shelf: Shelf, session_id: str | None) -> None:
        """Read what others wrote: the tree, and the content or the metas asked for."""
        ...

    async def load(self, shelf: Shelf, session_id: str | None) -> None:
        """The same while acquired."""
        ...

    async def write(self, shelf: Shelf, changes: Sequence[Change]) -> None:
        """Store the changes as one step; on an error nothing is stored.

        A cancellation that arrives meanwhile is raised after the write.
        """
        ...

    async def close(self) -> None:
        """Give files back."""
        ...


class Workspace:
    """Blocks of writing and moments of reading on one tenant's shelf."""

    def __init__(
        self, journal: Journal, clock: Callable[[], datetime], new_id: Callable[[], str]
    ) -> None:
        self.journal = journal
        self.new_id = new_id
        self.shelf = Shelf()
        self._clock = clock
        self._lock = Lock(fast_acquire=True)
        self._current: ContextVar[Block | None] = ContextVar("block", default=None)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Block]:
        """A block that ends stored or taken back; inside another it joins that."""
        block = self._current.get()
        if block is None or not block.is_open:
            async with self._lock:
                await self.journal.acquire(self.shelf)
                try:
                    async with self._fresh_block() as block:
                        yield block
                finally:
                    await self.journal.release()
            return
        mark = block.mark()
        try:
            yield block
        except BaseException:
            block.take_back(mark)
            raise

    @asynccontextmanager
    async def _fresh_block(self) -> AsyncIterator[Block]:
        block = Block(self.shelf)
        token = self._current.set(block)
        try:
            yield block
        except BaseException:
            block.take_back()
            raise
        finally:
            block.is_open = False
            self._current.reset(token)
        try:
            if block.changes:
                await self.journal.write(self.shelf, block.changes)
        except Exception:
            block.take_back()
            raise

    @asynccontextmanager
    async def reading(self, session_id: str | None) -> AsyncIterator[Shelf]:
        """The shelf with all that is stored of the session, or (None) of all metas."""
        block = self._current.get()
        if block is not None and block.is_open:
            await self.journal.load(self.shelf, session_id)
            yield self.shelf
            return
        async with self._lock:
            await self.journal.refresh(self.shelf, session_id)
            yield self.shelf

    async def session(self, session_id: str) -> tuple[SessionMeta, Content]:
        """Meta and content, inside a block; raises `SessionNotFound`."""
        await self.journal.load(self.shelf, session_id)
        meta = self.shelf.metas.get(session_id)
        if meta is None:
            raise not_found(session_id)
        return meta, self.shelf.contents.setdefault(session_id, Content())

    def place(self, session_id: str) -> Place:
        """The place of an existing session; raises `SessionNotFound`."""
        place = self.shelf.places.get(session_id)
        if place is None:
            raise not_found(session_id)
        return place

    def now(self) -> str:
        """The present time as it is stored."""
        return stamp(self._clock())
