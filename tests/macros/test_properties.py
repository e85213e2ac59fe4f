"""What holds for every text."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.errors import MacroError
from preset_engine.macros.engine import Engine
from preset_engine.macros.nodes import Call, Document
from preset_engine.macros.parser import parse
from preset_engine.macros.scanner import EOF, scan
from tests.macros.views import expander, legacy, native, new

FRAGMENTS = (
    "{{", "}}", "{", "}", "::", ":", " ", "\n", "user", "char", "setvar", "getvar", "addvar", "if", "else", "/if",
    "/setvar", "random", "pick", "roll", "reverse", "trim", "//", "/", "#", "!", ".", "$", "=", "+=", "++", "??", "||=",
    ">", "a", "b", "1d6", "2", "-", "\\", "|", ",", "文", "😀", "@user", "<USER>", "{{user}}", "{{/", "{{if 1}}",
    "{{setvar::a::", "{{getvar::a}}", "{{original}}", "space", "newline", "time", "description", "\u3000", "list",
)  # fmt: skip
macro_texts = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)


@given(st.text(alphabet=st.characters(exclude_characters="{}<\\@")))
def test_a_text_without_signs_comes_back_as_the_same_object(text: str) -> None:
    assert new(text) is text
    assert legacy(text) is text
    assert native(text) is text


@given(st.text(alphabet=st.characters(exclude_characters="<\x00")))
def test_an_escaped_text_prints_itself(text: str) -> None:
    escaped = text.replace("{", "\\{").replace("}", "\\}")
    if "\\{" not in text and "\\}" not in text:
        assert new(escaped) == text


@given(macro_texts)
def test_parsing_and_printing_is_the_identity(text: str) -> None:
    document = parse(text, 40)
    assert "".join(document.pieces()) == text
    assert all(left.end <= right.start for left, right in pairwise(document.nodes))


@given(macro_texts)
def test_arguments_are_slices_of_the_text(text: str) -> None:
    for node in parse(text, 40).nodes:
        if isinstance(node, Call):
            for argument in node.arguments:
                if argument.text:
                    assert text[argument.start : argument.end] == argument.text


@given(macro_texts)
def test_tokens_stand_in_order_and_end_with_the_text(text: str) -> None:
    tokens = scan(text, 40)
    assert all(left.end <= right.start for left, right in pairwise(tokens))
    assert (tokens[-1].kind, tokens[-1].start) == (EOF, len(text))


@given(macro_texts)
def test_a_part_of_a_clean_text_has_the_nodes_of_that_part(text: str) -> None:
    document = parse(text, 40)
    if not document.is_clean:
        return
    for node in document.nodes:
        part = document.cut(node.start, node.end, [node])
        assert part == Document(part.text, parse(part.text, 40).nodes)
        if isinstance(node, Call):
            for argument in node.arguments:
                inner = document.cut(argument.start, argument.end, argument.nodes or ())
                assert inner.nodes == parse(argument.text, 40).nodes


@given(macro_texts)
def test_expansion_is_repeatable(text: str) -> None:
    for engine in Engine:
        first, second = expander(engine), expander(engine)
        assert first.expand(text) == second.expand(text)
        assert first.view.variables == second.view.variables


def fuzz(count: int, seed: int) -> None:
    """Random texts end in a value or in one of our errors, in every engine."""
    source = random.Random(seed)
    expanders = {engine: expander(engine) for engine in Engine}
    for number in range(count):
        text = "".join(source.choices(FRAGMENTS, k=source.randrange(1, 30)))
        engine = tuple(Engine)[number % 3]
        if number % 300 < 3:
            expanders[engine] = expander(engine)
        try:
            expanders[engine].expand(text, original="base" if number % 5 == 0 else None)
        except MacroError:
            assert engine is not Engine.native
            expanders[engine] = expander(engine)


def test_generated_texts_raise_only_errors_of_ours() -> None:
    fuzz(1_500, seed=1)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_many_generated_texts_raise_only_errors_of_ours() -> None:
    fuzz(200_000, seed=2)
