"""A block of changes on a shelf: what a transaction is in this process.

The block that is open belongs to the task that opened it and to tasks started inside. A block inside a block joins
it and marks where it began, so that an exception which leaves only the inner one takes back only its part.
"""

from __future__ import annotations

from collections.abc import Callable

from preset_engine.storage.changes import Change
from preset_engine.storage.shelf import Shelf


class Block:
    """Changes made so far, each with its way back."""

    def __init__(self, shelf: Shelf) -> None:
        self.changes: list[Change] = []
        self.is_open = True
        self._shelf = shelf
        self._undo: list[tuple[int, list[Callable[[], None]]]] = []

    def make(self, change: Change) -> None:
        """Apply one change to the shelf."""
        undo: list[Callable[[], None]] = []
        self._shelf.apply(change, undo)
        self.changes.append(change)
        self._undo.append((len(self.changes), undo))

    def mark(self) -> int:
        """Where the block stands, for `take_back`."""
        return len(self.changes)

    def take_back(self, mark: int = 0) -> None:
        """Undo everything that was made after the mark, the newest first."""
        while self._undo and self._undo[-1][0] > mark:
            for step in reversed(self._undo.pop()[1]):
                step()
        del self.changes[mark:]
