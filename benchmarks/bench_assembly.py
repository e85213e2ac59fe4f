"""The design's assembly budgets (section 6), as ratios in one run.

Work: the shared input generator (60 entries, 12 of them in the chat at 9 depths), messages in OpenAI form, dialect
sillytavern, no world book (it is not assembled yet). The measure is a plain splice-and-scan of the same texts: place
the entries by slices, look for braces in every text, replace the names. fast-tavern 0.1.8 runs beside it where it is
installed (`pip install fast-tavern==0.1.8`).
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
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.figures import Figure
from preset_engine.assembler import seen, turns
from preset_engine.compile.turn import CompiledTurn, compile_turn
from preset_engine.content.content import Content, Persona
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.messages import ChatMessage
from preset_engine.preset.importer import load_preset
from preset_engine.preset.model import Preset
from preset_engine.squash import runs
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
    growth: dict[str, list[float]] = {"next": [], "copy": []}
    for size in SIZES:
        work = _Work(generator.make_inputs(messages=size))
        figures += work.cold_figures()
        next_turn, copied = work.next_turn(), work.copy_and_compare()
        growth["next"].append(next_turn)
        growth["copy"].append(copied)
        cold = work.cold(Dialect.sillytavern)
        figures.append(Figure(f"next turn, {size} messages", next_turn, cold, "cold", 0.4))
        figures += work.plan_figures()
        figures.append(work.memory())
    ratio = growth["next"][-1] / growth["next"][0]
    measure = growth["copy"][-1] / growth["copy"][0]
    figures.append(
        Figure(
            "growth of the next turn, 1,000 to 10,000", ratio, measure, "copy and compare", 1.0, "x"
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

    def cold(self, dialect: Dialect) -> float:
        """A turn of a chat that was never seen (texts and preset stay warm, as in a server)."""

        def work() -> None:
            forget()
            self.compile(self.history, dialect)

        return median_seconds(work)

    def cold_figures(self) -> list[Figure]:
        splice = median_seconds(self.splice_and_scan)
        figures = [
            Figure(
                f"cold turn, {self.size} messages",
                self.cold(Dialect.sillytavern),
                splice,
                "splice and scan",
                3.0,
            ),
            Figure(
                f"cold turn, native, {self.size} messages",
                self.cold(Dialect.native),
                splice,
                "splice and scan",
                3.0,
            ),
        ]
        peer = _peer(self.inputs)
        if peer is None:
            print(
                "  fast-tavern is not installed: no peer beside it (pip install fast-tavern==0.1.8)"
            )
        else:
            ours = self.cold(Dialect.sillytavern)
            theirs = median_seconds(peer, 3)
            figures.append(
                Figure(
                    f"cold turn against fast-tavern, {self.size}",
                    ours,
                    theirs,
                    "fast-tavern 0.1.8",
                    1 / 25,
                )
            )
        return figures

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

    def next_turn(self) -> float:
        """The same chat with two messages more; the chat before it has been compiled."""
        forget()
        longer = [self.history]
        for n in range(16):
            added = (ChatMessage("assistant", f"reply {n}"), ChatMessage("user", f"turn {n}"))
            longer.append((*longer[-1], *added))
        rounds = iter(longer)
        self.compile(next(rounds), Dialect.sillytavern)

        def work() -> None:
            self.compile(next(rounds), Dialect.sillytavern)

        return median_seconds(work, 15)

    def copy_and_compare(self) -> float:
        """Copy the list of the prompt's messages and compare the references of the history."""
        sent = list(self.compile(self.history, Dialect.sillytavern).messages)
        other = tuple(self.history)

        def work() -> None:
            list(sent)
            _ = other == self.history

        return median_seconds(work, 15)

    def plan_figures(self) -> list[Figure]:
        turn = self.compile(self.history, Dialect.sillytavern)
        texts = [message.text for message in turn.messages]
        counter = _fresh_counter()
        context = Context(tokens=counter)
        counted = compile_turn(
            self.preset, self.content(self.history), dialect=Dialect.sillytavern, context=context
        )
        digests = median_seconds(counted.plan.message_digests)
        hashes = median_seconds(
            lambda: [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        )
        tokens = median_seconds(counted.plan.message_tokens, 3)
        counts = median_seconds(lambda: [counter.count(text) for text in texts], 3)
        return [
            Figure(f"digests on demand, {self.size}", digests, hashes, "hashing alone", 1.3),
            Figure(f"tokens on demand, {self.size}", tokens, counts, "counting alone", 1.3),
        ]

    def memory(self) -> Figure:
        """What a compiled turn adds, against the size of the history's texts."""
        forget()
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


def median_seconds(work: Callable[[], object], repeat: int = 15) -> float:
    """Median processor time of one call, the collector off: other work on the machine does not count."""
    times = []
    gc.collect()
    gc.disable()
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    gc.enable()
    return statistics.median(times)


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


def forget() -> None:
    """Let the engine forget the chats it has seen."""
    turns.known.forget()
    seen.tools.forget()
    runs._known.clear()


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
