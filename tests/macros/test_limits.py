"""Hostile texts end in one clear error, and long texts cost what their length asks for.

Costs are counted in steps, never in seconds.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress

import pytest

from preset_engine.errors import ExpansionTooLarge, MacroError, MacroTooDeep
from preset_engine.macros.engine import Engine
from preset_engine.macros.limits import Limits
from preset_engine.macros.parser import parse
from preset_engine.macros.scanner import scan
from tests.macros.views import expander

SMALL = Limits(output_chars=10_000, work_chars=100_000, steps=2_000, list_items=100)
DOUBLING = "{{setvar::a::abcdefghij}}" + "{{setvar::a::{{getvar::a}}{{getvar::a}}}}" * 40
NEST = "{{reverse::" * 5_000 + "x" + "}}" * 5_000


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (DOUBLING, ExpansionTooLarge),
        ("{{setvar::a::abcdefghij}}" + "{{addvar::a::{{getvar::a}}}}" * 40, ExpansionTooLarge),
        ("{{space::999999999999}}", ExpansionTooLarge),
        ("{{space::9000}}" * 30, ExpansionTooLarge),
        ("{{setvarkey::l::999999::x}}", ExpansionTooLarge),
        ("{{setvar::l::[]}}" + "{{addvar::l::x}}" * 200, ExpansionTooLarge),
        ("{{roll:999999999d6}}", ExpansionTooLarge),
        ("{{user}}" * 3_000, ExpansionTooLarge),
        (NEST, MacroTooDeep),
        ("{{if 1}}" * 500 + "{{/if}}" * 500, MacroTooDeep),
        ("{{setvar::a}}" * 500 + "{{/setvar}}" * 500, MacroTooDeep),
        ("{{.a = " * 500, MacroTooDeep),
    ],
)
def test_a_bomb_ends_in_an_error_that_names_the_entry(text: str, error: type[MacroError]) -> None:
    one = expander(limits=SMALL)
    with pytest.raises(error, match=r"^\$\.prompts\[4\], character \d+: .*; shorten") as caught:
        one.expand(text, place="$.prompts[4]")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "{{setvar::a::abcdefghij}}" + "{{addvar::a::abcdefghij}}" * 2_000,
        "{{roll:99999d6}}" * 1_000,
        "{{user}}" * 3_000,
    ],
)
def test_the_legacy_engine_has_the_same_limits(text: str) -> None:
    with pytest.raises(ExpansionTooLarge):
        expander(Engine.legacy, SMALL).expand(text)


def test_a_variable_that_grows_from_turn_to_turn_meets_its_limit() -> None:
    one = expander(limits=SMALL)
    one.expand("{{setvar::log::abcdefghij}}")
    for _ in range(9):
        one.expand("{{addvar::log::{{getvar::log}}x}}")
    with pytest.raises(ExpansionTooLarge, match="variable 'log'"):
        one.expand("{{addvar::log::{{getvar::log}}}}")


def test_a_card_field_that_multiplies_counts_towards_the_text_that_reads_it() -> None:
    card = expander().view.card
    one = expander(limits=SMALL, card=type(card)(description="{{space::5000}}"))
    with pytest.raises(ExpansionTooLarge):
        one.expand("{{description}}" * 40)


def test_the_error_says_where_in_the_text() -> None:
    with pytest.raises(ExpansionTooLarge, match=r"^entry, character 8: "):
        expander(limits=SMALL).expand("{{user}}{{space::99999}}", place="entry")


def test_the_deepest_allowed_text_needs_little_of_the_stack() -> None:
    levels = Limits().depth - 2
    text = (
        "{{if 1}}" * (levels // 2)
        + "{{reverse::" * levels
        + "ab"
        + "}}" * levels
        + "{{/if}}" * (levels // 2)
    )
    before = sys.getrecursionlimit()
    depth = len(list(iter_frames()))
    sys.setrecursionlimit(depth + 420)
    try:
        with pytest.raises(MacroTooDeep):
            expander().expand(text)
        assert expander().expand("{{reverse::" * levels + "ab" + "}}" * levels) == "ab"
    finally:
        sys.setrecursionlimit(before)


def iter_frames():
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


SHAPES = (
    "{{", "{{{ ", "{{!", "{{/", "{{$", "{{.a ", "{{user}} ", "{{user!", "{{setvar::a}}", "{{/setvar}}", "{{user}}{{/user}}",
    "\n{{trim}}\n", "\\{", "<user>", "{{标题}}", "{{else}}", "{{reverse::a}}", "{{.a = {{user}}}}", "}}", "{{x::{{ }} ",
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_has_twice_the_tokens_and_nodes(shape: str) -> None:
    one, two = (scan(shape * times, 10_000) for times in (250, 500))
    assert len(two) <= 2 * len(one) + 4
    assert len(parse(shape * 500, 10_000).nodes) <= 2 * len(parse(shape * 250, 10_000).nodes) + 4


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_takes_twice_the_calls(shape: str) -> None:
    """Python-level calls are counted: a step that walks back or looks far ahead would show."""
    small, large = (count_calls(shape * times) for times in (150, 300))
    assert large <= 2.3 * small + 400


def count_calls(text: str) -> int:
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    runs = [expander(engine) for engine in Engine]
    sys.setprofile(count)
    try:
        for run in runs:
            with suppress(MacroTooDeep):
                run.expand(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    "opening", ["{{setvar::a::", "{{//", "{{reverse:", "{{timeDiff::a::", "{{random::", "{{roll "]
)
def test_openings_without_an_end_are_walked_once_by_the_legacy_engine(opening: str) -> None:
    text = opening * 3_000
    assert expander(Engine.legacy).expand(text) == text
    assert re.match(r"\{\{", text)
