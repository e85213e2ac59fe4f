"""A whole forest as JSON lines, out of any back end and into any other.

    {"kind": "preset_engine.forest", "format": 1}
    {"session": {"meta": {...}, "node": {...}, "config": ..., "slots": {...}, "next_number": 3, "records": 2}}
    {"record": {"number": 1, "role": "user", "content": "..."}}
    {"record": ...}
    {"ref": {"from": "...", "to": "..."}}
    {"end": {"sessions": 1}}

A session's records follow it, parents stand before children, references come last, and the last line tells that
nothing is missing. An import is one transaction: all of it or nothing. Ids, numbers, times and versions stay.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import replace

from preset_engine.characters import clean_text
from preset_engine.errors import InputTooLarge, UnreadableInput, WrongKind
from preset_engine.json_values import as_object
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.session.meta import (
    CompressionSnapshot,
    FrozenConfig,
    SessionMeta,
    read_count,
    read_text,
)
from preset_engine.session.protocols import SessionDump, Store
from preset_engine.session.record import SessionRecord
from preset_engine.storage.border import (
    clean_config,
    clean_json,
    clean_object,
    clean_record,
    dumps,
    put_over,
)
from preset_engine.storage.changes import node_from_json, node_to_json
from preset_engine.storage.slots import JSON_SLOTS, Slot

KIND = "preset_engine.forest"
FORMAT = 1
MAX_LINE_CHARACTERS = 64 * 1024 * 1024


async def export_forest(store: Store) -> AsyncIterator[str]:
    """The lines of all sessions of the store's tenant, each with its newline."""
    yield _line({"kind": KIND, "format": FORMAT})
    nodes = sorted(await store.list_all(), key=lambda node: (node.depth, node.index))
    refs: list[tuple[str, str]] = []
    exported = set()
    for node in nodes:
        dump = await store.dump_session(node.id)
        if dump is None:
            continue
        exported.add(node.id)
        refs.extend((node.id, target) for target in dump.node.refs)
        yield _line({"session": _session_json(dump)})
        for record in dump.records:
            yield _line({"record": record.to_json()})
    for source, target in refs:
        if target in exported:  # one made while the export ran is not in it
            yield _line({"ref": {"from": source, "to": target}})
    yield _line({"end": {"sessions": len(exported)}})


def _line(body: JsonObject) -> str:
    return dumps(body) + "\n"


def _session_json(dump: SessionDump) -> JsonObject:
    return {
        "meta": dump.meta.to_json(),
        "node": node_to_json(dump.node),
        "config": None if dump.config is None else dump.config.to_json(),
        "slots": dict(sorted(dump.slots.items())),
        "next_number": dump.next_number,
        "records": len(dump.records),
    }


async def import_forest(store: Store, lines: Iterable[str]) -> int:
    """Store every session of an export; gives their number.

    Raises:
        WrongKind: not an export of ours, or of a newer format.
        UnreadableInput: a line that cannot be read or contradicts the others; names the line.
        SessionError: an id is taken.
    """

    async def work(inner: Store) -> int:
        reader = _Reader(lines)
        async for dump in reader.sessions(inner):
            await inner.restore_session(dump)
        for source, target in reader.refs:
            await inner.add_ref(source, target)
        return reader.count

    return await store.transaction(work)


class _Reader:
    """Reads an export line by line; a session is whole when its last record was read."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = _numbered(lines)
        self._at = 0
        self.refs: list[tuple[str, str]] = []
        self.count = 0

    async def sessions(self, store: Store) -> AsyncIterator[SessionDump]:
        """Every session with its records, checked against what is stored already."""
        self._read_head()
        while True:
            body = self._next()
            match body:
                case {"session": dict(session)}:
                    dump = self._session(session)
                    await self._check_place(store, dump)
                    self.count += 1
                    yield dump
                case {"ref": dict(ref)}:
                    self.refs.append((read_text(ref, "from"), read_text(ref, "to")))
                case {"end": dict(end)}:
                    if read_count(end, "sessions") != self.count:
                        raise self._wrong(f"{self.count} sessions were read, not {end['sessions']}")
                    return
                case _:
                    raise self._wrong("neither session, reference nor end")

    def _read_head(self) -> None:
        head = self._next()
        if head.get("kind") != KIND:
            raise WrongKind(
                "this is no export of sessions; `sessions export` writes one", "unknown"
            )
        if head.get("format") != FORMAT:
            raise WrongKind(
                f"this export has format {head.get('format')!r:.20}, this version reads {FORMAT}; update preset-engine",
                "newer_export",
            )

    def _next(self) -> JsonObject:
        try:
            self._at, line = next(self._lines)
        except StopIteration:
            raise self._wrong("the file ends here, but the end line is missing") from None
        if len(line) > MAX_LINE_CHARACTERS:
            raise InputTooLarge(f"line {self._at} is longer than {MAX_LINE_CHARACTERS} characters")
        try:
            body = json.loads(line)
        except (ValueError, RecursionError):
            raise self._wrong("no JSON") from None
        if not isinstance(body, dict):
            raise self._wrong("no JSON object")
        return body

    def _wrong(self, why: str) -> UnreadableInput:
        return UnreadableInput(f"line {self._at} of the export cannot be used: {why}")

    def _session(self, body: JsonObject) -> SessionDump:
        try:
            return self._read_session(body)
        except UnreadableInput as error:
            raise error if str(error).startswith("line ") else self._wrong(str(error)) from error

    def _read_session(self, body: JsonObject) -> SessionDump:
        meta, place, config = body.get("meta"), body.get("node"), body.get("config")
        slots = body.get("slots")
        if not isinstance(meta, dict) or not isinstance(place, dict):
            raise UnreadableInput("a session needs 'meta' and 'node'")
        parsed = SessionMeta.from_json(meta)
        clean = replace(put_over(parsed, None, parsed.created_at), version=parsed.version)
        node = node_from_json(place)
        if node.id != clean.id:
            raise UnreadableInput(f"node {node.id!r:.60} under session {clean.id!r:.60}")
        records = tuple(self._records(read_count(body, "records")))
        return SessionDump(
            meta=clean,
            node=node,
            config=clean_config(FrozenConfig.from_json(config))
            if isinstance(config, dict)
            else None,
            slots=dict(_slots(as_object(slots))),
            records=records,
            next_number=max(
                read_count(body, "next_number", 1), records[-1].number + 1 if records else 1
            ),
        )

    def _records(self, count: int) -> Iterator[SessionRecord]:
        last = 0
        for _ in range(count):
            body = self._next().get("record")
            if not isinstance(body, dict):
                raise self._wrong("a record of the session above was expected")
            record = SessionRecord.from_json(body)
            if record.number <= last:
                raise self._wrong(f"record number {record.number} does not follow {last}")
            last = record.number
            yield clean_record(record, last)

    async def _check_place(self, store: Store, dump: SessionDump) -> None:
        parent_id = dump.node.parent_id
        parent = None if parent_id is None else await store.get_node(parent_id)
        if parent_id is not None and parent is None:
            raise self._wrong(f"the parent {parent_id!r:.60} of {dump.meta.id!r:.60} is missing")
        if dump.node.depth != (0 if parent is None else parent.depth + 1):
            raise self._wrong(f"session {dump.meta.id!r:.60} has a depth that its parent has not")


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    return ((at, line) for at, line in enumerate(lines, 1) if line.strip())


def _slots(slots: JsonObject) -> Iterator[tuple[str, JsonValue]]:
    """The known slots with values of their own kind, cleaned."""
    for name, value in slots.items():
        match value:
            case str() if name in set(Slot) - JSON_SLOTS:
                yield name, clean_text(value)
            case dict() if name == Slot.COMPRESSION:
                yield name, clean_json(CompressionSnapshot.from_json(value).to_json())
            case dict() if name in JSON_SLOTS:
                yield name, clean_object(value)
            case _:
                raise UnreadableInput(f"slot {name!r:.40} is unknown or of another kind")
