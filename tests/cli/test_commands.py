"""All commands together: each is on the page of commands and speaks JSON."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from contextlib import suppress

import pytest
import typer.main
from rich.cells import cell_len

from preset_engine.cli.app import build
from tests.program import run_program
from tests.truth import ROOT

if sys.platform != "win32":
    import fcntl
    import pty
    import termios

PAGE = (ROOT / "docs/commands.md").read_text("utf-8")


def commands(group, path=()):
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = list(commands(typer.main.get_command(build())))


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_every_command_is_on_the_page_and_speaks_json(path, command):
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{path[0]}"))
    assert set(path) <= set(re.findall("[a-z]+", row.split("|")[1]))
    assert "--json" in [name for parameter in command.params for name in parameter.opts]


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_every_command_and_option_says_what_it_is_for(path, command):
    assert command.help
    assert all(parameter.help for parameter in command.params if parameter.name != "help")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["probe"], "Missing argument"),
        (["probe", "x", "--bogus"], "No such option"),
        (["nonsense"], "No such command"),
        (["sessions", "trim", "x", "--keep", "-1"], "--keep"),
    ],
    ids=["argument", "option", "command", "value"],
)
def test_a_wrong_use_is_one_line_with_status_2_and_names_the_help(words, named):
    done = run_program(*words, given=b"")
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("preset-engine: ")
    assert named in line
    assert "--help`" in line


def test_an_output_that_lacks_a_character_shows_a_sign_for_it():
    done = run_program(
        "probe", ROOT / "presets/ye-hang.json", given=b"", env={"PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"dialect native ?" in done.stdout


def on_terminal(columns, *words):
    """What a terminal of this width gets, without its control sequences."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "preset_engine", *words]
    with subprocess.Popen(
        command,
        stdout=slave,
        stderr=subprocess.PIPE,
        env={**clean, "TERM": "xterm", "NO_COLOR": "1"},
    ) as process:
        os.close(slave)
        parts = []
        with suppress(OSError):  # the end of a terminal is an error
            while part := os.read(master, 65536):
                parts.append(part)
    os.close(master)
    assert process.returncode == 0
    return re.sub("\x1b\\[[0-9;?]*[A-Za-z]|\r", "", b"".join(parts).decode())


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", [60, 200])
@pytest.mark.parametrize(
    "words",
    [
        ["import", "presets/bai-men.json"],
        ["probe", "presets/bai-men.json"],
        ["cache", "report", "tests/cache/example.jsonl", "--by", "preset,provider,model"],
        ["expand", "--list"],
    ],
    ids=lambda words: words[0],
)
def test_what_is_shown_keeps_to_the_width_of_the_terminal(words, columns, monkeypatch):
    monkeypatch.chdir(ROOT)
    shown = on_terminal(columns, *words)
    widths = {line: cell_len(line) for line in shown.splitlines()}
    assert len(widths) > 5
    assert {line for line, width in widths.items() if width > columns} == set()
