"""`preset-engine cache report`: how much of each prompt came from the prefix cache."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from preset_engine.cache.document import Document

_KEYS = "session, caller, model, provider, preset, user, shape, source"


def register(app: typer.Typer) -> None:
    """Add the group `cache`."""
    group = typer.Typer(no_args_is_help=True)
    group.callback()(_group)
    group.command("report", short_help="Hit rates by group, first calls and later calls apart.")(
        report
    )
    app.add_typer(group, name="cache")


def _group() -> None:
    """What the prefix cache did, read from request logs."""


def report(
    logs: Annotated[
        list[str],
        typer.Argument(metavar="LOG", help="Log files, folders, or - for standard input."),
    ],
    by: Annotated[str, typer.Option(help=f"Keys of the rows: {_KEYS}.")] = "caller,model",
    group: Annotated[
        str, typer.Option(help="Keys that make a conversation, whose first call stands apart.")
    ] = "session,caller,model",
    days: Annotated[int | None, typer.Option(min=1, help="Only the last N days.")] = None,
    since: Annotated[str | None, typer.Option(help="Only calls from this time on (UTC).")] = None,
    until: Annotated[str | None, typer.Option(help="Only calls before this time (UTC).")] = None,
    gap_minutes: Annotated[
        float | None, typer.Option(min=0, help="A longer pause starts a new group.")
    ] = None,
    ttl: Annotated[
        bool,
        typer.Option(
            "--ttl", help="A pause beyond the provider's cache lifetime starts a new group."
        ),
    ] = False,
    compare: Annotated[
        list[str] | None, typer.Option(help="Other logs, or a range FROM..TO of the same logs.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Rates to show beside, in per cent: first=8.6,later=20.7.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="A price file; adds money.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The rows as JSON.")] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="With --json: totals, days, notes, money, comparison too."),
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="The rows as CSV.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with charts to this file.")
    ] = None,
    engine: Annotated[
        Literal["auto", "sqlite", "duckdb", "spark"], typer.Option(help="Who counts.")
    ] = "auto",
) -> None:
    """Hit rates by group, first calls and later calls apart. Status 1 when no line is of a known shape."""
    from preset_engine.cache import options
    from preset_engine.cache.wish import Wish, make_document
    from preset_engine.errors import InputRefused

    if as_json and as_csv:
        raise InputRefused("--json and --csv cannot both be printed; give one of them")
    since_ms, until_ms = (
        options.read_moment("--since", since),
        options.read_moment("--until", until),
    )
    question = options.ask_for(
        options.read_keys("--by", by),
        options.read_keys("--group", group),
        _start(days, since_ms),
        until_ms,
        gap_minutes,
        use_lifetimes=ttl,
        with_days=html is not None or full,
    )
    rates = options.read_baseline(baseline)
    wish = Wish(tuple(logs), question, engine, tuple(compare or ()), prices, rates)
    with _progress(logs) as tick:
        document = make_document(wish, tick)
    if html is not None:
        from preset_engine.cache.page import write_page  # loads jinja2

        write_page(document, html)
        print(f"page written: {html}", file=sys.stderr)
    _print(document, as_json=as_json, is_full=full, as_csv=as_csv)
    if _is_nothing_known(document):
        raise typer.Exit(1)


def _is_nothing_known(document: Document) -> bool:
    """Whether there were lines and not one of them was of a shape that is known: a wrong file, most likely."""
    from preset_engine.cache.document import lines_of

    lines = {name: count for name, count in lines_of(document).items() if count}
    return bool(lines) and lines.keys() <= {"unknown shape", "unreadable"}


def _start(days: int | None, since_ms: int | None) -> int | None:
    if days is None:
        return since_ms
    import time

    start = round(time.time() * 1000) - days * 86_400_000
    return start if since_ms is None else max(start, since_ms)


def _print(document: Document, *, as_json: bool, is_full: bool, as_csv: bool) -> None:
    if as_json:
        body: object = document.to_json() if is_full else document.report.to_json()
        print(json.dumps(body, indent=1, sort_keys=not is_full))
    elif as_csv:
        sys.stdout.write(document.to_csv())
    else:
        from preset_engine.cli.cache_screen import show

        return show(document)
    for note in document.notes:
        print(
            f"{note.weight.value}: {note.count} x {note.message}".encode("unicode_escape").decode(),
            file=sys.stderr,
        )
    return None


@contextmanager
def _progress(logs: list[str]) -> Iterator[Callable[[str, float], None] | None]:
    """A bar on standard error while long input is read; nothing where standard error is no terminal."""
    size = sum(path.stat().st_size for path in map(Path, logs) if path.is_file())
    if not sys.stderr.isatty() or (size < 5_000_000 and not any(map(Path.is_dir, map(Path, logs)))):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=1.0)
        yield lambda stage, part: progress.update(task, description=stage, completed=part)
