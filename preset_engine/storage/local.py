"""The store that lives in this process: content and shape over one workspace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from preset_engine.session.protocols import SessionDump
from preset_engine.session.refusals import taken
from preset_engine.storage.border import check_id, check_tenant
from preset_engine.storage.changes import (
    Change,
    ConfigPut,
    NodeAdded,
    NumberSet,
    RecordsAdded,
    SlotPut,
)
from preset_engine.storage.local_content import LocalContent
from preset_engine.storage.local_tree import LocalTree
from preset_engine.storage.shelf import Content
from preset_engine.storage.slots import slot_text, slot_value
from preset_engine.storage.workspace import Workspace

Result = TypeVar("Result")


class LocalStore(LocalContent, LocalTree):
    """`Store` over a workspace.

    Args:
        tenant: whose sessions these are.
        work: the tenant's workspace.
        family: the stores of all tenants of the place.
    """

    def __init__(self, tenant: str, work: Workspace, family: Family) -> None:
        self._tenant = tenant
        self._work = work
        self._family = family

    @property
    def tenant(self) -> str:
        """The name whose sessions are seen."""
        return self._tenant

    def for_tenant(self, tenant: str) -> LocalStore:
        """Another tenant's store over the same place; a transaction covers one tenant."""
        return self._family.store(check_tenant(tenant))

    async def transaction(self, work: Callable[[LocalStore], Awaitable[Result]]) -> Result:
        """Run `work(self)` as one step; an exception undoes it."""
        async with self._work.writing():
            return await work(self)

    async def dump_session(self, session_id: str) -> SessionDump | None:
        """The whole session as values, or None."""
        async with self._work.reading(session_id) as shelf:
            meta = shelf.metas.get(session_id)
            if meta is None:
                return None
            content = shelf.contents.get(session_id, Content())
            return SessionDump(
                meta=meta,
                node=shelf.node(session_id),
                config=shelf.places[session_id].config,
                slots={name: slot_value(name, text) for name, text in content.slots.items()},
                records=tuple(content.records),
                next_number=content.next_number,
            )

    async def restore_session(self, dump: SessionDump) -> None:
        """Store a dumped session under its own id."""
        async with self._work.writing() as block:
            id_ = check_id(dump.meta.id)
            if id_ in self._work.shelf.metas:
                raise taken(id_)
            if dump.node.parent_id is not None:
                self._work.place(dump.node.parent_id)
            bare = replace(dump.node, children=(), refs=(), label="")
            block.make(NodeAdded(bare, dump.meta))
            self._work.shelf.contents[id_] = Content()
            for change in _content_of(dump):
                block.make(change)

    async def close(self) -> None:
        """Give the files of all tenants back."""
        await self._family.close()


class Family:
    """The stores over one place, one for each tenant that was asked for."""

    def __init__(self, open_work: Callable[[str], Workspace]) -> None:
        self._open_work = open_work
        self._works: dict[str, Workspace] = {}

    def store(self, tenant: str) -> LocalStore:
        """The tenant's store; two of one tenant share their workspace."""
        if tenant not in self._works:
            self._works[tenant] = self._open_work(tenant)
        return LocalStore(tenant, self._works[tenant], self)

    async def close(self) -> None:
        """Give all files back."""
        for work in self._works.values():
            await work.journal.close()


def _content_of(dump: SessionDump) -> Iterator[Change]:
    id_ = dump.meta.id
    if dump.config is not None:
        yield ConfigPut(id_, dump.config)
    if dump.records:
        yield RecordsAdded(id_, dump.records)
    yield NumberSet(id_, dump.next_number)
    for slot, value in dump.slots.items():
        yield SlotPut(id_, slot, slot_text(slot, value))
