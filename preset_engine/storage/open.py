"""Opening a store by its address: `memory:`, `files:DIR`, `sqlite:PATH`, `postgresql://…`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from preset_engine.errors import InputRefused
from preset_engine.session.clock import fresh_id
from preset_engine.session.protocols import Store
from preset_engine.storage.border import check_tenant

FORMS = "memory:, files:DIR, sqlite:PATH or postgresql://USER@HOST/DATABASE"


def _utc_now() -> datetime:
    return datetime.now(UTC)


async def open_storage(
    url: str,
    tenant: str = "default",
    *,
    clock: Callable[[], datetime] = _utc_now,
    new_id: Callable[[], str] = fresh_id,
) -> Store:
    """Open the store at an address, creating and migrating it where needed.

    Args:
        url: `memory:`, `files:DIR`, `sqlite:PATH` (or `sqlite::memory:`) or a PostgreSQL address.
        tenant: whose sessions are seen; any text from 1 to 200 characters.
        clock: the present time, aware.
        new_id: makes ids for sessions that are created without one.

    Raises:
        InputRefused: no such form of address.
        MissingExtra: the back end's library is not installed.
        StorageFormat: written by a newer version, or damaged.
        StorageLost: the place cannot be opened or reached.
    """
    kind, _, rest = url.partition(":")
    check_tenant(tenant)
    match kind:
        case "memory":
            from preset_engine.storage.memory import open_memory

            return open_memory(tenant, clock, new_id)
        case "files" if rest:
            from preset_engine.storage.files import open_files

            return await open_files(Path(rest), tenant, clock, new_id)
        case "sqlite" if rest:
            from preset_engine.storage.sqlite import open_sqlite

            return await open_sqlite(rest, tenant, clock, new_id)
        case "postgresql" | "postgres":
            from preset_engine.storage.postgres import open_postgres

            return await open_postgres(url, tenant, clock, new_id)
        case _:
            raise InputRefused(f"cannot open a store at {kind + ':'!r}; use {FORMS}")
