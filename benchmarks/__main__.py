"""Run the subjects: every module `bench_NAME` beside this file, each with a function `run() -> list[Figure]`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from benchmarks.figures import print_figures


def main(wanted: list[str]) -> None:
    names = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    for name in names:
        if not wanted or name.removeprefix("bench_") in wanted:
            print_figures(name.removeprefix("bench_"), import_module(f"benchmarks.{name}").run())


if __name__ == "__main__":
    main(sys.argv[1:])
