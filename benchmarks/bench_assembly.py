"""The design's assembly budgets (section 6), as ratios in one run.

Work: the shared input generator (60 entries, 12 of them in the chat at 9 depths), messages in OpenAI form, no world
book (it is not assembled yet). The measure is a plain splice-and-scan of the same texts: place the entries by
slices, look for braces in every text, replace the names. fast-tavern 0.1.8 runs beside it where it is installed
(`pip install fast-tavern==0.1.8`).

- *cold*: a chat that the process has never seen, with a preset object that was loaded a moment before, so all that
  is prepared for a preset is part of it. The process is warm: modules are imported, and it has met the preset's texts.
- *new chat*: a chat that the process has never seen, with a preset object in use. So the peer is measured too: its
  preset is converted before.
- *next*: the same chat and preset object, one reply and one user message later.
- *first*: a process that knows nothing, not even how the preset's texts are parsed. That costs the same for every
  length of chat; the design's budget, which is for 10,000 messages, holds for it too.

Times are medians of processor time. Works that are compared take turns, round by round; what makes a round ready is
not timed.
"""

from __future__ import annotations

import gc
import hashlib
import importlib.util
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.figures import Figure
from benchmarks.forgetting import forget_chats, forget_presets, forget_texts
from preset_engine.compile.turn import CompiledTurn, compile_turn
from preset_engine.content.content import Content, Persona
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.messages import ChatMessage
from preset_engine.preset.importer import load_preset
from preset_engine.preset.model import Preset
from preset_engine.tokens import TokenCounter
from preset_engine.vocabulary import load_counter

SIZES = (1_000, 10_000)
_HOME = Path(__file__).resolve().parent.parent


def run() -> list[Figure]:
    """Cold turn, next turn, growth, plan, memory; nothing where the generator is absent."""
    generator = _generator()
    if generator is None:
        print("  bench_inputs.py is absent (PRESET_ENGINE_TOOLS or ../shared/tools): not measured")
        return []
    figures: list[Figure] = []
    growth: list[dict[str, float]] = []
    for size in SIZES:
        work = _Work(generator.make_inputs(messages=size))
        times = work.times(61 if size < 5_000 else 21)
        growth.append(times)
        figures += work.turn_figures(times)
        figures += work.plan_figures()
        figures.append(work.memory())
    few, many = growth
    figures.append(
        Figure(
            "growth of the next turn, 1,000 to 10,000",
            many["next, sillytavern"] / few["next, sillytavern"],
            many["copy"] / few["copy"],
            "copy and compare",
            1.0,
            "x",
        )
    )
    return figures


def _generator() -> ModuleType | None:
    folder = Path(os.environ.get("PRESET_ENGINE_TOOLS") or _HOME / ".." / "shared" / "tools")
    path = folder / "bench_inputs.py"
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location("bench_inputs", path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Work:
    """One workload and what is measured on it."""

    def __init__(self, inputs: dict[str, Any]) -> None:
        self.inputs = inputs
        self.size = inputs["info"]["messages"]
        self.preset: Preset = load_preset(inputs["preset"]).preset
        self.history = tuple(ChatMessage(m["role"], m["content"]) for m in inputs["chat_openai"])
        said = (ChatMessage("assistant", "A reply."), ChatMessage("user", "And then?"))
        self.longer = (*self.history, *said)

    def content(self, history: tuple[ChatMessage, ...]) -> Content:
        return Content(
            history=history,
            persona=Persona(**self.inputs["persona"]),
            card=self.inputs["character"],
            variables=self.inputs["variables"],
            settings={"model": "bench"},
        )

    def compile(self, history: tuple[ChatMessage, ...], dialect: Dialect) -> CompiledTurn:
        return compile_turn(self.preset, self.content(history), dialect=dialect, context=Context())

    def times(self, rounds: int) -> dict[str, float]:
        """Median seconds of every kind of turn and of what it is measured by."""
        sent = list(self.compile(self.history, Dialect.sillytavern).messages)
        other = tuple(self.history)
        works = {
            "splice": _Timed(self.splice_and_scan),
            "copy": _Timed(lambda: (list(sent), other == self.history)),
        }
        for dialect in Dialect:
            cold = partial(self.compile, self.history, dialect)
            works[f"cold, {dialect.value}"] = _Timed(cold, partial(self.come_anew, dialect))
            works[f"next, {dialect.value}"] = _Timed(
                partial(self.compile, self.longer, dialect), cold
            )
            works[f"first, {dialect.value}"] = _Timed(cold, self.begin)
        return median_times(works, rounds)

    def come_anew(self, dialect: Dialect) -> None:
        """After an empty chat a chat that was never seen comes, with a preset that was just loaded."""
        self.compile((), dialect)
        forget_chats()
        forget_presets()
        self.preset = load_preset(self.inputs["preset"]).preset

    def begin(self) -> None:
        """As a new process begins."""
        forget_chats()
        forget_presets()
        forget_texts()
        self.preset = load_preset(self.inputs["preset"]).preset

    def turn_figures(self, times: dict[str, float]) -> list[Figure]:
        figures: list[Figure] = []
        for dialect in Dialect:
            kind = f"{dialect.value}, {self.size} messages"
            cold, later = times[f"cold, {dialect.value}"], times[f"next, {dialect.value}"]
            first, splice = times[f"first, {dialect.value}"], times["splice"]
            figures += [
                Figure(f"cold turn, {kind}", cold, splice, "splice and scan", 3.0),
                Figure(f"next turn, {kind}", later, cold, "cold", 0.4),
                Figure(
                    f"first turn of a process, {kind}",
                    first,
                    splice,
                    "splice and scan",
                    3.0 if self.size >= 10_000 else None,
                ),
            ]
        peer = _peer(self.inputs)
        if peer is None:
            print(
                "  fast-tavern is not installed: no peer beside it (pip install fast-tavern==0.1.8)"
            )
            return figures
        ours = partial(self.compile, self.history, Dialect.sillytavern)

        def forget_again() -> None:
            ours()  # the peer's long work has just cleared the processor's caches
            forget_chats()

        both = {"ours": _Timed(ours, forget_again), "theirs": _Timed(peer)}
        found = median_times(both, 15 if self.size < 5_000 else 5)
        name = f"new chat against fast-tavern, {self.size} messages"
        against = Figure(name, found["ours"], found["theirs"], "fast-tavern 0.1.8", 1 / 25)
        return [*figures, against]

    def splice_and_scan(self) -> list[str]:
        """What any assembly of these texts must do: place, look for braces, put the names in."""
        texts = [m["content"] for m in self.inputs["chat_openai"]]
        head: list[str] = []
        tail: list[str] = []
        into: list[tuple[int, str]] = []
        target = head
        prompts = {p["identifier"]: p for p in self.inputs["preset"]["prompts"]}
        for item in self.inputs["preset"]["prompt_order"][-1]["order"]:
            prompt = prompts[item["identifier"]]
            if prompt["identifier"] == "chatHistory":
                target = tail
            if not item["enabled"] or "content" not in prompt:
                continue
            if prompt.get("injection_position") == 1:
                into.append((max(0, len(texts) - prompt["injection_depth"]), prompt["content"]))
            else:
                target.append(prompt["content"])
        middle: list[str] = []
        at = 0
        for place, text in sorted(into, key=lambda pair: pair[0]):
            middle += texts[at:place]
            middle.append(text)
            at = place
        whole = [*head, *middle, *texts[at:], *tail]
        return [
            text.replace("{{user}}", "Alex").replace("{{char}}", "Lin") if "{{" in text else text
            for text in whole
        ]

    def plan_figures(self) -> list[Figure]:
        turn = self.compile(self.history, Dialect.sillytavern)
        texts = [message.text for message in turn.messages]
        counter = _fresh_counter()
        context = Context(tokens=counter)
        counted = compile_turn(
            self.preset, self.content(self.history), dialect=Dialect.sillytavern, context=context
        )
        hashing = {
            "ours": _Timed(counted.plan.message_digests),
            "alone": _Timed(lambda: [hashlib.sha256(text.encode()).hexdigest() for text in texts]),
        }
        counting = {
            "ours": _Timed(counted.plan.message_tokens),
            "alone": _Timed(lambda: [counter.count(text) for text in texts]),
        }
        hashed, counts = median_times(hashing, 31), median_times(counting, 5)
        own, alone = hashed["ours"], hashed["alone"]
        return [
            Figure(f"digests on demand, {self.size}", own, alone, "hashing alone", 1.3),
            Figure(
                f"tokens on demand, {self.size}",
                counts["ours"],
                counts["alone"],
                "counting alone",
                1.3,
            ),
        ]

    def memory(self) -> Figure:
        """What a compiled turn adds, against the size of the history's texts."""
        forget_chats()
        gc.collect()
        tracemalloc.start()
        turn = self.compile(self.history, Dialect.sillytavern)
        gc.collect()
        added, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del turn
        texts = float(sum(len(message.text.encode()) for message in self.history))
        return Figure(
            f"memory a turn adds, {self.size}", added, texts, "bytes of the history", 0.5, "bytes"
        )


@dataclass(frozen=True, slots=True)
class _Timed:
    """A work, and what makes it ready without being timed."""

    work: Callable[[], object]
    make_ready: Callable[[], object] = tuple


def median_times(works: dict[str, _Timed], rounds: int) -> dict[str, float]:
    """Median processor time of each work; they take turns, and the collector is off.

    Processor time, so that other work on the machine counts little; in turns, so that what is left of it falls
    on all alike.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    gc.collect()
    gc.disable()
    for _ in range(rounds):
        for name, timed in works.items():
            timed.make_ready()
            start = time.process_time()
            timed.work()
            times[name].append(time.process_time() - start)
    gc.enable()
    return {name: statistics.median(found) for name, found in times.items()}


class _Fresh:
    """Counts every text anew."""

    name = "fresh"

    def __init__(self, count: Callable[[str], int]) -> None:
        self.count = count


def _fresh_counter() -> TokenCounter:
    """tiktoken without a memory; the estimate where it has no vocabulary."""
    counter, notes = load_counter()
    if notes:
        return counter
    import tiktoken

    encode = tiktoken.get_encoding("o200k_base").encode_ordinary
    return _Fresh(lambda text: len(encode(text)))


def _peer(inputs: dict[str, Any]) -> Callable[[], object] | None:
    """The same work in fast-tavern, without its world book."""
    if importlib.util.find_spec("fast_tavern") is None:
        return None
    import fast_tavern

    preset = fast_tavern.convert_preset_from_silly_tavern(inputs["preset"])
    character = fast_tavern.convert_character_from_silly_tavern(inputs["character"])
    history = fast_tavern.History.openai(inputs["chat_openai"])

    def work() -> object:
        return fast_tavern.build_prompt(
            preset=preset,
            character=character,
            globals={"worldBooks": [], "regexScripts": []},
            history=history,
            view="model",
            macros=inputs["macros"],
            variables=dict(inputs["variables"]),
            output_format="openai",
            system_role_policy="keep",
        )

    return work
