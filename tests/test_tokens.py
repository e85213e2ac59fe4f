"""Counting tokens: the estimate, the memo, and exact vocabularies without a network."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.tokens import Estimate, MemoCounter
from preset_engine.vocabulary import load_counter


def test_the_estimate_is_a_quarter_of_the_characters_rounded_up():
    assert [Estimate().count(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]


def test_the_wide_estimate_counts_a_chinese_character_as_a_token():
    assert Estimate(wide=True).count("灯塔 by night") == 2 + 3


def test_the_memo_counts_a_text_once():
    seen = []

    def count(text: str) -> int:
        seen.append(text)
        return len(text)

    counter = MemoCounter("letters", count)
    assert [counter.count(text) for text in ("abc", "abc", "", "d")] == [3, 3, 0, 1]
    assert seen == ["abc", "d"]


def test_the_memo_forgets_the_older_half_at_its_limit():
    counter = MemoCounter("letters", len, capacity=4)
    for text in ("a", "bb", "ccc", "dddd", "eeeee"):
        assert counter.count(text) == len(text)
    assert len(counter._known) <= 4


def test_o200k_counts_known_texts_exactly():
    counter, notes = load_counter("o200k_base")
    assert notes == ()
    assert counter.name == "o200k_base"
    assert counter.count("The lamp hums.") == 5
    assert counter.count("") == 0


def test_an_unknown_encoding_is_estimated_with_a_note():
    counter, notes = load_counter("no_such_encoding")
    assert counter.name == "estimate-wide"
    assert [note.code for note in notes] == ["tokens-estimated"]


def test_vocabularies_unpack_into_an_empty_cache_folder(tmp_path):
    code = "from preset_engine.vocabulary import load_counter; print(load_counter('cl100k_base')[0].count('one two three'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"TIKTOKEN_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": ""},
    )
    assert done.stdout.strip() == "3"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_damaged_cache_file_is_replaced(tmp_path):
    code = "from preset_engine.vocabulary import load_counter; print(load_counter('cl100k_base')[0].name)"
    env = {"TIKTOKEN_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": ""}
    subprocess.run([sys.executable, "-c", code], check=True, env=env, capture_output=True)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"damaged")
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, env=env, capture_output=True, text=True
    )
    assert done.stdout.strip() == "cl100k_base"


@given(st.text(max_size=200))
def test_counting_twice_gives_the_same(text):
    counter, _ = load_counter("o200k_base")
    assert counter.count(text) == counter.count(text) >= (1 if text else 0)
