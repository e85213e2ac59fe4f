"""How long the package and the program take to start, against the imports they stand on."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.figures import Figure

ROUNDS = 9


def run() -> list[Figure]:
    package, pydantic, program, libraries = _fastest(
        ["-c", "import preset_engine"],
        ["-c", "import pydantic"],
        ["-m", "preset_engine", "--help"],
        ["-c", "import pydantic, typer, rich"],
    )
    return [
        Figure("import preset_engine", package, pydantic, "import pydantic", 1.5),
        Figure("preset-engine --help", program, libraries, "import pydantic, typer, rich", 1.5),
    ]


def _fastest(*commands: list[str]) -> list[float]:
    """Least wall time of each command, the commands taking turns: noise only ever adds."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(ROUNDS):
        for place, command in enumerate(commands):
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
            times[place].append(time.perf_counter() - start)
    return [min(each) for each in times]
