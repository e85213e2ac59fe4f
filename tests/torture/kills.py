"""Kills a writer with -9 at a seeded random moment and looks at what it left."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

from preset_engine.session.protocols import Store
from preset_engine.storage.open import open_storage
from tests.torture.writer import RECORDS_IN_TURN, SESSION
from tests.truth import ROOT


@dataclass
class Outcome:
    """What a series of kills showed."""

    kills: int = 0
    turns: int = 0
    forks: int = 0
    unacknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not self.lost and not self.broken


def run_and_kill(url: str, tenant: str, prefix: str, moments: random.Random) -> list[str]:
    """Start a writer, kill it a moment after it has said so many lines, give all it said.

    Both are drawn from the seed. Lines first, so that a busy machine changes nothing; the moment then falls
    anywhere in the work that follows.
    """
    lines, pause = moments.randrange(1, 12), moments.random() * 0.04
    command = [sys.executable, "-m", "tests.torture.writer", url, tenant, prefix]
    writer = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert writer.stdout is not None
    said = [writer.stdout.readline() for _ in range(lines + 1)]
    time.sleep(pause)
    writer.kill()  # SIGKILL: nothing of it runs on
    rest, errors = writer.communicate()
    if "" in said or "Traceback" in errors:
        raise AssertionError(f"the writer failed by itself: {errors[-2000:]}")
    whole = "".join(said[1:]) + rest
    return [line for line in whole.split("\n")[:-1] if line]  # a line without its end was not said


async def torture(url: str, kills: int, seed: int) -> Outcome:
    """Kill writers one after another on one store and check it after each."""
    tenant = f"torture-{uuid4().hex[:12]}"
    store = await open_storage(url, tenant)
    await store.create_session(session_id=SESSION)
    await store.close()
    outcome, moments = Outcome(), random.Random(seed)
    turns: list[str] = []
    forks: list[str] = []
    for kill in range(kills):
        said = run_and_kill(url, tenant, f"k{kill}", moments)
        outcome.kills += 1
        turns += [line[5:] for line in said if line.startswith("turn ")]
        forks += [line[5:] for line in said if line.startswith("fork ")]
        store = await open_storage(url, tenant)
        await store.transaction(partial(_check, turns, forks, outcome))
        await store.close()
    outcome.turns, outcome.forks = len(turns), len(forks)
    return outcome


async def _check(turns: list[str], forks: list[str], outcome: Outcome, store: Store) -> None:
    await store.trim_records(
        SESSION, sys.maxsize
    )  # removes nothing, but waits for a commit on its way
    records = await store.list_records(SESSION)
    meta = await store.get(SESSION)
    assert meta is not None
    stored = []
    for start in range(0, len(records), RECORDS_IN_TURN):
        group = records[start : start + RECORDS_IN_TURN]
        names = {record.content.split(" ")[0] for record in group}
        roles = [record.role for record in group]
        if len(names) != 1 or roles != ["user", "assistant", "tool", "assistant"]:
            outcome.broken.append(f"a half turn at record {start + 1}: {names} {roles}")
        stored += sorted(names)[:1]
    if [record.number for record in records] != list(range(1, len(records) + 1)):
        outcome.broken.append("record numbers have a gap or a double")
    if meta.turn_count != len(stored) or meta.version != len(stored):
        outcome.broken.append(f"turn count {meta.turn_count} of {len(stored)} turns")
    variables = await store.get_variables(SESSION)
    if stored and variables.get("last") != stored[-1]:
        outcome.broken.append(f"variables are of {variables.get('last')}, not of {stored[-1]}")
    insight = await store.get_insight(SESSION)
    if insight is not None and insight.removeprefix("insight ") in stored:
        outcome.broken.append(f"the insight of {insight} was not cleared with its turn")
    outcome.lost += [f"turn {name}" for name in turns if name not in set(stored)]
    outcome.unacknowledged = len(stored) - len(turns)
    await _check_forks(store, forks, outcome)


async def _check_forks(store: Store, forks: list[str], outcome: Outcome) -> None:
    nodes = [node for node in await store.list_all() if node.parent_id == SESSION]
    if sorted(node.index for node in nodes) != list(range(len(nodes))):
        outcome.broken.append("indexes of the forks have a gap or a double")
    for node in nodes:
        name = node.id.removeprefix("fork-")
        config, prompt = await store.get_config(node.id), await store.get_system_prompt(node.id)
        records = await store.list_records(node.id)
        if config is None or prompt != name or len(records) != RECORDS_IN_TURN:
            outcome.broken.append(f"a half fork {name}")
    stored = {node.id.removeprefix("fork-") for node in nodes}
    outcome.lost += [f"fork {name}" for name in forks if name not in stored]
