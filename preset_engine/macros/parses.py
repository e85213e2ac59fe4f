"""Parsed texts, kept by text: entries are parsed once and evaluated often."""

from __future__ import annotations

from preset_engine.macros.nodes import Document
from preset_engine.macros.parser import parse


class ParseCache:
    """The most recently used parses, bounded by their total number of characters.

    Safe to share between threads: a lost race costs a second parse, never a wrong one.
    """

    def __init__(self, max_chars: int = 8_000_000) -> None:
        self._held: dict[tuple[str, int], Document] = {}
        self._chars = 0
        self._max_chars = max_chars

    def parse(self, text: str, max_depth: int) -> Document:
        """The document of a text, parsed now or before."""
        key = (text, max_depth)
        document = self._held.pop(key, None)
        if document is None:
            document = parse(text, max_depth)
            self._chars += len(text)
        self._held[key] = document
        self._trim()
        return document

    def holds(self, text: str, max_depth: int) -> bool:
        """Whether the document of a text is at hand."""
        return (text, max_depth) in self._held

    def put(self, document: Document, max_depth: int) -> None:
        """Keep the document of a text that is a part of a parsed one."""
        key = (document.text, max_depth)
        if key not in self._held:
            self._held[key] = document
            self._chars += len(document.text)
            self._trim()

    def forget(self) -> None:
        """Forget everything; only a benchmark needs it."""
        self._held.clear()
        self._chars = 0

    def _trim(self) -> None:
        while self._chars > self._max_chars and len(self._held) > 1:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        oldest = next(iter(self._held), None)
        if oldest is not None and self._held.pop(oldest, None) is not None:
            self._chars -= len(oldest[0])


SHARED_PARSES = ParseCache()
