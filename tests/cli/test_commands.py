"""All commands together: each is on the page of commands and speaks JSON."""

from __future__ import annotations

import re

import pytest
import typer.main

from preset_engine.cli.app import build
from tests.truth import ROOT

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
