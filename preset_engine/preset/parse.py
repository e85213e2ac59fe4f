r"""Text to a JSON value, with every repair as a note.

The steps go from exact to generous; each is tried only when the one before failed::

    exact           the text is JSON
    raw line breaks line breaks and control characters inside texts
    first document  something stands before or behind a whole JSON document
    early end       the file was cut off; whole values up to there are kept
    plain slips     comments, trailing commas, single or curly quotes, Python's words, double encoding
    lost quotes     one line, one member: a text is quoted anew, a number written anew
    library         json-repair, within a bounded number of steps: missing commas and all else

All steps are linear but the last, which is stopped by a count of steps, not by a clock, so that equal
inputs give equal results on every machine.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable

from preset_engine.errors import InputTooLarge, UnreadableInput, WrongKind
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.json_repairs import repair_with_library
from preset_engine.preset.json_slips import mend_members, mend_slips
from preset_engine.preset.notebook import Notebook, shown
from preset_engine.preset.truncation import close_early_end
from preset_engine.preset.values import check_depth, mend

_ESCAPED_BAD = re.compile(  # NUL, a first half without its second, a second half without its first
    r"\\u(?:0000|[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F])"
)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FENCE = re.compile(r"^\s*```")
_HTML = re.compile(r"<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_CONFLICT = re.compile(r"^(?:<<<<<<<|=======|>>>>>>>)(?: |$)", re.MULTILINE)


def parse(text: str, notes: Notebook) -> JsonValue:
    """The JSON value of a preset file's text.

    Args:
        text: decoded, without padding and without half surrogates.
        notes: gets a note for each repair.

    Raises:
        WrongKind: HTML, a git-lfs pointer, a file with conflict markers.
        UnreadableInput: no JSON, and no repair helps.
        InputTooLarge: nested too deep.
    """
    _refuse_foreign_text(text)
    reader = _Reader(notes)
    try:
        value = _parse(text, notes, reader)
    except RecursionError:
        message = (
            "the document is nested too deep to be read; no preset is. Check where it comes from"
        )
        raise InputTooLarge(message) from None
    check_depth(value)
    if isinstance(value, str):
        value = _decode_twice(value, notes, reader)
    return _mended(value, text, notes, reader)


class _Reader:
    """json.loads with an eye on duplicate keys and on numbers that are none."""

    def __init__(self, notes: Notebook) -> None:
        self.notes = notes
        self.twice: list[str] = []
        self.constants: list[str] = []
        self.is_guess = False

    def read(self, text: str, strict: bool) -> JsonValue:
        value: JsonValue = self._decoder(strict).decode(text)
        return value

    def first_document(self, text: str, start: int) -> tuple[JsonValue, int]:
        value, end = self._decoder(strict=False).raw_decode(text, start)
        return value, end

    def _decoder(self, strict: bool) -> json.JSONDecoder:
        self.twice.clear()
        self.constants.clear()
        return json.JSONDecoder(
            strict=strict,
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_float=self._float,
        )

    def _object(self, pairs: list[tuple[str, JsonValue]]) -> JsonObject:
        value = dict(pairs)
        if len(value) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.twice.append(key)
                seen.add(key)
        return value

    def _constant(self, word: str) -> None:
        self.constants.append(word)

    def _float(self, word: str) -> float | None:
        value = float(word)
        if math.isinf(value):
            self.constants.append("a number beyond range")
            return None
        return value


def _parse(text: str, notes: Notebook, reader: _Reader) -> JsonValue:
    steps: tuple[Callable[[], JsonValue], ...] = (
        lambda: reader.read(text, strict=True),
        lambda: _raw_line_breaks(text, notes, reader),
        lambda: _first_document(text, notes, reader),
        lambda: _early_end(text, notes, reader),
        lambda: _plain_slips(text, notes, reader),
        lambda: _members(text, notes, reader),
    )
    first: ValueError | None = None
    for step in steps:
        try:
            return step()
        except ValueError as error:
            if first is None:
                first = error
                _note_controls(text, notes)
    return _by_library(text, notes, reader, first)


def _note_controls(text: str, notes: Notebook) -> None:
    """Notes control characters; exact JSON has none, so only damaged text is searched."""
    found = _CONTROLS.findall(text)
    if found:
        codes = ", ".join(sorted({f"U+{ord(character):04X}" for character in found})[:4])
        notes.add(
            "control-characters",
            f"{len(found)} control characters ({codes}) stand in the text; NUL is replaced, the others stay",
        )


def _raw_line_breaks(text: str, notes: Notebook, reader: _Reader) -> JsonValue:
    value = reader.read(text, strict=False)
    notes.add(
        "unescaped-characters",
        "line breaks or control characters stand unescaped inside texts; they are taken as they are",
    )
    return value


def _first_document(text: str, notes: Notebook, reader: _Reader) -> JsonValue:
    start = _first_bracket(text)
    value, end = reader.first_document(text, start)
    before, behind = text[:start].strip(), text[end:].strip("\ufeff\0 \t\r\n")
    if _FENCE.match(before) or before.endswith(("```", "```json")):
        notes.add(
            "code-fence", "the document stands in a Markdown code fence; the fence is skipped"
        )
        before, behind = before.strip("`json \n"), behind.strip("` \n")
    if before:
        notes.add("text-around", f"{len(before)} characters before the document are skipped")
    if behind[:1] in ("{", "["):
        notes.add("second-document", "another document follows the first; only the first is read")
    elif behind:
        notes.add("text-around", f"{len(behind)} characters behind the document are skipped")
    return value


def _first_bracket(text: str) -> int:
    places = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    if not places:
        message = "no document"
        raise ValueError(message)
    return min(places)


def _early_end(text: str, notes: Notebook, reader: _Reader) -> JsonValue:
    closed = close_early_end(text)
    if closed is None:
        message = "no early end"
        raise ValueError(message)
    value = reader.read(closed, strict=False)
    if not value:
        message = "nothing whole before the end"
        raise ValueError(message)
    notes.add(
        "truncated",
        f"the file ends too early; what is whole up to line {closed.count(chr(10)) + 1} is kept",
    )
    return value


def _plain_slips(text: str, notes: Notebook, reader: _Reader) -> JsonValue:
    start = _first_bracket(text)
    mended, slips = mend_slips(text[start:])
    value, end = reader.first_document(mended, 0)
    if start and text[:start].strip():
        notes.add("text-around", f"{start} characters before the document are skipped")
    for code, count in slips.items():
        notes.add(code, _SLIP_MESSAGES[code], count=count)
    if mended[end:].strip("` \n\r\t"):
        notes.add("text-around", f"{len(mended) - end} characters behind the document are skipped")
    return value


def _members(text: str, notes: Notebook, reader: _Reader) -> JsonValue:
    mended, slips = mend_members(text)
    if not slips:
        message = "no member to mend"
        raise ValueError(message)
    value = reader.read(mended, strict=False)
    for code, count in slips.items():
        notes.add(code, _SLIP_MESSAGES[code], count=count)
    return value


_SLIP_MESSAGES = {
    "lost-quotes": "a text has lost a quote or holds bare ones; its line is quoted anew",
    "number-form": "a number is written as JSON does not know it; it is read as meant",
    "comments": "comments are skipped",
    "trailing-comma": "a comma too much is skipped",
    "single-quotes": "texts in single quotes are read as texts",
    "curly-quotes": "texts in typographic quotes are read as texts",
    "foreign-words": "words of another language (True, None, undefined) are read as JSON's",
}


def _by_library(text: str, notes: Notebook, reader: _Reader, first: ValueError | None) -> JsonValue:
    if not text.lstrip().startswith(("{", "[", '"', "'", "`", "/", "#")) and "{" not in text:
        raise UnreadableInput(_no_json(text)) from None
    value = repair_with_library(text)
    reader.is_guess = True
    if (
        not (isinstance(value, dict) or (isinstance(value, list) and _has_object(value)))
        or not value
    ):
        where = _place(first)
        message = f"the file is no JSON{where} and cannot be repaired; ask for an undamaged copy"
        raise UnreadableInput(message) from None
    notes.add(
        "json-repaired",
        f"the file is damaged JSON{_place(first)}; it was repaired by guess, and what stood at the "
        "damaged places may differ",
    )
    return value


def _has_object(value: list[JsonValue]) -> bool:
    return any(isinstance(item, dict) for item in value)


def _place(error: ValueError | None) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f" (line {error.lineno}, column {error.colno})"
    return ""


def _no_json(text: str) -> str:
    head = " ".join(text[:60].split())
    return f"the file is no JSON: it starts with {shown(head)}; give the preset's JSON file"


def _refuse_foreign_text(text: str) -> None:
    head = text[:2000]
    if head.startswith("version https://git-lfs"):
        message = (
            "this is a git-lfs pointer, not the file itself: fetch it with `git lfs pull` "
            "or download the raw file"
        )
        raise WrongKind(message, "git_lfs_pointer")
    if head.startswith("<") and _HTML.match(head):
        message = "this is an HTML or XML page, not a preset: download the raw JSON file, not the page around it"
        raise WrongKind(message, "html")
    marks = [found.group()[:7] for found in _CONFLICT.finditer(text)] if "<<<<<<<" in text else []
    if {"<<<<<<<", ">>>>>>>"} <= set(marks):
        message = (
            "the file holds merge-conflict markers (<<<<<<<): choose one side in an editor, "
            "then import it again"
        )
        raise WrongKind(message, "merge_conflict")


def _decode_twice(value: str, notes: Notebook, reader: _Reader) -> JsonValue:
    """A document that is JSON text inside a JSON text, even more than once."""
    inner: JsonValue = value
    for _ in range(3):
        if not isinstance(inner, str) or not inner.lstrip().startswith(("{", "[", '"')):
            break
        try:
            inner = reader.read(inner, strict=False)
        except ValueError:
            return value
    check_depth(inner)
    if inner is not value:
        notes.add(
            "double-encoded",
            "the document is encoded twice (JSON inside a text); it is decoded as often",
        )
    return inner


def _mended(value: JsonValue, text: str, notes: Notebook, reader: _Reader) -> JsonValue:
    if reader.twice:
        keys = ", ".join(shown(key, 20) for key in dict.fromkeys(reader.twice))
        notes.add(
            "duplicate-key",
            f"keys stand twice in one object ({keys[:80]}); the last one counts",
            count=len(reader.twice),
        )
    if reader.constants:
        words = ", ".join(sorted(set(reader.constants)))
        notes.add(
            "not-a-number",
            f"{words} is no JSON number; it is read as null",
            count=len(reader.constants),
        )
    if reader.is_guess or _may_hold_bad_characters(text):
        value, texts, _ = mend(value)
        if texts:
            notes.add(
                "bad-characters", f"NUL or half surrogates in {texts} texts are replaced by U+FFFD"
            )
    return value


def _may_hold_bad_characters(text: str) -> bool:
    """Whether a text holds NUL or an escape of half a surrogate pair; a backslash before may mislead."""
    return "\0" in text or ("\\u" in text and _ESCAPED_BAD.search(text) is not None)
