"""`preset-engine sessions`: look at stored sessions, cut and archive them, carry them elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from preset_engine.cli.session_forks import digest, fork
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
    from collections.abc import Callable

    from rich.status import Status

    from preset_engine.messages import JsonObject
    from preset_engine.session.protocols import SessionDump, Store
    from preset_engine.session.topology import SessionTreeNode


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        help="Stored sessions: look, cut, archive, carry elsewhere.", no_args_is_help=True
    )
    group.command("list")(list_sessions)
    group.command("show")(show)
    group.command("tree")(tree)
    group.command("digest", short_help="Show memories and unread insights.")(digest)
    group.command("fork", short_help="Start a new session from a stored one.")(fork)
    group.command("trim")(trim)
    group.command("archive", short_help="Archive a session: it takes no more turns.")(archive)
    group.command("export")(export)
    group.command("import", short_help="Store every session of an export.")(import_)
    app.add_typer(group, name="sessions")


def list_sessions(
    store: StoreOption = "",
    tenant: TenantOption = "default",
    status: StatusOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the sessions in order of creation."""
    from preset_engine.session.meta import SessionFilter

    which = SessionFilter(read_wanted_status(status))
    metas = with_store(store, tenant, lambda opened: opened.list_sessions(which))
    if as_json:
        print_json([meta.to_json() for meta in metas])
        return
    from rich.console import Console
    from rich.table import Table

    from preset_engine.cli.render import foreign, one_line

    console = Console()
    times = ("last active",) if console.width >= 72 else ()
    table = Table("id", "label", "status", "turns", *times, box=None, pad_edge=False)
    table.columns[0].no_wrap = table.columns[2].no_wrap = True  # an id is to be copied
    for meta in metas:
        label = foreign(one_line(meta.label, 60))
        row = (foreign(meta.id), label, meta.status, str(meta.turn_count), meta.last_active_at[:16])
        table.add_row(*row[: len(table.columns)])
    console.print(table if metas else "No sessions here.")


def show(
    session_id: IdArgument,
    store: StoreOption = "",
    tenant: TenantOption = "default",
    last: Annotated[
        int, typer.Option(help="Only this many of the newest records; 0 for all.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show one session: meta, place, slots, records."""

    async def work(opened: Store) -> SessionDump | None:
        return await opened.dump_session((await find(opened, session_id)).id)

    dump = with_store(store, tenant, work)
    if dump is None:
        return
    records = dump.records[-last:] if last > 0 else dump.records
    if as_json:
        print_json(
            {
                "meta": dump.meta.to_json(),
                "node": dump.node.to_json(),
                "config": None if dump.config is None else dump.config.to_json(),
                "slots": dict(dump.slots),
                "record_count": len(dump.records),
                "records": [record.to_json() for record in records],
            }
        )
        return
    _show(dump, len(records))


def _show(dump: SessionDump, count: int) -> None:
    from rich.console import Console
    from rich.rule import Rule
    from rich.text import Text

    from preset_engine.cli.render import DIM, clip, foreign, one_line, plural, role_style

    console, meta = Console(), dump.meta
    console.print(Text.assemble((one_line(meta.label, 80), "bold"), "  ", (meta.id, DIM)))
    console.print(
        f"{meta.status}, {plural(meta.turn_count, 'turn')}, last active {meta.last_active_at[:19]}"
    )
    if dump.node.parent_id is not None:
        console.print(foreign(f"child {dump.node.index + 1} of {dump.node.parent_id}", DIM))
    for name, value in dump.slots.items():
        if value:
            console.print(Text.assemble((f"{name}: ", "bold"), one_line(str(value), 100)))
    console.print(Rule(f"{count} of {len(dump.records)} records", style=DIM))
    for record in dump.records[len(dump.records) - count :]:
        swipes = (
            f" swipe {record.chosen + 1}/{len(record.alternatives)}" if record.alternatives else ""
        )
        console.print(Text(f"{record.number} {record.role}{swipes}", style=role_style(record.role)))
        text, _, left = clip(record.content, 12, 1200)
        console.print(foreign(text))
        if left:
            console.print(Text(f"… {left} more characters", style=DIM))
        for call in record.tool_calls:
            console.print(foreign(f"calls {call.name} ({call.id})", DIM))


def tree(
    store: StoreOption = "", tenant: TenantOption = "default", as_json: JsonOption = False
) -> None:
    """Show the forest of sessions."""
    forest = with_store(store, tenant, lambda opened: opened.get_tree())
    if as_json:
        print(_forest_text(forest))
        return
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from preset_engine.cli.render import DIM, one_line, plural

    console = Console()
    if not forest:
        console.print("No sessions here.")
    for root in forest:
        top = Tree("")
        pending = [(top, root)]
        while pending:
            above, node = pending.pop()
            about = f" {plural(node.turn_count, 'turn')}" + (
                ", archived" if node.status == "archived" else ""
            )
            words = Text.assemble(one_line(node.label, 60), (f"{about}  {node.id}", DIM))
            branch = above.add(words)
            pending.extend((branch, child) for child in reversed(node.children))
        console.print(top.children[0])


def _forest_text(forest: list[SessionTreeNode]) -> str:
    """The forest as JSON text, from the leaves up: a chain may be longer than JSON writers are willing to go."""
    import json

    nodes = list(forest)
    for node in nodes:
        nodes.extend(node.children)
    texts: dict[str, str] = {}
    for node in reversed(nodes):
        children = ", ".join(texts.pop(child.id) for child in node.children)
        text = json.dumps(replace(node, children=()).to_json(), ensure_ascii=True)
        texts[node.id] = text.replace('"children": []', f'"children": [{children}]', 1)
    return f"[{', '.join(texts.pop(root.id) for root in forest)}]"


def trim(
    session_id: IdArgument,
    keep: Annotated[int, typer.Option(min=0, help="How many of the newest records stay.")],
    store: StoreOption = "",
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Remove the oldest records of a session; this cannot be undone."""

    async def work(opened: Store) -> tuple[str, int]:
        meta = await find(opened, session_id)
        return meta.id, await opened.trim_records(meta.id, keep)

    from preset_engine.cli.render import plural

    id_, removed = with_store(store, tenant, work)
    _say(
        {"id": id_, "removed": removed}, f"{plural(removed, 'record')} removed from {id_}.", as_json
    )


def archive(
    session_id: IdArgument,
    store: StoreOption = "",
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Archive a session: it takes no more turns, but can be read and forked."""

    async def work(opened: Store) -> str:
        meta = await find(opened, session_id)
        await opened.archive(meta.id)
        return meta.id

    id_ = with_store(store, tenant, work)
    _say({"id": id_, "status": "archived"}, f"{id_} is archived.", as_json)


def export(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write; - is standard output.")
    ] = Path("-"),
    store: StoreOption = "",
    tenant: TenantOption = "default",
    as_json: Annotated[
        bool, typer.Option("--json", help="The export is JSON lines in any case.")
    ] = False,
) -> None:
    """Write every session with all it holds as JSON lines."""
    import sys

    del as_json
    if str(out) == "-":
        out_bytes = (
            sys.stdout.buffer
        )  # UTF-8 whatever the terminal speaks: an export loses no character
        with_store(
            store, tenant, lambda opened: _write(opened, lambda t: out_bytes.write(t.encode()))
        )
        return
    from preset_engine.errors import UnreadableInput

    fresh = out.with_name(out.name + ".new")
    try:
        with fresh.open("w", encoding="utf-8", newline="\n") as file, _busy("Exporting"):
            with_store(store, tenant, lambda opened: _write(opened, file.write))
        fresh.replace(out)
    except OSError as error:
        raise UnreadableInput(f"cannot write {out}: {error.strerror}") from error
    finally:
        fresh.unlink(missing_ok=True)


async def _write(store: Store, write: Callable[[str], object]) -> None:
    from preset_engine.storage.transfer import export_forest

    async for line in export_forest(store):
        write(line)


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File of an export; - is standard input.")
    ],
    store: StoreOption = "",
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Store every session of an export: all of them, or none when one cannot be."""
    import sys

    from preset_engine.cli.render import plural
    from preset_engine.errors import UnreadableInput
    from preset_engine.storage.transfer import import_forest

    try:
        if str(file) == "-":
            typed = (line.decode("utf-8-sig") for line in sys.stdin.buffer)
            count = with_store(store, tenant, lambda opened: import_forest(opened, typed))
        else:
            with file.open(encoding="utf-8-sig", newline="\n") as lines, _busy("Importing"):
                count = with_store(store, tenant, lambda opened: import_forest(opened, lines))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UnreadableInput(f"cannot read {file}: {reason}") from error
    _say({"sessions": count}, f"{plural(count, 'session')} imported.", as_json)


def _busy(word: str) -> Status:
    """A spinner on standard error while something takes long."""
    from rich.console import Console

    return Console(stderr=True).status(f"{word} …")


def _say(body: JsonObject, words: str, as_json: bool) -> None:
    if as_json:
        print_json(body)
    else:
        print(words)
