"""Usage objects in console output: JavaScript's notation of objects, as Node prints them.

SillyTavern's console shows what a provider answered as `{ prompt_tokens: 6123, … }`, over one line or many, with
bare keys and single quotes. Times come from a stamp in brackets in a line before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from preset_engine.log.call import Call, Reading, Skip, SkipKind
from preset_engine.log.readers import bodies
from preset_engine.log.readers.memory import Memory
from preset_engine.log.times import read_time

_STAMP = re.compile(r"\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)\]?")
_TOKENS = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
    r"""|(?P<placeholder>\[(?:Object|Array|Function|Getter)[^\]]{0,200}\]|<ref \*\d+>|undefined|NaN|-?Infinity)"""
    r"""|(?P<key>[A-Za-z_$][\w$]*)(?=\s*:)"""
    r"""|(?P<word>[A-Za-z_$][\w$]*)"""
    r"""|(?P<comma>,(?=\s*[}\]]))"""
)
_LONGEST = 1_000_000


def read_text(text: str) -> Iterator[Reading]:
    """Every usage object in a console text."""
    at_ms: int | None = None
    block: list[str] = []
    depth = size = 0
    for line in text.splitlines():
        if len(line) > _LONGEST:
            continue
        if not depth:
            stamp = _STAMP.search(line)
            at_ms = read_time(stamp.group(1)) if stamp else at_ms
            start = line.find("{")
            if start < 0:
                continue
            block.append(line[start:])
        else:
            block.append(line)
        depth += _balance(block[-1])
        size += len(block[-1])
        if depth <= 0 or size > _LONGEST:
            yield from _read_block("\n".join(block), at_ms)
            block, depth, size = [], 0, 0
    if block:
        yield Skip(SkipKind.UNREADABLE, "an object that does not end")


def parse_object(text: str) -> object:
    """The value of an object in JavaScript's notation; raises ValueError where it is none."""
    return json.loads(_TOKENS.sub(_as_json, text), strict=False)


def _read_block(text: str, at_ms: int | None) -> Iterator[Reading]:
    try:
        value = parse_object(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(value, dict):
        return
    wrapped = value if "usage" in value else {"usage": value}
    for reading in bodies.read(wrapped, Memory()) or []:
        if isinstance(reading, Call):
            stamped = reading.at_ms if reading.at_ms is not None else at_ms
            yield replace(reading, shape="console", at_ms=stamped)


def _balance(line: str) -> int:
    bare = _TOKENS.sub(lambda found: "" if found.group("string") else found.group(), line)
    return bare.count("{") - bare.count("}")


def _as_json(found: re.Match[str]) -> str:
    kind, text = found.lastgroup, found.group()
    if kind == "string":
        return text if text[0] == '"' else json.dumps(text[1:-1].replace("\\'", "'"))
    if kind == "key":
        return json.dumps(text)
    if kind == "word":
        return text if text in ("true", "false", "null") else json.dumps(text)
    return "" if kind == "comma" else "null"
