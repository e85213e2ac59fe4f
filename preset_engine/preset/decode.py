"""Bytes to text: which encoding a file has, and what of it is no text at all.

Nearly every preset is UTF-8. The others were saved by an old editor or passed through a legacy code page:
UTF-16 with or without a mark, GBK, cp1252, or UTF-8 with a few cp1252 bytes in it. The encoding is told from
the bytes alone, in linear time.
"""

from __future__ import annotations

import codecs
import re

from preset_engine.characters import REPLACEMENT, join_surrogates
from preset_engine.errors import InputTooLarge, UnreadableInput, WrongKind
from preset_engine.preset.notebook import Notebook

MAX_BYTES = 10_000_000
"""Largest file that is read; the largest real preset has 1.9 MB."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARIES = (
    (b"PK\x03\x04", "archive", "a zip archive", "unpack it and import the preset inside"),
    (b"PK\x05\x06", "archive", "a zip archive without files", "ask for the file again"),
    (b"\x1f\x8b", "archive", "a gzip archive", "unpack it and import the preset inside"),
    (b"BZh", "archive", "a bzip2 archive", "unpack it and import the preset inside"),
    (b"\xfd7zXZ\0", "archive", "an xz archive", "unpack it and import the preset inside"),
    (b"7z\xbc\xaf\x27\x1c", "archive", "a 7-Zip archive", "unpack it and import the preset inside"),
    (b"Rar!\x1a\x07", "archive", "a RAR archive", "unpack it and import the preset inside"),
    (b"(\xb5/\xfd", "archive", "a zstandard archive", "unpack it and import the preset inside"),
    (b"\xff\xd8\xff", "image", "a JPEG image", "import the preset's JSON file instead"),
    (b"GIF8", "image", "a GIF image", "import the preset's JSON file instead"),
    (b"%PDF-", "document", "a PDF document", "import the preset's JSON file instead"),
    (
        b"SQLite format 3\0",
        "database",
        "an SQLite database",
        "import the preset's JSON file instead",
    ),
)
_PNG = b"\x89PNG\r\n\x1a\n"
_STRAY = re.compile("[\udc80-\udcff]")
_WIDE = re.compile("[^\x00-\x7f]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")


def decode(data: bytes, notes: Notebook) -> str:
    """The text of a file.

    Args:
        data: the whole file.
        notes: gets `byte-order-mark`, `padding` and `text-encoding`.

    Raises:
        InputTooLarge: over `MAX_BYTES`.
        WrongKind: an image, an archive or another binary format, by its signature.
        UnreadableInput: empty, or bytes that are no text.
    """
    check_size(len(data))
    _refuse_binary(data)
    text = _text_of(data, notes)
    return clean_text(text, notes)


def check_size(size: int) -> None:
    """Raise `InputTooLarge` for more than `MAX_BYTES` bytes or characters."""
    if size > MAX_BYTES:
        message = (
            f"the file has {size:,} bytes; presets are read up to {MAX_BYTES:,}. "
            "Check that it is a preset"
        )
        raise InputTooLarge(message)


def clean_text(text: str, notes: Notebook) -> str:
    """The text without a mark and padding around it."""
    if text.startswith("\ufeff"):
        notes.add("byte-order-mark", "the file starts with a byte-order mark; it is skipped")
    if not text.isascii():
        text = _without_half_surrogates(text, notes)
    padded = text.strip("\ufeff\0 \t\r\n")
    if not padded:
        message = "the file is empty; ask for it again"
        raise UnreadableInput(message)
    if "\0" in text[:1] or text.endswith("\0"):
        notes.add("padding", "the file is padded with NUL characters; they are skipped")
    return padded


def _refuse_binary(data: bytes) -> None:
    if data.startswith(_PNG):
        if b"chara\0" in data or b"ccv3\0" in data:
            message = (
                "this is a character card (PNG), not a preset: give it as the card (--card), "
                "and import a chat-completion preset"
            )
            raise WrongKind(message, "character_card")
        message = "this is a PNG image without a card: import the preset's JSON file instead"
        raise WrongKind(message, "image")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        message = "this is a WebP image, not a preset: import the preset's JSON file instead"
        raise WrongKind(message, "image")
    for signature, kind, what, advice in _BINARIES:
        if data.startswith(signature):
            message = f"this is {what}, not a preset: {advice}"
            raise WrongKind(message, kind)


def _text_of(data: bytes, notes: Notebook) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _marked(data, mark, encoding, notes)
    wide = _wide_encoding(data)
    if wide is not None:
        notes.add("text-encoding", f"the file is {wide.upper()} without a mark; it is read as that")
        return _strictly(data, wide)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _legacy(data, notes)


def _marked(data: bytes, mark: bytes, encoding: str, notes: Notebook) -> str:
    if encoding == "utf-8":
        notes.add("byte-order-mark", "the file starts with a byte-order mark; it is skipped")
        body = data[len(mark) :]
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            return _legacy(body, notes)
    notes.add("text-encoding", f"the file is {encoding.upper()}; it is read as that")
    return _strictly(data[len(mark) :], encoding)


def _strictly(data: bytes, encoding: str) -> str:
    width = 4 if "32" in encoding else 2
    try:
        return data[: len(data) // width * width].decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        message = (
            f"the file claims to be {encoding.upper()} but is not; save it as UTF-8 and try again"
        )
        raise UnreadableInput(message) from None


def _without_half_surrogates(text: str, notes: Notebook) -> str:
    joined = join_surrogates(text)
    count = joined.count(REPLACEMENT) - text.count(REPLACEMENT)
    if count:
        notes.add("bad-characters", f"{count} half surrogates are replaced by U+FFFD", count=count)
    return joined


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark: mostly ASCII, so every other byte of the head is zero."""
    head = data[:2000]
    if len(head) < 8:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd > half * 0.4 and even < half * 0.05:
        return "utf-16-le"
    if even > half * 0.4 and odd < half * 0.05:
        return "utf-16-be"
    return None


def _legacy(data: bytes, notes: Notebook) -> str:
    """Text that is no UTF-8: a few stray bytes in UTF-8, GBK, or a Western code page."""
    mixed = data.decode("utf-8", "surrogateescape")
    strays = len(_STRAY.findall(mixed))
    sound = len(_WIDE.findall(mixed)) - strays
    runs = _HIGH_RUN.findall(data)
    lonely = sum(len(run) == 1 for run in runs)
    if sound < strays and lonely * 2 < len(runs):
        try:
            text = data.decode("gb18030")
        except UnicodeDecodeError:
            pass
        else:
            notes.add("text-encoding", "the file is GBK (a Chinese code page); it is read as that")
            return text
    if strays * 4 > len(data):
        message = "the bytes are no text in UTF-8, UTF-16, GBK or cp1252; save the file as UTF-8"
        raise UnreadableInput(message)
    notes.add(
        "text-encoding",
        f"{strays} bytes are no UTF-8; they are read as cp1252 (a Western code page)",
    )
    return mixed.translate(_WESTERN)


def _western(byte: int) -> str:
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


_WESTERN = {0xDC00 + byte: _western(byte) for byte in range(0x80, 0x100)}
"""An undecoded byte, as surrogateescape leaves it, to its cp1252 character."""
