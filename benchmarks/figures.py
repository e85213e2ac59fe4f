"""One figure of a benchmark: what was measured, against what, and the budget of the ratio."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value beside its measure.

    Attributes:
        name: what was done.
        value: its cost (seconds unless `unit` says otherwise).
        measure: the cost of the thing it is compared with, or None.
        measure_name: what that thing is.
        budget: the largest ratio value / measure that is allowed, or None.
        unit: unit of value and measure.
    """

    name: str
    value: float
    measure: float | None = None
    measure_name: str = ""
    budget: float | None = None
    unit: str = "s"

    @property
    def ratio(self) -> float | None:
        """Value over measure."""
        return self.value / self.measure if self.measure else None


def median_seconds(work: Callable[[], object], repeat: int = 7) -> float:
    """Median wall time of one call, the collector off during each."""
    times = []
    for _ in range(repeat):
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
        gc.enable()
    return statistics.median(times)


def print_figures(subject: str, figures: list[Figure]) -> None:
    """One line a figure; a ratio over its budget is marked."""
    print(f"\n{subject}")
    for figure in figures:
        line = f"  {figure.name:<64} {figure.value:>12.6g} {figure.unit}"
        if figure.ratio is not None:
            line += f"   {figure.ratio:8.2f} x {figure.measure_name}"
        if figure.budget is not None and figure.ratio is not None:
            line += f"   budget {figure.budget:g}: {'kept' if figure.ratio <= figure.budget else 'BROKEN'}"
        print(line)
