"""`preset-engine import`: what a preset file holds, what was repaired, and the file in the other form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from preset_engine.errors import Note
    from preset_engine.preset.importer import Imported
    from preset_engine.tokens import TokenCounter


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import", short_help="Report on preset files; convert and write them.")(
        import_presets
    )


def import_presets(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Preset files.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the preset here; a folder when there are several.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="native or sillytavern; the file's own form without it.")
    ] = None,
    share: Annotated[
        bool, typer.Option("--share", help="Leave private addresses, headers and passwords out.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the reports as JSON.")] = False,
) -> None:
    """Report what preset files hold, and write them in either form. Status 2 when one was refused."""
    import sys

    from preset_engine.cli.json_io import print_json
    from preset_engine.errors import InputRefused
    from preset_engine.preset.importer import load_preset
    from preset_engine.settings import live_context

    _check_wish(out, to, files)
    context, context_notes = live_context()
    refused = 0
    reports: list[dict[str, object]] = []
    for file in files:
        try:
            imported = load_preset(file)
        except InputRefused as error:
            refused += 1
            if as_json:
                reports.append({"file": str(file), "error": _refusal(error)})
            name = repr(str(file))
            where = "" if str(error).startswith(name) else f"{name}: "
            print(f"preset-engine: {where}{error}", file=sys.stderr)
            continue
        written = _write(imported, file, out, to, share=share, several=len(files) > 1)
        report = {"file": str(file), **_report(imported, context.tokens, written)}
        if as_json:
            reports.append(report)
        else:
            _print(file, imported, report, context_notes)
    if as_json:
        print_json(reports[0] if len(files) == 1 else reports)
    if refused:
        raise typer.Exit(2)


def _check_wish(out: Path | None, to: str | None, files: list[Path]) -> None:
    from preset_engine.errors import InputRefused

    if to is not None and to not in ("native", "sillytavern"):
        message = f"there is no form {to!r}: use --to native or --to sillytavern"
        raise InputRefused(message)
    if out is None or len(files) == 1:
        return
    if not out.is_dir():
        message = f"--out {str(out)!r} must be an existing folder for several files; make it first"
        raise InputRefused(message)
    stems = [file.stem for file in files]
    twin = next((stem for stem in stems if stems.count(stem) > 1), None)
    if twin is not None:
        message = (
            f"two files are named {twin!r} and would be written to one place; import them apart"
        )
        raise InputRefused(message)


def _refusal(error: Exception) -> dict[str, str]:
    kind = getattr(error, "kind", "")
    return {"type": type(error).__name__, "kind": str(kind), "message": str(error)}


def _report(
    imported: Imported, counter: TokenCounter, written: dict[str, object]
) -> dict[str, object]:
    report: dict[str, object] = dict(imported.to_report(counter))
    return {**report, **written}


def _write(
    imported: Imported, file: Path, out: Path | None, to: str | None, *, share: bool, several: bool
) -> dict[str, object]:
    """Write the export; what the report says of it."""
    if out is None and to is None:
        return {}
    from preset_engine.errors import InputRefused
    from preset_engine.preset.exporter import export_preset

    exported = export_preset(imported.preset, to, share=share)
    found: dict[str, object] = {"conversion_notes": [note.to_json() for note in exported.notes]}
    if out is not None:
        target = out / f"{file.stem}.json" if out.is_dir() or several else out
        if target.exists() and target.resolve() == file.resolve():
            message = f"--out {str(target)!r} is the file itself; name another"
            raise InputRefused(message)
        try:
            target.write_text(exported.to_text(), "utf-8", newline="\n")
        except OSError as error:
            message = f"{str(target)!r} cannot be written: {error.strerror}; check the path"
            raise InputRefused(message) from None
        found["written"] = str(target)
    return found


def _print(file: Path, imported: Imported, report: dict[str, object], more: Iterable[Note]) -> None:
    from preset_engine.cli.import_screen import print_report

    print_report(str(file), imported, report, more)
