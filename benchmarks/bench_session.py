"""A session's next call (everything but the model) at 100, 1,000 and 10,000 records, over the memory back end.

The measure is one pass over the same records that reads each record's role and text: what it costs to look at a
history at all. Growth compares 10,000 with 1,000 records; reading alone grows tenfold.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import anyio

from benchmarks.figures import Figure, median_seconds
from preset_engine.llm.scripted import Scripted
from preset_engine.session.record import SessionRecord
from preset_engine.session.session import Session
from preset_engine.storage.open import open_storage

SIZES = (100, 1_000, 10_000)
REPEAT = 15


def run() -> list[Figure]:
    """The figures."""
    return anyio.run(_run)


async def _run() -> list[Figure]:
    figures, costs = [], {}
    for size in SIZES:
        costs[size], read = await _next_call(size)
        name = f"next call at {size} records"
        figures.append(Figure(name, costs[size], read, "one pass over the records"))
    growth = costs[10_000] / costs[1_000]
    figures.append(
        Figure("growth of the next call from 1,000 to 10,000", growth, 10.0, "reading", 1.2, "x")
    )
    return figures


async def _next_call(size: int) -> tuple[float, float]:
    store = await open_storage("memory:")
    model = Scripted("ok", repeat=True, max_context_tokens=100_000_000)
    session = await Session.create(store, adapter=model)
    await store.append_records(session.id, _records(size))
    await session.send("first")
    seconds = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        await session.send("next")
        seconds.append(time.perf_counter() - start)
        model.requests.clear()
    records = await session.messages()
    await store.close()
    return statistics.median(seconds), median_seconds(lambda: _read(records))


def _records(size: int) -> list[SessionRecord]:
    roles = ("user", "assistant")
    return [SessionRecord(roles[n % 2], f"record {n} " * 20) for n in range(size)]


def _read(records: Sequence[SessionRecord]) -> int:
    return sum(len(record.content) for record in records if record.role != "tool")
