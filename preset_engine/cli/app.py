"""The program: gathers the commands and turns our errors into one line and a status.

Exit status: 0 good, 1 findings or failed lines, 2 wrong use or unreadable input. A command is a typed
function in its group's module; that module's `register(app)` adds it. Group modules import only typer at
their top, and what a command needs inside the command, so that `--help` stays quick.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import Annotated, TextIO

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
    """Entry point of `preset-engine`; never shows a traceback, and an output that cannot be written is an error."""
    _fill_streams()
    status = 0
    try:
        try:
            status = _run(build(_needed(sys.argv[1:2])))
        finally:
            sys.stdout.flush()
    except SystemExit as leave:
        if not isinstance(
            leave.__context__, BrokenPipeError
        ):  # the parser's answer to a reader that left
            raise leave from None
        _shut(sys.stdout)
    except PresetEngineError as error:
        status = _say(str(error))
    except BrokenPipeError:
        _shut(sys.stdout)
    except OSError as error:
        _shut(sys.stdout)
        status = _say(f"{error.filename or 'output'}: {error.strerror or error}")
    except KeyboardInterrupt:
        status = 130
    except Exception as error:  # noqa: BLE001  # the border of the program: one line, no traceback
        from preset_engine.cli.json_io import fault

        status = _say(f"internal fault, please report it: {fault(error)}")
    raise SystemExit(status)


def _run(app: typer.Typer) -> int:
    """Run the command line; its status. A wrong use is an error on one line, like every other.

    The exceptions of typer's parser are told by what they can do, since their classes have no public home.
    """
    try:
        left = app(standalone_mode=False)
    except Exception as error:  # noqa: BLE001  # all but the parser's are raised on
        return _wrong_use(error)
    return left if isinstance(left, int) else 0


def _wrong_use(error: Exception) -> int:
    """The status of an exception of the parser; any other is raised on."""
    kind = type(error).__name__
    if kind == "Abort":
        return 130
    if not (hasattr(error, "format_message") and hasattr(error, "show")):
        raise error
    if kind == "NoArgsIsHelpError":  # the help itself is the answer
        error.show()
        return 2
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "preset-engine"
    words = " ".join(error.format_message().split())
    return _say(f"{words.rstrip('.')}; see `{path} --help`")


def _say(message: str) -> int:
    """Print an error on one line; names of files may hold anything, so nothing in it steers the terminal."""
    line = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in message)
    print(f"preset-engine: {line}", file=sys.stderr)
    return 2


def _fill_streams() -> None:
    """Give closed standard streams a place, so that no file of ours takes their number.

    An output whose encoding lacks a character gets a question mark for it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _shut(stream: TextIO) -> None:
    """Let go of an output that is gone; what it still holds would fail once more at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
