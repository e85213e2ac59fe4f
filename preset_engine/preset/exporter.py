"""Writes a preset back: lossless in its own form, converted into the other one with notes on what stays behind.

In its own form the document comes back as it was read: an equal JSON value, unknown keys and key order kept
(`editing` changes the document together with the typed fields). For sharing, every private key is removed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from preset_engine.errors import Note
from preset_engine.json_values import as_object
from preset_engine.messages import JsonObject
from preset_engine.preset.model import Preset, PresetSource
from preset_engine.preset.notebook import Notebook
from preset_engine.preset.secrets import without_secrets
from preset_engine.preset.to_native import to_native
from preset_engine.preset.to_sillytavern import to_sillytavern
from preset_engine.preset.values import fresh_json


@dataclass(frozen=True, slots=True)
class Exported:
    """A document ready to be written, and what could not cross into its form."""

    document: JsonObject
    notes: tuple[Note, ...] = ()

    def to_text(self) -> str:
        """The document as a file: four spaces, as SillyTavern writes it, and every script readable."""
        return json.dumps(self.document, ensure_ascii=False, indent=4) + "\n"


def export_preset(
    preset: Preset, to: PresetSource | str | None = None, *, share: bool = False
) -> Exported:
    """The document of a preset.

    Args:
        preset: the preset.
        to: `native` or `sillytavern`; its own form when None.
        share: leave out every key that holds private addresses, headers or passwords.

    Returns:
        The document, a copy that may be changed, and notes of the conversion.
    """
    target = preset.source if to is None else PresetSource(to)
    notes = Notebook()
    if target is preset.source:
        document = as_object(fresh_json(dict(preset.raw)))
    elif target is PresetSource.NATIVE:
        document = to_native(preset, notes)
    else:
        document = to_sillytavern(preset, notes)
    return Exported(without_secrets(document) if share else document, notes.to_notes())
