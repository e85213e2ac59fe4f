"""The macro language against a bare `str.replace` of two names, a kilobyte of text each.

A real preset's slowest prompt is named where the corpus is there.
"""

from __future__ import annotations

import gc
import json
import time
from functools import partial
from pathlib import Path

from benchmarks.figures import Figure, median_seconds
from preset_engine.macros.engine import Engine
from preset_engine.macros.expand import Expander
from preset_engine.macros.limits import DEFAULT_LIMITS
from preset_engine.macros.parser import parse
from preset_engine.macros.view import CardFields, MacroView
from tests.truth import folder

SENTENCE = "The ferry leaves at dusk and the harbour grows quiet behind it. "
PLAIN = (SENTENCE * 16)[:1024]
NAMED = ("{{char}} waits and {{user}} counts the lamps along the quay. " * 20)[:1000]
BUSY = (
    "{{setvar::mood::{{random::calm::bright}}}}{{getvar::mood}} {{char}}, {{roll:1d20}} {{// a note}}"
    "{{if .mood}}{{user}}{{else}}nobody{{/if}} {{blank here}} "
) * 6
TIMES = 200
VIEW = MacroView("Noa", "Mira", card=CardFields(description="{{char}} keeps the light."))


def _replace(text: str) -> None:
    for _ in range(TIMES):
        text.replace("{{user}}", "Noa").replace("{{char}}", "Mira")


def _expand(text: str, engine: Engine) -> None:
    expander = Expander(VIEW, engine=engine)
    for _ in range(TIMES):
        expander.expand(text)


def _per_kilobyte(text: str, engine: Engine) -> float:
    return median_seconds(lambda: _expand(text, engine)) / TIMES / len(text) * 1024


def _growth(engine: Engine, shape: str) -> Figure:
    """A text of 200,000 characters against one of 50,000: four times is linear, sixteen quadratic."""
    times = 50_000 // len(shape)
    large, small = _least(engine, shape * (4 * times), shape * times)
    name = f"200,000 characters of {shape!r}, {engine}"
    return Figure(name, large, small, "50,000 characters", budget=6)


def _least(engine: Engine, *texts: str) -> list[float]:
    """The least processor time of each text over nine rounds in which they take turns.

    A number in front makes each a text that no parse kept knows. The collector is off during each run:
    what it costs depends on what else the process holds.
    """
    times: list[list[float]] = [[] for _ in texts]
    for number in range(9):
        for kept, text in zip(times, texts, strict=True):
            gc.collect()
            gc.disable()
            start = time.process_time()
            Expander(VIEW, engine=engine).expand(f"{number} {len(text)} {text}")
            kept.append(time.process_time() - start)
            gc.enable()
    return [min(kept) for kept in times]


def _slowest() -> list[Figure]:
    """The slowest prompt of the corpus, both engines, beside scanning it once."""
    found: list[tuple[float, str, str]] = []
    for path in sorted((folder("corpus") / "presets").glob("*.json")):
        body = json.loads(path.read_bytes().decode("utf-8-sig"), strict=False)
        prompts = [item for item in body.get("prompts") or [] if isinstance(item, dict)]
        for engine in (Engine.new, Engine.legacy):
            expander = Expander(VIEW, engine=engine)
            for place, item in enumerate(prompts):
                text = item.get("content")
                if isinstance(text, str):
                    start = time.perf_counter()
                    expander.expand(text)
                    took = time.perf_counter() - start
                    found.append((took, f"{_short(path)}, prompt {place}, {engine}", text))
    if not found:
        return []
    took, name, text = max(found)
    measure = median_seconds(lambda: text.replace("{{user}}", "Noa").replace("{{char}}", "Mira"))
    total = sum(cost for cost, _, _ in found)
    return [
        Figure(
            f"slowest real prompt, {len(text):,} characters: {name}", took, measure, "str.replace"
        ),
        Figure(f"all {len(found):,} real prompts, both engines, first evaluation", total),
    ]


def _short(path: Path) -> str:
    return path.name


def run() -> list[Figure]:
    """Cost a kilobyte, growth with length, the slowest real prompt."""
    figures = []
    for name, text in (("no macro", PLAIN), ("two names", NAMED), ("busy", BUSY)):
        measure = median_seconds(partial(_replace, text)) / TIMES / len(text) * 1024
        for engine in Engine:
            value = _per_kilobyte(text, engine)
            figures.append(
                Figure(f"a kilobyte, {name}, {engine}", value, measure, "two str.replace")
            )
    parsed = median_seconds(lambda: parse(BUSY, DEFAULT_LIMITS.depth)) / len(BUSY) * 1024
    again = _per_kilobyte(BUSY, Engine.new)
    figures.append(Figure("parsing a busy kilobyte", parsed, again, "evaluating it"))
    for engine in Engine:
        figures += [
            _growth(engine, shape) for shape in ("{{user}} ", "{{setvar::a::b}}", "{{{ ", "\n")
        ]
    return [*figures, *_slowest()]
