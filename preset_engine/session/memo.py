"""What was worked out of a session's records once: their messages, their tokens, the digest of a head.

Records never change in place, so a record that is the same object has the same message and the same size. A
session that only grows therefore pays for its new records alone, and the compile stage gets the very messages
that it got the last time (design decision 15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import TypeVar

from preset_engine.messages import ChatMessage
from preset_engine.session.compression import record_tokens, records_digest
from preset_engine.session.frame import to_message
from preset_engine.session.record import SessionRecord
from preset_engine.tokens import TokenCounter

V = TypeVar("V")


class RecordMemo:
    """Remembers by record; a record with the same number that is another object is worked out anew."""

    def __init__(self) -> None:
        self._messages: dict[int, tuple[SessionRecord, ChatMessage]] = {}
        self._sizes: dict[int, tuple[SessionRecord, int]] = {}
        self._counter: TokenCounter | None = None
        self._head: tuple[SessionRecord, ...] = ()
        self._digest = ""

    def messages(self, records: Sequence[SessionRecord]) -> tuple[ChatMessage, ...]:
        """The records as chat messages."""
        return tuple(_known(self._messages, records, to_message))

    def sizes(self, records: Sequence[SessionRecord], counter: TokenCounter) -> list[int]:
        """Tokens of each record."""
        if counter is not self._counter:
            self._sizes, self._counter = {}, counter
        return _known(self._sizes, records, lambda record: record_tokens(record, counter))

    def digest(self, records: Sequence[SessionRecord]) -> str:
        """The digest of these records; the newest one is remembered."""
        head = tuple(records)
        if len(head) != len(self._head) or not all(map(is_, head, self._head)):
            self._head, self._digest = head, records_digest(head)
        return self._digest


def _known(
    memo: dict[int, tuple[SessionRecord, V]],
    records: Sequence[SessionRecord],
    work: Callable[[SessionRecord], V],
) -> list[V]:
    found: list[V] = []
    for record in records:
        entry = memo.get(record.number)
        if entry is None or entry[0] is not record:
            entry = (record, work(record))
            if record.number:
                memo[record.number] = entry
        found.append(entry[1])
    return found
