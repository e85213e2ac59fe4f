"""The native dialect: few macros, directives, the rest is text."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.macros.engine import Engine
from preset_engine.macros.limits import Limits
from preset_engine.macros.native import expand_identity
from tests.macros.views import expander, native
from tests.truth import ROOT


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{user}}{{char}}", "JonIva"),
        ("@user 和 @玩家", "Jon 和 Jon"),
        ("@persona|@人设|{{persona}}", "|".join(["Jon repairs bicycles."] * 3)),
        ("write to a@user.com", "write to a@user.com"),
        ("对@玩家说", "对Jon说"),
        ("@players @userX @user@", "@players @userX @user@"),
        ("{{lastUserMessage}}{{// note @user}}", "It stopped."),
        ("{{setvar::k::{{user}}!}}{{getvar::k}}", "Jon!"),
        ("{{setvar::k::a::b}}{{getvar::k}}", "a::b"),
        ("{{addvar::n::2}}{{addvar::n::3}}{{getvar::n}}", "5"),
        ("a\n{{trim}}\nb", "ab"),
        ("<user>kept</user>", "<user>kept</user>"),
        ("{{charPrompt}}{{random::a::b}}", "{{charPrompt}}{{random::a::b}}"),
        ("{{if 1}}a{{/if}} {{.x}} {{/user}}", "{{if 1}}a{{/if}} {{.x}} {{/user}}"),
        ("{{标题}} {{user", "{{标题}} {{user"),
    ],
)
def test_a_text_expands(text: str, value: str) -> None:
    assert native(text) == value


def test_unknown_macros_are_counted_with_their_first_place() -> None:
    one = expander(Engine.native)
    one.expand("{{foo}} {{标题}}", place="$.prompts[1]")
    one.expand("{{FOO::x}}", place="$.prompts[2]")
    found = [(item.name, item.count, item.place) for item in one.unknown.values()]
    assert found == [("foo", 2, "$.prompts[1]"), ("标题", 1, "$.prompts[1]")]
    assert [(note.code, note.count) for note in one.notes()] == [
        ("unknown-macro", 2),
        ("unknown-macro", 1),
    ]


def test_variables_live_for_one_assembly() -> None:
    expander(Engine.native).expand("{{setvar::x::1}}")
    assert expander(Engine.native).expand("[{{getvar::x}}]") == "[]"


def test_no_persona_gives_the_name_and_no_name_nothing() -> None:
    assert expander(Engine.native, persona=" ").expand("@persona") == "姓名：Jon"
    assert expander(Engine.native, persona="", user="").expand("[@persona]{{user}}") == "[]玩家"


def test_a_limit_is_a_note_and_the_text_stays() -> None:
    one = expander(Engine.native, Limits(output_chars=1000))
    bomb = "{{setvar::a::abcdefghij}}" + "{{setvar::a::{{getvar::a}}{{getvar::a}}}}" * 20
    assert one.expand(bomb, place="$.prompts[7]") == bomb
    (note,) = one.notes()
    assert (note.code, note.path) == ("macro-limit", "$.prompts[7]")


def test_identity_runs_no_macros() -> None:
    found = expand_identity("@user {{char}} {{setvar::a::1}} {{user}}", "Jon", "")
    assert found.text == "Jon {{char}} {{setvar::a::1}} Jon"
    assert found.hits == ("persona_name", "st_user")


@given(st.text())
def test_identity_leaves_texts_without_signs_alone(text: str) -> None:
    if "@" not in text and "{" not in text:
        assert expand_identity(text, "Jon", "x").text is text


def test_expansion_is_the_same_in_every_process() -> None:
    script = (
        "from tests.macros.views import expander, Engine\n"
        "from preset_engine.context import Context\n"
        "one = expander(Engine.native, context=Context(seed=7))\n"
        "print(one.expand('{{roll:1d1000}} ' * 20 + '{{foo}} {{bar}} @persona'), list(one.unknown))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
