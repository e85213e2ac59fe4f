"""The quick way through simple texts gives the tree that the parser gives."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from preset_engine.macros.parser import parse, parse_fully
from preset_engine.macros.simple import simple_calls

BITS = st.sampled_from(
    [
        "{{",
        "}}",
        "::",
        ":",
        "{",
        "}",
        "user",
        "a-b",
        "7",
        " ",
        "\n",
        "\u3000",
        "\u001c",
        "/",
        "#",
        ".",
        "//",
        "星",
        "😀",
    ]
)
CALLS = st.builds(
    lambda name, arguments: "{{" + "::".join([name, *arguments]) + "}}",
    st.sampled_from(["user", "setvar", "a_b", "Char-1", "trim", "if", "else"]),
    st.lists(st.sampled_from(["", " ", "x", " a b ", "\u00a0两\n", "x}", "#/", "1.5"]), max_size=3),
)
TEXTS = st.lists(CALLS | CALLS | BITS, max_size=12).map("".join)


@given(TEXTS)
@example("{{a}}}")
@example("{ {{a}} }")
@example("{{a}}{{b::}}{{c::::d}}")
def test_a_text_gets_the_same_tree_either_way(text):
    assert parse(text, 50) == parse_fully(text, 50)


@pytest.mark.parametrize("text", ["{{user}}", "a {{setvar::x::1 2}} b {{char}}", "{{x::}}"])
def test_texts_of_plain_calls_are_simple(text):
    assert simple_calls(text) is not None


@pytest.mark.parametrize(
    "text",
    ["{{ user }}", "{{roll:1d6}}", "{{{a}}", "{{a::{{b}}}}", "{{a", "{{#a}}", "{{.a}}", "{{//}}"],
)
def test_other_texts_are_left_to_the_parser(text):
    assert simple_calls(text) is None
