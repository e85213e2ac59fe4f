"""Characters that neither UTF-8 nor a database takes."""

import pytest

from preset_engine.characters import JS_SPACE, clean_text, join_surrogates, printable


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain", "plain"),
        ("a\x00b", "a\ufffdb"),
        ("é\x00", "é\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ud83d\ude00\ude00", "\ufffd\U0001f600\ufffd"),
        ("\ud83dx", "\ufffdx"),
    ],
)
def test_pairs_are_joined_and_what_cannot_be_written_is_replaced(text, clean):
    assert clean_text(text) == clean
    assert clean_text(clean) == clean
    clean.encode("utf-8")


def test_a_clean_text_is_given_back_itself():
    for text in ("plain", "é 山水 \U0001f600"):
        assert clean_text(text) is text
        assert join_surrogates(text) is text


def test_nul_stays_where_only_pairs_are_joined():
    assert join_surrogates("\x00\ud83d\ude00") == "\x00\U0001f600"


def test_white_space_is_javascripts():
    assert len(JS_SPACE) == len(set(JS_SPACE)) == 25
    assert "\ufeff" in JS_SPACE
    assert not set("\x1c\x1d\x1e\x1f\x85\u200b") & set(JS_SPACE)


def test_what_has_no_shape_is_shown_by_a_sign():
    assert printable("a\x1b[31m\nb\u202e\ud83d") == "a\ufffd[31m\ufffdb\ufffd\ufffd"
    assert printable("é 山水 \U0001f600") == "é 山水 \U0001f600"
