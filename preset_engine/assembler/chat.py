"""The chat as a SillyTavern page would hold it in memory, without copying what is stored.

The stored history stays one shared sequence; the few changes of a turn (the first message expanded, a reply
taken away, the new message) lie beside it. Messages in OpenAI form are read as chat records when a macro asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

from preset_engine.messages import ChatMessage, ChatRecord, JsonValue

Stored = Sequence[ChatMessage] | Sequence[ChatRecord]


class Chat(Sequence[ChatRecord]):
    """Stored records with this turn's changes, oldest first.

    Args:
        stored: the history as given; text histories are parsed before.
        user: name of records that are the user's and carry none.
        char: name of the other records that carry none.
    """

    def __init__(self, stored: Stored, user: str, char: str) -> None:
        self.stored = stored
        self.kept = len(stored)
        self.changed: dict[int, ChatRecord] = {}
        self.tail: list[ChatRecord] = []
        self._user = user
        self._char = char

    def __len__(self) -> int:
        return self.kept + len(self.tail)

    @overload
    def __getitem__(self, index: int) -> ChatRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ChatRecord]: ...
    def __getitem__(self, index: int | slice) -> ChatRecord | Sequence[ChatRecord]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(index)
        if number in self.changed:
            return self.changed[number]
        if number >= self.kept:
            return self.tail[number - self.kept]
        record = self.stored[number]
        return record if isinstance(record, ChatRecord) else self._record(record)

    def drop_last(self) -> None:
        """Take the last record away."""
        if self.tail:
            del self.tail[-1]
        elif self.kept:
            self.kept -= 1
            self.changed.pop(self.kept, None)

    def append(self, record: ChatRecord) -> None:
        """Put a record at the end."""
        self.tail.append(record)

    def replace(self, number: int, record: ChatRecord) -> None:
        """Let a record stand in the place of another."""
        self.changed[number] = record

    def _record(self, message: ChatMessage) -> ChatRecord:
        is_user = message.role == "user"
        extra: Mapping[str, JsonValue] = (
            {"extra": {"type": "narrator"}} if message.role == "system" else {}
        )
        name = message.name or (self._user if is_user else self._char)
        return ChatRecord(name, message.text, is_user, extra=extra)
