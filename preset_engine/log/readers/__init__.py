"""The families of log shapes, in the order in which a JSON object is offered to them.

A family's `read` answers None where the object is not its own. `bodies`, which takes anything with a usage
object, comes after them all. Objects that hold a list of others under a well-known name are
opened here.
"""

from __future__ import annotations

from collections.abc import Iterator

from preset_engine.log.call import Reading, Skip, SkipKind
from preset_engine.log.readers import (
    batches,
    bodies,
    coding_tools,
    gateways,
    own,
    sdks,
    streams,
    summaries,
    tracing,
)
from preset_engine.log.readers.fields import Body, objects, text
from preset_engine.log.readers.memory import Memory

FAMILIES = (own, summaries, tracing, coding_tools, batches, gateways, streams, sdks)
_LISTS = (
    "items",
    "data",
    "messages",
    "logs",
    "records",
    "rows",
    "results",
    "observations",
    "generations",
    "spans",
    "entries",
    "calls",
    "requests",
)
_DEEPEST = 6


def read_object(value: object, memory: Memory) -> Iterator[Reading]:
    """The calls and skips that one JSON value holds."""
    if isinstance(value, list):
        for item in value:
            yield from read_object(item, memory)
        return
    if not isinstance(value, dict):
        yield Skip(SkipKind.UNKNOWN, "a bare value, no object")
        return
    for family in FAMILIES:
        found = family.read(value, memory)
        if found is not None:
            yield from found
            return
    found = bodies.read(value, memory)
    opened = _open(value) if found is None else []
    if found is None and not opened:
        found = bodies.read_failure(value)
    if found is not None:
        yield from found
    elif opened and memory.depth < _DEEPEST:
        yield from _read_all(value, opened, memory)
    else:
        yield Skip(SkipKind.UNKNOWN, "an object without usage figures of any known shape")


def finish(memory: Memory) -> list[Reading]:
    """What is still open at the end of a file."""
    return streams.finish(memory)


def _open(value: Body) -> list[Body]:
    """The objects in this container; a reply or a flat line is none."""
    if any(
        name in value for name in ("usage", "usageMetadata", "choices", "candidates", "content")
    ):
        return []
    for name in _LISTS:
        found = objects(value.get(name))
        if found:
            return found
    data = value.get("data")
    return _open(data) if isinstance(data, dict) else []


def _read_all(value: Body, opened: list[Body], memory: Memory) -> Iterator[Reading]:
    before = memory.session
    memory.session = text(value.get("sessionId")) or text(value.get("session_id")) or before
    memory.depth += 1
    for item in opened:
        yield from read_object(item, memory)
    memory.depth -= 1
    memory.session = before
