"""What the commands about sessions share: the store's address, the tenant, a session by the beginning of its id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from preset_engine.messages import JsonValue
    from preset_engine.session.meta import SessionMeta, SessionStatus
    from preset_engine.session.protocols import Store

Result = TypeVar("Result")


def default_store() -> str:
    """The address used when none is given: a SQLite file in the user's application folder."""
    return f"sqlite:{Path(typer.get_app_dir('preset-engine')) / 'sessions.db'}"


StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="PRESET_ENGINE_STORE",
        help="files:DIR, sqlite:PATH or postgresql://…; a file of yours when left out.",
        show_default=False,
    ),
]
TenantOption = Annotated[str, typer.Option("--tenant", help="Whose sessions.")]
StatusOption = Annotated[
    str, typer.Option("--status", help="active or archived; all when left out.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The session's id, or how it begins.")
]


def with_store(url: str, tenant: str, work: Callable[[Store], Awaitable[Result]]) -> Result:
    """Open the store, run the work in an event loop, close the store."""
    import asyncio

    from preset_engine.storage.open import open_storage

    async def run() -> Result:
        store = await open_storage(url or default_store(), tenant)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


async def find(store: Store, wanted: str) -> SessionMeta:
    """The session of this id, or the only one whose id begins so.

    Raises:
        SessionNotFound: there is none, or there are several.
    """
    from preset_engine.errors import SessionNotFound
    from preset_engine.session.refusals import not_found

    exact = await store.get_session(wanted)
    if exact is not None:
        return exact
    found = [meta for meta in await store.list_sessions() if wanted and meta.id.startswith(wanted)]
    if len(found) > 1:
        raise SessionNotFound(f"{len(found)} sessions begin with {wanted!r}; give more of the id")
    if not found:
        raise not_found(wanted)
    return found[0]


def read_wanted_status(name: str) -> SessionStatus | None:
    """The status of this name; None for no name, which means every one.

    Raises:
        InputRefused: there is no such status.
    """
    from preset_engine.errors import InputRefused
    from preset_engine.session.meta import SessionStatus

    if name and name not in set(SessionStatus):
        raise InputRefused(f"no status {name!r}; use active or archived")
    return SessionStatus(name) if name else None


def print_json(value: JsonValue) -> None:
    """Print a value as JSON on one line, ASCII only."""
    from preset_engine.cli.json_io import to_json

    print(to_json(value))
