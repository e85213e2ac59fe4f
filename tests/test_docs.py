"""Documentation is run: Python blocks page by page, console blocks command by command.

A block fenced ``python`` runs in the page's one namespace, in order. In a block fenced ``console`` each
line that begins with ``$ `` is run from the project's root; the lines below it must appear in its output in
that order, where ``…`` stands for anything. A block that cannot run is fenced ``text``.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.truth import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "presets" / "README.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    if not page.is_file():
        return []
    return [body for found, body in BLOCK.findall(page.read_text("utf-8")) if found == language]


def environment() -> dict[str, str]:
    tools = Path(sys.executable).parent
    return {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name
)
def test_python_blocks_run(page, tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks(page, "python")), "utf-8")
    shutil.copytree(ROOT / "presets", tmp_path / "presets")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def commands() -> list[Any]:
    found = []
    for page in PAGES:
        for body in blocks(page, "console"):
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, *output = part.rstrip("\n").split("\n")
                while command.endswith("\\"):
                    command = command[:-1] + output.pop(0)
                # Each command starts a process: the quick suite runs those of the README only.
                marks = () if page.name == "README.md" else pytest.mark.full
                found.append(pytest.param(page, command, output, marks=marks))
    return found


@pytest.mark.parametrize(
    ("page", "command", "output"),
    commands(),
    ids=lambda value: str(getattr(value, "name", value))[:40],
)
def test_console_blocks_print_what_they_say(page, command, output):
    if command.startswith(("make ", "pip ", "python -m venv")):
        pytest.xfail("set-up commands are run by .ci/run, not from inside the suite")
    done = subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    pattern = ".*?".join(
        re.escape(line.strip()).replace("…", ".*?") for line in output if line.strip()
    )
    assert re.search(pattern, done.stdout + done.stderr, re.DOTALL), done.stdout + done.stderr


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        if not page.is_file():
            continue
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
