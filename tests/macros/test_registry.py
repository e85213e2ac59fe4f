"""The registry: names, help, volatility, and macros that users add."""

from __future__ import annotations

import re

import pytest

from preset_engine import MacroRegistry, expand, register_macro
from preset_engine.errors import MacroError, MacroNameTaken
from preset_engine.macros.engine import Engine
from preset_engine.macros.expand import Expander
from preset_engine.macros.help import describe, macro_tables, macros_of
from preset_engine.macros.invocation import Invocation
from preset_engine.macros.registry import Parameter, Volatility, default_registry
from tests.macros.views import expander, view
from tests.truth import ROOT


def test_every_macro_explains_itself() -> None:
    for macro in default_registry():
        assert macro.meaning.endswith("."), macro.name
        assert macro.example, macro.name
        assert all(parameter.meaning for parameter in macro.parameters), macro.name
        assert macro.engines, macro.name


def test_every_example_is_understood() -> None:
    one = expander()
    for macro in default_registry():
        if Engine.new in macro.engines and macro.handler is not None and macro.name != "original":
            assert macro.example not in one.expand(f"<{macro.example}>"), macro.name


def test_the_legacy_engine_answers_the_names_the_registry_gives_it() -> None:
    for macro in default_registry():
        if macro.parameters or macro.takes_list or macro.name in {"//", "original"}:
            continue
        for name in (macro.name, *macro.aliases):
            text = "{{" + name + "}}"
            is_known = name in macro.names(Engine.legacy) and macro.handler is not None
            assert (expander(Engine.legacy).expand(text) != text) is is_known, name


def test_the_page_of_macros_is_printed_from_the_registry() -> None:
    page = (ROOT / "docs" / "macros.md").read_text("utf-8")
    assert macro_tables() in page


def test_the_page_names_every_macro_and_alias() -> None:
    page = (ROOT / "docs" / "macros.md").read_text("utf-8")
    for macro in default_registry():
        assert all(
            re.search(rf"\b{re.escape(name)}\b|{re.escape(name)}", page)
            for name in (macro.name, *macro.aliases)
        )


def test_a_description_is_plain_json() -> None:
    (setvar,) = [macro for macro in macros_of(Engine.new) if macro.name == "setvar"]
    body = describe(setvar)
    assert body["form"] == "{{setvar::name::value}}"
    assert body["engines"] == ["new", "legacy", "native"]


def test_a_user_adds_a_macro_to_every_engine() -> None:
    registry = default_registry().copy()

    @registry.macro("weather", meaning="Today's weather.", volatile=True)
    def weather(call: Invocation) -> str:
        return f"rain on {call.view.user}"

    for engine in Engine:
        one = Expander(view(), engine=engine, registry=registry)
        assert one.expand("{{Weather}}") == "rain on Jon"
        assert one.last_volatile
    assert expander().expand("{{weather}}") == "{{weather}}"


def test_a_user_macro_has_arguments_and_may_take_a_block() -> None:
    registry = default_registry().copy()
    loud = registry.macro("loud", meaning="Loud.", parameters=[Parameter("text", "any")])
    loud(lambda call: call.argument(0).upper())
    one = Expander(view(), registry=registry)
    assert one.expand("{{loud::{{user}}}} {{loud}}a{{/loud}} {{loud}}") == "JON A {{loud}}"


def test_register_macro_adds_to_the_default_registry() -> None:
    @register_macro("testOnlyMacro", meaning="For this test.", aliases=["testOnlyAlias"])
    def handler(_: Invocation) -> str:
        return "here"

    try:
        assert expand("{{testonlyalias}}") == "here"
    finally:
        default_registry().remove("testOnlyMacro")
    assert expand("{{testonlyalias}}") == "{{testonlyalias}}"


@pytest.mark.parametrize("name", ["user", "USER", "varexists"])
def test_a_name_in_use_is_refused(name: str) -> None:
    with pytest.raises(MacroNameTaken, match="in use"):
        register_macro(name, meaning="No.")(lambda _: "")


@pytest.mark.parametrize("name", ["", "1st", "two words", "名"])
def test_a_name_that_cannot_be_written_is_refused(name: str) -> None:
    with pytest.raises(MacroError, match="macro name"):
        MacroRegistry().macro(name, meaning="No.")(lambda _: "")


def test_macros_of_extensions_are_named_as_such() -> None:
    one = expander()
    assert one.expand("{{get_message_variable::hp}}") == "{{get_message_variable::hp}}"
    (note,) = one.notes()
    assert "Tavern Helper" in note.message


@pytest.mark.parametrize(
    ("text", "is_volatile"),
    [
        ("{{user}} {{description}} {{pick::a::b}}", False),
        ("{{time}}", True),
        ("{{random::a::b}}", True),
        ("{{lastMessage}}", True),
        ("{{incvar::n}}", True),
        ("{{setvar::a::{{time}}}}", False),
        ("{{setvar::a::{{time}}}}{{getvar::a}}", True),
        ("{{setvar::a::x}}{{getvar::a}}", False),
        ("{{setvar::a::1}}{{incvar::a}}{{getvar::a}}", True),
        ("{{addvar::a::1}}{{.a}}", True),
        ("{{if 0}}{{time}}{{else}}x{{/if}}", False),
        ("{{reverse::{{time}}}}", True),
        ("{{nobody::{{time}}}}", True),
        ("{{// {{time}}}}", False),
        ("no macro", False),
    ],
)
def test_a_text_is_volatile_when_its_value_may_change(text: str, is_volatile: bool) -> None:
    assert expander().expand_traced(text).volatile is is_volatile


def test_a_volatile_variable_is_remembered_between_texts() -> None:
    one = expander()
    one.expand("{{setvar::a::{{roll:1d6}}}}")
    assert one.expand_traced("{{getvar::a}}").volatile
    one.expand("{{setvar::a::fixed}}")
    assert not one.expand_traced("{{getvar::a}}").volatile


def test_natively_counting_is_steady_since_variables_start_empty() -> None:
    one = expander(Engine.native)
    assert not one.expand_traced("{{addvar::a::1}}{{getvar::a}}").volatile


def test_every_macro_of_clock_chance_and_chat_is_declared_volatile() -> None:
    steady = {"pick", "timeDiff"}
    for macro in default_registry():
        if macro.subject in {"clock", "chance", "chat"} and macro.name not in steady:
            assert macro.volatility is not Volatility.never, macro.name
