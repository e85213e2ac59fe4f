import json
import os
import subprocess
import sys

from typer.testing import CliRunner

from preset_engine.cli.app import build
from preset_engine.cli.demo import presets_folder


def run(*arguments):
    result = CliRunner().invoke(build(), ["demo", *arguments], env={"COLUMNS": "110"})
    assert result.exit_code == 0, result.exception
    return result.stdout


def test_the_demo_shows_the_main_job():
    text = run()
    for wanted in (
        "Three Voices",
        "Main Prompt",
        "What costs what",
        "prefix cache",
        "preset-engine probe",
    ):
        assert wanted.casefold().replace(" ", "-") in text.casefold() or wanted in text


def test_the_next_turn_really_shares_what_the_demo_says():
    figures = json.loads(run("--json"))
    first, second = figures["first"]["messages"], figures["second"]["messages"]
    shared = figures["shared"]["messages"]
    assert 0 < shared < len(second)
    assert first[:shared] == second[:shared]
    assert (
        figures["shared"]["tokens"] < figures["shared"]["of_tokens"] == figures["second"]["tokens"]
    )


def test_the_demo_needs_no_network_no_key_and_no_home(tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "COLUMNS": "100"}
    program = (
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = refuse\n"
        "from preset_engine.cli.app import main\n"
        "import sys; sys.argv = ['preset-engine', 'demo']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "What costs what" in done.stdout


def test_the_presets_are_found_where_the_demo_looks():
    assert (presets_folder() / "README.md").is_file()
