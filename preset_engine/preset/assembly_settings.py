"""Reads the settings of a SillyTavern document that shape the messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from preset_engine.messages import JsonValue
from preset_engine.preset.meanings import read_flag
from preset_engine.preset.model import AssemblySettings
from preset_engine.preset.notebook import Notebook, shown

NAMES: tuple[str, ...] = tuple(field.name for field in fields(AssemblySettings))
"""SillyTavern's keys that are settings of the assembly."""

OLD_NAMES = {"claude_use_sysprompt": "use_sysprompt", "image_inlining": "media_inlining"}
"""Older keys of settings that were renamed."""

_DEFAULTS = AssemblySettings()


def read_settings(document: Mapping[str, JsonValue], notes: Notebook) -> AssemblySettings:
    """The settings; a missing key keeps SillyTavern's default, a wrong type too, with a note.

    `names_in_completion: true` means `names_behavior` 1, and the post-processing "claude" means "merge", as in
    SillyTavern's own migration.
    """
    values: dict[str, str | int | bool] = {}
    for key in NAMES:
        if key in document:
            _take(key, document[key], f"$.{key}", values, notes)
    for old, key in OLD_NAMES.items():
        if old in document and key not in values:
            _take(key, document[old], f"$.{old}", values, notes)
    if document.get("names_in_completion") is True and "names_behavior" not in document:
        values["names_behavior"] = 1
    if values.get("custom_prompt_post_processing") == "claude":
        values["custom_prompt_post_processing"] = "merge"
    _note_oddities(document, values, notes)
    return AssemblySettings(**values)  # type: ignore[arg-type]  # _take keeps each default's type


def _take(
    key: str, value: JsonValue, path: str, values: dict[str, str | int | bool], notes: Notebook
) -> None:
    default = getattr(_DEFAULTS, key)
    if isinstance(default, bool):
        if isinstance(value, bool):
            values[key] = value
        else:
            values[key] = read_flag(value, default=default)
            notes.add(
                "setting-odd",
                f"{key} is {shown(value)}; it is read as {str(values[key]).lower()}",
                path,
            )
    elif isinstance(default, int):
        _take_number(key, value, path, values, notes)
    elif isinstance(value, str):
        values[key] = value
    else:
        what = "null" if value is None else "no text"
        notes.add("setting-odd", f"{key} is {what}; SillyTavern's default is used", path)


def _take_number(
    key: str, value: JsonValue, path: str, values: dict[str, str | int | bool], notes: Notebook
) -> None:
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        values[key] = int(value[:9])
        notes.add(
            "setting-odd", f"{key} is the text {shown(value)}; it is read as {values[key]}", path
        )
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value):
        values[key] = int(value)
    else:
        notes.add("setting-odd", f"{key} is {shown(value)}; SillyTavern's default is used", path)


def _note_oddities(
    document: Mapping[str, JsonValue], values: Mapping[str, str | int | bool], notes: Notebook
) -> None:
    template = values.get("wi_format", "{0}")
    if isinstance(template, str) and template.strip() and "{0}" not in template:
        notes.add(
            "wi-format-without-place",
            "wi_format has no {0}, so world-book texts that wake are replaced by the format alone",
            "$.wi_format",
        )
    if "chat_completion_source" not in document:
        notes.add(
            "source-missing",
            "the file names no chat_completion_source; newer SillyTavern leaves it out",
        )
