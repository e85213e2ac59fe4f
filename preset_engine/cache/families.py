"""Which log files a big engine may read itself: those whose lines all have one of two plain forms.

Told by the lines at the start of the file. Our own line is one form; the other is a flat line with a session and
a usage object in the shape of OpenAI, OpenRouter, DeepSeek, Anthropic or Gemini.
"""

from __future__ import annotations

import json
from pathlib import Path

from preset_engine.errors import MissingExtra, UnreadableInput
from preset_engine.log.sources import compression, open_log

_SAMPLE = 64 * 1024
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")  # byte-order marks


def family_of(path: Path, *, has_zstd: bool) -> str | None:
    """The family whose fields an engine may read itself: every line of the file's start has its form.

    None too for a file whose name an engine would take for a pattern or for another compression than it has,
    and for one that begins with a byte-order mark.
    """
    try:
        kind = compression(path)
        with open_log(path) as file:
            start = file.read(_SAMPLE)
    except (OSError, EOFError, UnreadableInput, MissingExtra):
        return None
    if not _is_plain_name(path, kind, has_zstd=has_zstd) or start.startswith(_MARKS):
        return None
    lines = start.split(b"\n")
    complete = lines[:-1] if len(start) == _SAMPLE else lines
    families = {_family_of_line(line) for line in complete[:200] if line.strip()}
    families.discard("broken")
    return families.pop() if len(families) == 1 else None


def _is_plain_name(path: Path, kind: str, *, has_zstd: bool) -> bool:
    """Engines expand patterns in names, and tell the compression by the ending alone."""
    if any(character in "*?[]{}\\" for character in str(path.absolute())):
        return False
    ending = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix.lower(), "none")
    return kind == ending and (kind != "zstd" or has_zstd)


def _family_of_line(line: bytes) -> str | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return "broken"
    if not isinstance(value, dict):
        return None
    schema = value.get("schema")
    if isinstance(schema, str) and schema.startswith("preset-engine."):
        return "preset-engine"
    is_plain = "session_id" in value and "usage" in value and "response" not in value
    usage, preset = value.get("usage"), value.get("preset")
    if not is_plain or not (usage is None or isinstance(usage, dict)):
        return None
    if not (preset is None or isinstance(preset, dict)) or not isinstance(
        value.get("status", 0), int
    ):
        return None
    return "usage-line" if set(usage or ()) <= _PLAIN_USAGE and "ts" in value else None


_PLAIN_USAGE = frozenset(
    {
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "prompt_cache_hit_tokens",
        "prompt_cache_miss_tokens",
        "prompt_tokens_details",
        "completion_tokens_details",
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "cache_creation",
        "input_tokens_details",
        "output_tokens_details",
        "service_tier",
        "promptTokenCount",
        "cachedContentTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
        "totalTokenCount",
        "cost",
    }
)
