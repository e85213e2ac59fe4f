"""What is said and what not: `if` with `else`, comments, `trim`, and macros that print nothing."""

from __future__ import annotations

import re

from preset_engine.macros.engine import Engine
from preset_engine.macros.evaluate import dedent
from preset_engine.macros.invocation import Invocation
from preset_engine.macros.js_numbers import strip
from preset_engine.macros.nodes import Call, Document
from preset_engine.macros.parses import SHARED_PARSES
from preset_engine.macros.registry import Macro, Parameter
from preset_engine.macros.shorthand import is_false
from preset_engine.macros.steps import ELSE_MARK

_NEW = frozenset({Engine.new})
_VARIABLE = re.compile(r"([.$])([a-zA-Z](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?)")


def _if(call: Invocation) -> str:
    condition, content = call.arguments
    held, otherwise = _branches(content, call.run.ledger.limits.depth)
    chosen = held if _is_met(call, condition) else otherwise
    value = call.run.resolve(call.run, chosen, call.offset)
    return value if call.keeps_space else dedent(value)


def _is_met(call: Invocation, condition: str) -> bool:
    negated = strip(condition)[:1] == "!"
    if negated:
        condition = strip(condition[condition.index("!") + 1 :])
    value = _meaning(call, call.run.resolve(call.run, condition, call.offset))
    return is_false(value) == negated


def _meaning(call: Invocation, condition: str) -> str:
    """The value behind a variable shorthand or a bare macro name; other texts mean themselves."""
    run = call.run
    variable = _VARIABLE.fullmatch(condition)
    if variable is not None:
        getter = "getvar" if variable[1] == "." else "getglobalvar"
        return run.resolve(run, f"{{{{{getter}::{variable[2]}}}}}", call.offset)
    macro = run.ledger.registry.find(strip(condition), Engine.new)
    if macro is not None and macro.least == 0:
        return run.resolve(run, f"{{{{{condition}}}}}", call.offset)
    return condition


def _branches(content: str, depth: int) -> tuple[str, str]:
    """The texts before and behind the `{{else}}` of this level."""
    document = SHARED_PARSES.parse(content, depth)
    level = 0
    for place, node in enumerate(document.nodes):
        if not isinstance(node, Call) or node.start in document.freed:
            continue
        if node.name == "if":
            if node.is_closing:
                level -= 1
            elif len(node.arguments) == 1:
                level += 1
        elif node.name == "else" and level == 0:
            return _parted(document, place, depth)
    return content, ""


def _parted(document: Document, place: int, depth: int) -> tuple[str, str]:
    """The texts before and behind a node; their parses are kept for when one is expanded."""
    text, nodes = document.text, document.nodes
    node = nodes[place]
    if document.is_clean and not SHARED_PARSES.holds(text[: node.start], depth):
        SHARED_PARSES.put(document.cut(0, node.start, nodes[:place]), depth)
        SHARED_PARSES.put(document.cut(node.end, len(text), nodes[place + 1 :]), depth)
    return text[: node.start], text[node.end :]


def _else(_: Invocation) -> str:
    return ELSE_MARK


def _nothing(_: Invocation) -> str:
    return ""


def _trim(call: Invocation) -> str:
    return call.argument(0) if call.is_block else "{{trim}}"


MACROS = (
    Macro(
        "if",
        "The content if the condition holds, else what follows `{{else}}`. False are the empty text, "
        "`off`, `false` and `0`; `!` turns the condition round; a macro's name or `.variable` is read.",
        "{{if .mood}}{{getvar::mood}}{{else}}calm{{/if}}",
        _if,
        (Parameter("condition", "text, macro name or variable"), Parameter("content", "a text")),
        engines=_NEW,
        subject="flow",
        is_delayed=True,
    ),
    Macro(
        "else",
        "Parts the two contents of an `if`.",
        "{{else}}",
        _else,
        engines=_NEW,
        subject="flow",
    ),
    Macro(
        "trim",
        "Goes away with all line breaks that touch it; as a block, gives its trimmed content.",
        "a\n{{trim}}\nb",
        _trim,
        (Parameter("content", "a text to trim", is_optional=True),),
        engines=frozenset(Engine),
        subject="flow",
    ),
    Macro("noop", "Prints nothing.", "{{noop}}", _nothing, subject="flow"),
    Macro(
        "//",
        "A comment; macros inside it are still evaluated.",
        "{{// remember the weather}}",
        _nothing,
        (Parameter("comment", "any text"),),
        engines=frozenset(Engine),
        subject="flow",
        hides_arguments=True,
    ),
    Macro(
        "comment",
        "A comment by its long name.",
        "{{comment::remember the weather}}",
        _nothing,
        (Parameter("comment", "any text"),),
        engines=_NEW,
        subject="flow",
        hides_arguments=True,
    ),
    Macro(
        "banned",
        "Bans a word with text-completion back ends; prints nothing.",
        "{{banned::delve}}",
        _nothing,
        (Parameter("word", "the word"),),
        subject="flow",
        hides_arguments=True,
    ),
)
