"""The new engine on small texts of our own: what the captures taught, in other words."""

from __future__ import annotations

import pytest

from tests.macros.views import expander, new


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{user}} and {{CHAR}}", "Jon and Iva"),
        ("{{ \n user\t}}", "Jon"),
        ("<USER>, <bot>", "Jon, Iva"),
        ("{{description}}", "Iva mends clocks."),
        ("{{persona}}", "Jon repairs bicycles."),
        ("{{greeting}}|{{greeting::1}}|{{greeting::2}}", "Come in, Jon.|We are closed.|"),
        ("{{mesExamples}}", "<START>\nJon: Can it be mended?\nIva: Most things can.\n"),
        ("{{lastMessage}} {{lastUserMessage}}", "Let me see. It stopped."),
        ("{{lastMessageId}} {{allChatRange}} {{currentSwipeId}}/{{lastSwipeId}}", "2 0-2 2/2"),
        ("{{maxPrompt}} {{model}} {{outlet::tools}}", "7500 m-1 pliers"),
        ("{{time}} {{weekday}} {{isodate}}", "4:05 PM Tuesday 2026-02-03"),
        ("{{time::UTC+2}} {{time_UTC-3}}", "6:05 PM 1:05 PM"),
        ("{{datetimeformat::Do [of] MMMM}}", "3rd of February"),
        ("{{idleDuration}}", "an hour"),
        ("{{timeDiff::2026-01-01::2026-01-04}}", "3 days ago"),
        ("{{random::a::b::c}} {{random:x, y}} {{roll:2d6}}", "b y 8"),
        ("{{reverse::abc}}{{space::2}}{{newline}}", "cba  \n"),
        ("{{notChar}} {{group}}", "Jon Iva"),
        ("{{chatStart}}{{exampleSeparator}}{{systemPrompt}}{{instructInput}}", "******"),
    ],
)
def test_a_macro_answers(text: str, value: str) -> None:
    assert new(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "{{user",
        "{{user::x}}",
        "{{nobody}}",
        "{{greeting::two}}",
        "{{setvar::a}}",
        "{{/if}}",
        "{{}}",
        "{{图}}",
        "{{original}}",
        "{{space::-1}}",
    ],
)
def test_what_is_no_call_stays_as_written(text: str) -> None:
    assert new(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{user!}}", "Jon"),
        ("{{{user}}}", "{Jon}"),
        ("{{nobody::{{user}}}}", "{{nobody::Jon}}"),
        ("{{getvar::{{user}}", "{{getvar::Jon"),
        ("{{reverse::{{ }}x", "{{x"),
        ("{{.a x}}|{{..a}}|{{$}}", "1|1|"),
        ("{{.a.b}}", "{{.a.b}}"),
        ("{{user{{char}}}}", "Jon}}"),
        ("{{nobody}}a {{user}}{{/nobody}}", "{{nobody}}a Jon}}"),
        ("{{user}}x{{/user}}", "{{user}}x{{/user}}"),
        ("{{reverse::{{.a} }}", "}a.{{"),
        ("{{reverse::{{.a-}}|", "-a.{{|"),
        ("{{.a == {{. a++ .b}}}", "false}"),
        ("{{.b || x{{{user}}}}", "x{{}}{user}}"),
        ("{{.b ?? {{.a} z}}", "1"),
        ("{{// {{user}}/x}}", "{{// {{user}}/x}}"),
        ("{{if 1}}{{user:{{else}}x{{/if}}", "{{user:x"),
        (
            "{{#if 1}}{{setvar::c}}{{/if}}{{trim::x}}y{{/trim}}",
            "{{setvar::c}}{{trim::x}}y{{/trim}}",
        ),
    ],
)
def test_broken_text_is_mended_as_sillytavern_does(text: str, value: str) -> None:
    one = expander()
    one.view.variables.local["a"] = "1"
    assert one.expand(text) == value


def test_values_are_not_scanned_again() -> None:
    one = expander()
    one.view.variables.local["trap"] = "{{user}}"
    assert one.expand("{{getvar::trap}}") == "{{user}}"


def test_a_block_is_one_more_argument_without_its_indentation() -> None:
    one = expander()
    one.expand("{{setvar::note}}\n  first {{user}}\n    second\n{{/setvar}}")
    assert one.expand("{{getvar::note}}") == "first Jon\n  second"


def test_a_hash_keeps_the_white_space_of_a_block() -> None:
    assert new("[{{#if 1}}  x  {{/if}}]") == "[  x  ]"


def test_only_the_chosen_branch_is_evaluated() -> None:
    one = expander()
    text = "{{if .n}}{{incvar::yes}}{{else}}{{incvar::no}}{{/if}}"
    assert one.expand(text) == "1"
    assert one.view.variables.local == {"no": 1}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("user", True),
        ("!user", False),
        ("noop", False),
        ("0", False),
        ("OFF", False),
        ("no", True),
        ("space", True),
        ("{{getvar::none}}", False),
        (".none", False),
    ],
)
def test_a_condition_is_judged(condition: str, holds: bool) -> None:
    assert new(f"{{{{if {condition}}}}}y{{{{else}}}}n{{{{/if}}}}") == ("y" if holds else "n")


def test_blocks_nest_and_the_outer_else_is_found() -> None:
    assert new("{{if 0}}{{if 1}}a{{else}}b{{/if}}{{else}}c{{/if}}") == "c"


@pytest.mark.parametrize(
    ("text", "value", "after"),
    [
        ("{{.n = 3}}{{.n++}}", "4", {"n": 4}),
        ("{{.n -= 2}}", "", {"n": -2}),
        ("{{.n ?? x}}{{.n}}", "x", {}),
        ("{{.n ??= x}}{{.n}}", "xx", {"n": "x"}),
        ("{{.n || {{user}}}}", "Jon", {}),
        ("{{.n > -1}} {{.n == }}", "true true", {}),
        ("{{.n = a :: b }}", "", {"n": "a :: b"}),
    ],
)
def test_a_shorthand_works(text: str, value: str, after: dict[str, object]) -> None:
    one = expander()
    assert one.expand(text) == value
    assert one.view.variables.local == after


def test_original_is_there_once() -> None:
    assert new("{{original}}+{{original}}", original="base") == "base+"


def test_card_macros_can_be_taken_away() -> None:
    assert new("[{{description}}]", card_macros=False) == "[]"


def test_extra_macros_come_first() -> None:
    assert new("{{mood}} {{user}}", extra={"Mood": "calm", "user": "X"}) == "calm X"


def test_trim_takes_the_line_breaks_along() -> None:
    assert new("a\r\n\n{{trim}}\nb") == "ab"


def test_a_pick_lasts_and_depends_on_its_place() -> None:
    text = "{{pick::a::b::c::d}}" * 6
    assert new(text) == new(text)
    assert len(set(new(text))) > 1


def test_a_swiped_message_is_not_the_last_one() -> None:
    assert expander(is_swipe=True).expand("{{lastMessage}}") == "It stopped."


def test_groups_have_names() -> None:
    one = expander(group=("Iva", "Ola", "Per"), group_not_muted=("Iva", "Per"))
    assert one.expand("{{group}}|{{groupNotMuted}}|{{notChar}}") == "Iva, Ola, Per|Iva, Per|Per"
