"""Counts the macros of a preset: which names, how often, where first, and whether the engine knows them.

Unknown names stay in the text as written: most are blanks that authors leave for the model ("{{title here}}").
Names are compared without case. A nested macro counts by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from preset_engine.macros.mentions import find_mentions, is_known
from preset_engine.messages import JsonObject
from preset_engine.preset.notebook import Notebook, shown

_SINGLE = ("{user}", "{char}", "{User}", "{Char}", "{USER}", "{CHAR}")
_DOUBLE = tuple(f"{{{word}}}" for word in _SINGLE)
_LEGACY = tuple(
    tag
    for name in ("user", "bot", "char", "group", "charIfNotGroup")
    for tag in (f"<{name}>", f"<{name.upper()}>", f"<{name.capitalize()}>")
)
MOST_NAMES = 20_000
"""Names that are told apart; the richest real preset has some two hundred."""


_GIVEN = {"continue_nudge_prompt": frozenset({"lastchatmessage"})}
"""Macros that exist in one setting only, where the engine gives their value (SillyTavern's continue nudge)."""


@dataclass(frozen=True, slots=True)
class MacroUse:
    """One macro name of a preset.

    Attributes:
        name: as first written.
        is_known: the engine expands it; otherwise it stays as text.
        count: uses in the whole file.
        first: JSON path of the text with the first use.
    """

    name: str
    is_known: bool
    count: int
    first: str

    def to_json(self) -> JsonObject:
        """The object of `diagnostics.macros`."""
        return {"name": self.name, "known": self.is_known, "count": self.count, "first": self.first}


_Found = dict[tuple[str, bool], list[str | int]]


def count_macros(texts: Iterable[tuple[str, str]], notes: Notebook) -> tuple[MacroUse, ...]:
    """The macros of the texts, most used first.

    Args:
        texts: pairs of place and text.
        notes: gets `macro-unknown`, `braces-unbalanced`, `single-braces`, `legacy-tags`, `template-code`.
    """
    found: _Found = {}
    for place, text in texts:
        if "{{" in text or "}}" in text:
            _count(text, place, found, notes)
        _note_old_names(text, place, notes)
    uses = [
        MacroUse(str(name), is_given or is_known(key), int(count), str(first))
        for (key, is_given), (name, count, first) in found.items()
    ]
    uses.sort(key=lambda use: (-use.count, use.name))
    _note_unknown(uses, notes)
    return tuple(uses)


def _count(
    text: str,
    place: str,
    found: _Found,
    notes: Notebook,
) -> None:
    opened = text.count("{{")
    if opened != text.count("}}"):
        notes.add(
            "braces-unbalanced",
            "double braces do not pair; what does not close stays as text",
            place,
        )
    given = _GIVEN.get(place.rpartition(".")[2], frozenset())
    for name, count in Counter(name for name, _ in find_mentions(text)).items():
        key = (name.lower(), name.lower() in given)
        if key in found or len(found) < MOST_NAMES:
            use = found.setdefault(key, [name, 0, place])
            use[1] = int(use[1]) + count


def _note_old_names(text: str, place: str, notes: Notebook) -> None:
    """Notes names in single braces and in angle brackets, and template code."""
    is_odd = text.count("{") != 2 * text.count("{{")
    if is_odd and _count_all(text, _SINGLE) > _count_all(text, _DOUBLE):
        notes.add("single-braces", "names stand in single braces; they stay as text", place)
    if "<" not in text:
        return
    if any(tag in text for tag in _LEGACY):
        notes.add(
            "legacy-tags",
            "old name tags (<user>, <bot>, <char>) are replaced by names in SillyTavern",
            place,
        )
    if "<%" in text:
        notes.add(
            "template-code",
            "texts hold template code (<% %>) of an extension; it is not run",
            place,
        )


def _count_all(text: str, words: tuple[str, ...]) -> int:
    return sum(text.count(word) for word in words)


def _note_unknown(uses: list[MacroUse], notes: Notebook) -> None:
    unknown = [use for use in uses if not use.is_known]
    if unknown:
        names = ", ".join(shown(use.name, 24) for use in unknown[:5])
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        notes.add(
            "macro-unknown",
            f"{names}{more}: no macros of the engine; they stay as written",
            unknown[0].first,
            sum(use.count for use in unknown),
        )
