"""The program: gathers the commands and turns our errors into one line and a status.

Exit status: 0 good, 1 findings or failed lines, 2 wrong use or unreadable input. A command is a typed
function in its group's module; that module's `register(app)` adds it. Group modules import only typer at
their top, and what a command needs inside the command, so that `--help` stays quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer

from preset_engine import __version__
from preset_engine.errors import PresetEngineError

GROUPS: tuple[str, ...] = (
    "demo",
    "probe",
    "imports",
    "squash",
    "cache",
    "assemble",
    "expand",
    "sessions",
)


def build(groups: tuple[str, ...] = GROUPS) -> typer.Typer:
    """The typer application with the commands of these groups; all of them unless told otherwise."""
    app = typer.Typer(
        name="preset-engine",
        help="SillyTavern presets in, exact messages out, and what each piece does to the prompt cache.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_program)
    for group in groups:
        import_module(f"preset_engine.cli.{group}").register(app)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    del version


def _needed(first: list[str]) -> tuple[str, ...]:
    """The groups that a command line needs: one, where its first word is that group's name (a quicker start)."""
    return tuple(first) if first and first[0] in GROUPS else GROUPS


def main() -> None:
    """Entry point of `preset-engine`; never shows a traceback for an error of ours."""
    try:
        build(_needed(sys.argv[1:2]))(standalone_mode=True)
    except PresetEngineError as error:
        print(f"preset-engine: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
