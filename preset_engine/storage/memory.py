"""The memory back end: the local store with a journal that keeps nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from preset_engine.storage.changes import Change
from preset_engine.storage.local import Family, LocalStore
from preset_engine.storage.shelf import Shelf
from preset_engine.storage.workspace import Workspace


class NoJournal:
    """Nothing to keep, nobody to wait for."""

    async def acquire(self, shelf: Shelf) -> None:
        """Nobody else is there."""

    async def release(self) -> None:
        """Nobody else is there."""

    async def refresh(self, shelf: Shelf, session_id: str | None) -> None:
        """All there is is on the shelf."""

    async def load(self, shelf: Shelf, session_id: str | None) -> None:
        """All there is is on the shelf."""

    async def write(self, shelf: Shelf, changes: Sequence[Change]) -> None:
        """The shelf is the store."""

    async def close(self) -> None:
        """Nothing is open."""


def open_memory(
    tenant: str, clock: Callable[[], datetime], new_id: Callable[[], str]
) -> LocalStore:
    """An empty store that ends with the process; its tenants share nothing but the call."""
    return Family(lambda _: Workspace(NoJournal(), clock, new_id)).store(tenant)
