"""Counting tokens: a protocol, an estimate without a vocabulary, and a memo by text.

`tiktoken` is the exact counter; its vocabularies are unpacked offline by `preset_engine.vocabulary`, which
wraps the result in a `MemoCounter`. Nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class TokenCounter(Protocol):
    """Counts the tokens of one text."""

    @property
    def name(self) -> str:
        """What counted: an encoding's name, or ``estimate``."""
        ...

    def count(self, text: str) -> int:
        """Number of tokens of the text; 0 for the empty text."""
        ...


class Estimate:
    """One token for every four characters, rounded up (the rule of the Stello seed).

    With `wide` every character outside Latin-1 counts as a token of its own, which is nearer to the
    truth for Chinese and Japanese.
    """

    def __init__(self, *, wide: bool = False) -> None:
        self._wide = wide

    @property
    def name(self) -> str:
        """`estimate`, or `estimate-wide`."""
        return "estimate-wide" if self._wide else "estimate"

    def count(self, text: str) -> int:
        """Ceiling of characters / 4 (of the narrow ones, plus one for each wide one)."""
        if not self._wide or text.isascii():
            return -(-len(text) // 4)
        wide = sum(character > "\u00ff" for character in text)
        return wide - (-(len(text) - wide) // 4)


class MemoCounter:
    """Remembers the counts of the texts it has seen, newest `capacity` texts at most.

    Args:
        name: what counts, for reports.
        count: the function that counts a text anew.
        capacity: how many texts are remembered; at the limit the older half is forgotten.
    """

    def __init__(self, name: str, count: Callable[[str], int], capacity: int = 200_000) -> None:
        self._name = name
        self._count = count
        self._capacity = capacity
        self._known: dict[str, int] = {"": 0}

    @property
    def name(self) -> str:
        """What counted."""
        return self._name

    def count(self, text: str) -> int:
        """The remembered count, else a new one."""
        known = self._known.get(text)
        if known is None:
            known = self._count(text)
            if len(self._known) >= self._capacity:
                keep = list(self._known.items())[self._capacity // 2 :]
                self._known = dict(keep)
            self._known[text] = known
        return known
