"""`preset-engine sessions fork` and `digest`: what a reflection needs beside a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from preset_engine.cli.store import (
    IdArgument,
    JsonOption,
    StatusOption,
    StoreOption,
    TenantOption,
    find,
    print_json,
    read_wanted_status,
    with_store,
)

if TYPE_CHECKING:
    from preset_engine.messages import JsonObject
    from preset_engine.session.meta import SessionDigest
    from preset_engine.session.protocols import Store

CONTEXTS = ("none", "inherit")  # a summary would need a model


def fork(
    session_id: IdArgument,
    label: Annotated[
        str, typer.Option(help="The child's label; the session's own when left out.")
    ] = "",
    context: Annotated[
        str, typer.Option(help="none: starts empty; inherit: starts with copies of the records.")
    ] = "none",
    opening: Annotated[str, typer.Option(help="A first line of the child's assistant.")] = "",
    parent: Annotated[
        str, typer.Option(help="Where it hangs in the tree; under the session when left out.")
    ] = "",
    child_id: Annotated[str, typer.Option("--id", help="The child's id; else a new one.")] = "",
    store: StoreOption = "",
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Start a new session from a stored one: its prompt and skills, and its records if wanted."""
    from preset_engine.errors import InputRefused

    if context not in CONTEXTS:
        raise InputRefused(
            f"no context {context!r} here; use {' or '.join(CONTEXTS)} (a summary needs a model: Agent.fork_session)"
        )

    async def work(opened: Store) -> JsonObject:
        from preset_engine.session.agent import Agent

        source = await find(opened, session_id)
        above = await find(opened, parent) if parent else source
        meta = await Agent(opened).fork_session(
            source.id,
            label=label or source.label,
            context=context,
            opening=opening or None,
            parent_id=above.id,
            session_id=child_id or None,
        )
        count = len(await opened.list_records(meta.id))
        place: JsonObject = {
            "parent_id": above.id,
            "source_session_id": source.id,
            "record_count": count,
        }
        return meta.to_json() | place

    made = with_store(store, tenant, work)
    if as_json:
        print_json(made)
    else:
        print(
            f"{made['id']} starts from {made['source_session_id']} with {made['record_count']} records."
        )


def digest(
    store: StoreOption = "",
    tenant: TenantOption = "default",
    status: StatusOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the memory and the unread insight of every session, as a reflection reads them."""
    wanted = read_wanted_status(status)

    async def work(opened: Store) -> list[SessionDigest]:
        from preset_engine.session.forest import Forest

        return await Forest(opened).list_session_digests(wanted)

    found = with_store(store, tenant, work)
    if as_json:
        print_json([_digest_json(each) for each in found])
    else:
        _show_digests(found)


def _digest_json(digest: SessionDigest) -> JsonObject:
    return {
        "id": digest.id,
        "label": digest.label,
        "status": digest.status.value,
        "memory": digest.memory,
        "insight": digest.insight,
    }


def _show_digests(found: list[SessionDigest]) -> None:
    from rich.console import Console
    from rich.table import Table

    from preset_engine.cli.render import foreign, one_line

    table = Table("id", "label", "status", "memory", "insight")
    for each in found:
        texts = (
            foreign(one_line(text or "", width))
            for text, width in ((each.memory, 300), (each.insight, 300))
        )
        label = foreign(one_line(each.label, 60))
        table.add_row(foreign(each.id), label, each.status, *texts)
    Console().print(table if found else "No sessions here.")
