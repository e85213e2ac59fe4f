"""A character card out of a PNG picture: SillyTavern keeps it as base64 text in a chunk named `ccv3` or `chara`.

Only the chunk list is walked and only those two texts are looked at; the picture is never decoded and nothing
is unpacked, so a hostile file costs no more than its own size.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator

from preset_engine.errors import UnreadableInput, WrongKind
from preset_engine.messages import JsonObject

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_NAMES = ("ccv3", "chara")  # SillyTavern prefers the newer one


def read_png_card(data: bytes) -> JsonObject:
    """The card's JSON.

    Args:
        data: the whole file.

    Raises:
        WrongKind: a picture without a card.
        UnreadableInput: no PNG, or its card is damaged.
    """
    if not data.startswith(SIGNATURE):
        raise UnreadableInput("this is no PNG picture; give the card as PNG or JSON")
    texts = dict(_texts(data))
    text = next((texts[name] for name in _NAMES if name in texts), None)
    if text is None:
        message = "this PNG picture holds no character card: export the card from SillyTavern again"
        raise WrongKind(message, "image")
    try:
        card = json.loads(base64.b64decode(text).decode("utf-8-sig"), strict=False)
    except (binascii.Error, ValueError, RecursionError):
        card = None
    if not isinstance(card, dict):
        message = "the character card in this PNG picture is damaged: export it as JSON"
        raise UnreadableInput(message)
    return card


def _texts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Names (in lower case) and texts of the text chunks; a chunk that is cut off ends the walk."""
    at = len(SIGNATURE)
    while at + 8 <= len(data):
        size, sort = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        if sort == b"IEND" or len(body) < size:
            return
        if sort == b"tEXt":
            name, _, text = body.partition(b"\0")
            yield name.decode("latin-1").lower(), text
        at += 12 + size  # size, sort, body and check sum
