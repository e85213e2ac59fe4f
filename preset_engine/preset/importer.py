"""`load_preset`: any preset file in, a preset and what there is to say about it out.

The steps, each a module of its own: bytes to text (`decode`), text to JSON (`parse`), which kind of file
(`kinds`), which form (`forms`, `native`), fields (`entries`, `orders`, `generation`, `assembly_settings`), then a
look over the whole (`review`, `census`). It takes what real files contain and never dies of one bad entry; every
repair, drop and unsupported part is a note.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from preset_engine.errors import Note, UnreadableInput
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.assembly_settings import NAMES as SETTING_NAMES
from preset_engine.preset.assembly_settings import read_settings
from preset_engine.preset.census import count_macros
from preset_engine.preset.decode import MAX_BYTES, check_size, clean_text, decode
from preset_engine.preset.diagnostics import Diagnostics, enabled_entries, summary
from preset_engine.preset.forms import read_body
from preset_engine.preset.generation import read_generation
from preset_engine.preset.kinds import Form, tell_form, unwrap
from preset_engine.preset.macro_review import review_macros, review_variables
from preset_engine.preset.model import Preset, PresetSource, PromptEntry, PromptOrder, Unsupported
from preset_engine.preset.native import read_native
from preset_engine.preset.notebook import Notebook
from preset_engine.preset.orders import chosen_order
from preset_engine.preset.parse import parse
from preset_engine.preset.review import review_document, review_entries, review_order
from preset_engine.preset.scripts import find_scripts
from preset_engine.preset.values import check_depth, copy_json, mend
from preset_engine.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Imported:
    """A preset that was taken, and what there is to say about it.

    Attributes:
        preset: the preset.
        notes: what was repaired, dropped or odd, weightiest first, one note a code.
        diagnostics: the macro census and the chosen order.
    """

    preset: Preset
    notes: tuple[Note, ...]
    diagnostics: Diagnostics

    def to_report(self, counter: TokenCounter | None = None) -> JsonObject:
        """The report as JSON; equal files give equal reports.

        Args:
            counter: counts the tokens of all and of enabled entries; without one they are left out.
        """
        return {
            "kind": self.diagnostics.form,
            "preset": summary(self.preset, self.diagnostics, counter),
            "notes": [dict(note.to_json()) for note in self.notes],
            "diagnostics": {"macros": [use.to_json() for use in self.diagnostics.macros]},
        }


def load_preset(source: str | bytes | Path | Mapping[str, object], *, name: str = "") -> Imported:
    """Load a preset of any form.

    Args:
        source: a path (a `Path`, or a text that does not look like JSON), the file's bytes or text, or the
            parsed document; a document that is handed in is copied.
        name: what to call a preset that has no name of its own; the file's name for a path.

    Returns:
        The preset with notes and diagnostics.

    Raises:
        WrongKind: a file of another kind; its message says which and what to do.
        UnreadableInput: no text, no JSON, or damaged beyond repair.
        InputTooLarge: over the limits of size, depth or number of entries.
    """
    notes = Notebook()
    if isinstance(source, str) and not _is_document(source):
        source = Path(source)
    if isinstance(source, Path):
        name = name or source.stem
        source = _read(source)
    if isinstance(source, bytes):
        value = parse(decode(source, notes), notes)
    elif isinstance(source, str):
        check_size(len(source))
        value = parse(clean_text(source, notes), notes)
    else:
        value = _handed_in(source, notes)
    return _import(value, name, notes)


def _is_document(text: str) -> bool:
    """Whether a text is a document rather than a path: it has a line break, a bracket, or is very long."""
    head = text.lstrip("\ufeff\0 \t\r\n")
    return (
        len(text) > 1000 or "\n" in text or head.startswith(("{", "[", "<", '"', "`")) or not head
    )


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # a device tells no size and may have no end
            if len(data) > MAX_BYTES:
                check_size(max(len(data), path.stat().st_size))
            return data
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"{str(path)!r} cannot be read: {reason}; check the path"
        raise UnreadableInput(message) from None
    except ValueError:
        message = f"{str(path)[:80]!r} is no path; check it"
        raise UnreadableInput(message) from None


def _handed_in(source: object, notes: Notebook) -> JsonValue:
    copied = copy_json(source)
    check_depth(copied)
    value, texts, numbers = mend(copied)
    if texts:
        notes.add(
            "bad-characters", f"NUL or half surrogates in {texts} texts are replaced by U+FFFD"
        )
    if numbers:
        notes.add("not-a-number", "a number beyond every range is read as null", count=numbers)
    return value


def _import(value: JsonValue, name: str, notes: Notebook) -> Imported:
    inner, path = value, "$"
    if not (
        isinstance(value, dict) and "version" in value
    ):  # an export of the prompt manager has `data` too
        inner, path = unwrap(value)
    if path != "$":
        notes.add("wrapped", "the preset stands inside another document; it is taken out", path)
    value = inner
    form = tell_form(value)
    if form is Form.NATIVE and isinstance(value, dict):
        preset = read_native(value, "", name, notes)
        preset = _named(preset, preset.id, preset.name or name)
    else:
        preset = _sillytavern(value, form, name, notes)
    order = chosen_order(preset)
    review_entries(preset.prompts, notes)
    review_order(preset.prompts, preset.orders, order, preset.source, notes)
    review_document(preset.raw, notes)
    macros = count_macros(_texts(preset), notes)
    review_macros(_texts(preset), notes)
    review_variables(
        ((f"{entry.place}.content", entry.content) for entry in enabled_entries(preset)), notes
    )
    found = Diagnostics(form.value, macros, order, _missing(preset, order))
    return Imported(preset, notes.to_notes(), found)


def _sillytavern(value: JsonValue, form: Form, name: str, notes: Notebook) -> Preset:
    body = read_body(value, form, notes)
    document = body.document
    own = document.get("name") or document.get("preset_name")
    preset = Preset(
        id="",
        name=(own if isinstance(own, str) else "") or body.name or name,
        source=PresetSource.SILLYTAVERN,
        prompts=body.prompts,
        orders=body.orders,
        settings=read_settings(document, notes),
        generation=read_generation(document, notes),
        regex_scripts=find_scripts(document, body.prompts, notes),
        unsupported=_unsupported(document, notes),
        raw=document,
    )
    return _named(preset, "", preset.name)


def _named(preset: Preset, identity: str, name: str) -> Preset:
    return replace(preset, id=identity or make_id(name, preset.prompts), name=name or "preset")


_NO_SLUG = re.compile(r"[^a-z0-9_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af-]+")


def make_slug(name: str) -> str:
    """The name in lower case, other characters than letters, digits and CJK as dashes, 48 long at most."""
    return _NO_SLUG.sub("-", name.strip().lower()).strip("-")[:48].strip("-")


def make_id(name: str, prompts: tuple[PromptEntry, ...]) -> str:
    """The slug of the name and a tail that depends on the entries only, so that equal files get equal ids."""
    digest = hashlib.blake2b(digest_size=4)
    for entry in prompts:
        digest.update(
            f"{entry.identifier}\0{entry.role}\0{entry.content}\0".encode("utf-8", "replace")
        )
    return f"{make_slug(name) or 'preset'}-{digest.hexdigest()}"


def _unsupported(document: JsonObject, notes: Notebook) -> tuple[Unsupported, ...]:
    parts = []
    if document.get("regex_scripts"):
        parts.append(
            Unsupported("regex_scripts", "kept; SillyTavern reads scripts from extensions only")
        )
    extensions = document.get("extensions")
    if isinstance(extensions, dict) and extensions:
        others = [key for key in extensions if key != "regex_scripts"]
        names = ", ".join(repr(key[:30]) for key in others[:5])
        if others:
            notes.add(
                "extensions-not-run",
                f"parts of extensions are kept and not executed ({names})",
                "$.extensions",
                len(others),
            )
        parts.append(
            Unsupported("extensions", f"kept, not executed{f': {names}' if names else ''}")
        )
    return tuple(parts)


def _texts(preset: Preset) -> Iterator[tuple[str, str]]:
    for entry in preset.prompts:
        if entry.content:
            yield f"{entry.place}.content" if entry.saved else entry.place, entry.content
    for key in SETTING_NAMES:
        text = preset.raw.get(key)
        if isinstance(text, str) and text:
            yield f"$.{key}", text


def _missing(preset: Preset, order: PromptOrder) -> tuple[str, ...]:
    known = {entry.identifier for entry in preset.prompts}
    return tuple(
        dict.fromkeys(item.identifier for item in order.items if item.identifier not in known)
    )
