"""Finds the regex scripts of a preset in the places they live in.

SillyTavern keeps them in `extensions.regex_scripts`; the SPreset extension in
`extensions.SPreset.RegexBinding.regexes` and once more as JSON text in an entry called `SPresetSettings`; old
files at the top level. The same list often stands in two places: a script counts once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from preset_engine.errors import InputTooLarge
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.model import PromptEntry
from preset_engine.preset.notebook import Notebook
from preset_engine.preset.regex_check import is_valid_pattern
from preset_engine.preset.values import check_depth

SETTINGS_ENTRY = "SPresetSettings"
"""Identifier of the entry that holds an extension's configuration and is not meant for the model."""

MAX_SCRIPTS = 2_000


def find_scripts(
    document: JsonObject, prompts: tuple[PromptEntry, ...], notes: Notebook
) -> tuple[JsonObject, ...]:
    """The regex scripts, each once, as they stand in the file."""
    found: dict[str, JsonObject] = {}
    places: list[str] = []
    total = 0
    for path, value in _lists(document, prompts):
        scripts = _as_list(value, path, notes)
        if scripts:
            places.append(f"{len(scripts)} in {path}")
        for number, script in enumerate(scripts[:MAX_SCRIPTS]):
            total += 1
            key = json.dumps(script, sort_keys=True)
            if key not in found:
                found[key] = script
                _review(script, f"{path}[{number}]", notes)
    if found:
        doubles = f"; {total - len(found)} are doubles" if total > len(found) else ""
        notes.add(
            "regex-scripts",
            f"{len(found)} regex scripts are kept ({', '.join(places)}{doubles})",
            "",
        )
    return tuple(found.values())


def _lists(
    document: JsonObject, prompts: tuple[PromptEntry, ...]
) -> Iterator[tuple[str, JsonValue]]:
    yield "$.regex_scripts", document.get("regex_scripts")
    extensions = document.get("extensions")
    if isinstance(extensions, dict):
        yield "$.extensions.regex_scripts", extensions.get("regex_scripts")
        yield "$.extensions.SPreset.RegexBinding.regexes", _bound(extensions.get("SPreset"))
    for entry in prompts:
        if entry.identifier == SETTINGS_ENTRY and entry.content:
            yield f"{entry.place}.content", _bound(_settings(entry.content))


def _settings(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text, strict=False)
        check_depth(value)
    except (ValueError, RecursionError, InputTooLarge):
        return None
    return value


def _bound(settings: JsonValue) -> JsonValue:
    if not isinstance(settings, dict):
        return None
    binding = settings.get("RegexBinding")
    return binding.get("regexes") if isinstance(binding, dict) else None


def _as_list(value: JsonValue, path: str, notes: Notebook) -> list[JsonObject]:
    if isinstance(value, dict) and value:
        notes.add(
            "regex-not-list",
            "the regex scripts are an object, not a list; its values are taken",
            path,
        )
        value = list(value.values())
    if not isinstance(value, list):
        if value not in (None, {}, ""):
            notes.add("regex-not-list", "the regex scripts are no list; they are left out", path)
        return []
    found = [item for item in value if isinstance(item, dict)]
    if len(found) < len(value):
        notes.add("regex-not-list", "regex scripts that are no objects are left out", path)
    return found


def _review(script: JsonObject, path: str, notes: Notebook) -> None:
    pattern = script.get("findRegex")
    if not isinstance(pattern, str) or not pattern.strip():
        notes.add("regex-empty", "a regex script has no pattern and never matches", path)
        return
    if not (pattern.startswith("/") and pattern.rfind("/") > 0):
        notes.add(
            "regex-without-slashes",
            "a pattern stands without slashes; it is a regular expression without flags and replaces one match",
            path,
        )
    if not is_valid_pattern(pattern):
        notes.add(
            "regex-invalid",
            "a pattern is no regular expression of JavaScript; its script does nothing",
            path,
        )
    if "replaceString" not in script or "placement" not in script:
        notes.add(
            "regex-incomplete",
            "a regex script lacks replaceString or placement; it does nothing",
            path,
        )
