"""Parts of the content that this version keeps and does not read yet: said aloud, since they look as if they worked."""

from __future__ import annotations

from collections.abc import Iterator

from preset_engine.content.content import Content
from preset_engine.errors import Note

_LORE = "Put what must be told into the content's blocks (before, after) meanwhile."
_SCRIPTS = "Apply the scripts to the texts before they are given, meanwhile."


def unread_parts(content: Content) -> Iterator[Note]:
    """A note for each given part that no message can show: world books, a card's own book, regex scripts."""
    books = len(content.world_books)
    if books:
        yield _note(
            "lore-unread",
            f"entries of world books are not read yet ({books} given)",
            "world_books",
            _LORE,
        )
    card = content.card or {}
    data = card.get("data")
    inner = data if isinstance(data, dict) else card
    if isinstance(book := inner.get("character_book"), dict) and book.get("entries"):
        yield _note(
            "lore-unread", "the card's own world book is not read yet", "card.character_book", _LORE
        )
    scripts = len(content.regex_scripts)
    if scripts:
        yield _note(
            "scripts-unread",
            f"regex scripts are not run yet ({scripts} given)",
            "regex_scripts",
            _SCRIPTS,
        )


def _note(code: str, message: str, path: str, advice: str) -> Note:
    return Note(code, f"{message}; nothing of it enters the prompt", path, advice)
