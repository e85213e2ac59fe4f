"""The program in a process of its own, as a user starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

SECONDS = 60


def run_program(
    *words: object, given: str | bytes = "", env: Mapping[str, str] | None = None, **streams: Any
) -> subprocess.CompletedProcess[Any]:
    """Run `preset-engine` to its end; what it prints is bytes where bytes are given, else text.

    Args:
        words: the command line.
        given: its standard input.
        env: variables of the environment beside our own.
        streams: further options of `subprocess.run` (`stdout`, …).
    """
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if isinstance(given, str):
        options["encoding"] = "utf-8"
    return subprocess.run(
        [sys.executable, "-m", "preset_engine", *map(str, words)],
        input=given,
        env={**os.environ, **(env or {})},
        timeout=SECONDS,
        check=False,
        **(options | streams),
    )
