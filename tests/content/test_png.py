import base64
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.content.png import SIGNATURE, read_png_card
from preset_engine.errors import InputRefused, UnreadableInput, WrongKind

CARD = {"spec": "chara_card_v2", "data": {"name": "Ada", "description": "Keeps the light. 守塔"}}


def chunk(sort, body):
    return len(body).to_bytes(4, "big") + sort + body + b"\0\0\0\0"


def text_chunk(name, value):
    return chunk(b"tEXt", name.encode() + b"\0" + base64.b64encode(json.dumps(value).encode()))


def picture(*chunks):
    head = chunk(b"IHDR", b"\0" * 13)
    return SIGNATURE + head + b"".join(chunks) + chunk(b"IDAT", b"x") + chunk(b"IEND", b"")


def test_a_card_is_read_out_of_a_picture():
    assert read_png_card(picture(text_chunk("chara", CARD))) == CARD


def test_the_newer_of_two_cards_counts_wherever_it_stands():
    new = {"spec": "chara_card_v3", "data": {"name": "Ada"}}
    assert read_png_card(picture(text_chunk("chara", CARD), text_chunk("ccv3", new))) == new
    assert read_png_card(picture(text_chunk("ccv3", new), text_chunk("chara", CARD))) == new


def test_a_picture_without_a_card_is_named():
    with pytest.raises(WrongKind, match="holds no character card"):
        read_png_card(picture())


@pytest.mark.parametrize("text", [b"!", b"bm8=", base64.b64encode(b"[1]"), b""])
def test_a_damaged_card_is_refused(text):
    with pytest.raises(UnreadableInput, match="damaged"):
        read_png_card(picture(chunk(b"tEXt", b"chara\0" + text)))


@given(st.binary(max_size=200), st.integers(0, 400))
def test_no_bytes_raise_anything_but_a_refusal(junk, cut):
    whole = picture(text_chunk("chara", CARD), junk)[:cut]
    for data in (junk, SIGNATURE + junk, whole):
        with suppress(InputRefused):
            assert isinstance(read_png_card(data), dict)
