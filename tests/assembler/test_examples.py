"""Dialogue examples: blocks, speakers, parts."""

from __future__ import annotations

import pytest

from preset_engine.assembler.examples import parse_examples, split_blocks
from tests import truth


def parts(text, user="Noa", char="Mira"):
    return [
        [(part.speaker, part.text) for part in block] for block in parse_examples(text, user, char)
    ]


def test_every_pair_of_a_block_survives():
    text = "<START>\nNoa: a\nMira: b\nNoa: c\nMira: d"
    assert parts(text) == [[("user", "a"), ("char", "b"), ("user", "c"), ("char", "d")]]


def test_blocks_part_at_start_in_any_case_and_what_stands_before_counts_as_a_block():
    assert parts("Noa: a\n<start>Mira: b") == [[("user", "a")], [("char", "b")]]


def test_two_lines_of_one_speaker_stay_one_part_and_keep_the_second_name():
    assert parts("<START>\nMira: a\nMira: b") == [[("char", "a\nMira: b")]]


def test_lines_before_the_first_speaker_belong_to_the_first_part():
    assert parts("<START>\nIt rains.\nNoa: a") == [[("user", "It rains.\n a")]]


def test_a_block_without_a_speaker_has_no_part():
    assert parts("<START>\njust text") == [[]]


@pytest.mark.parametrize("text", ["", "<START>"])
def test_an_empty_text_has_no_blocks(text):
    assert split_blocks(text) == []


@truth.cases("parse-examples")
def test_reported_examples(row):
    macros = row["input"]["macros"]
    text = row["input"]["text"]
    for name, value in macros.items():
        text = text.replace("{{" + name + "}}", value)
    found = [
        [list(part) for part in block] for block in parts(text, macros["user"], macros["char"])
    ]
    assert found == row["expected"]["blocks"]
