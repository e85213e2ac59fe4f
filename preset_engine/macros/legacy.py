"""The legacy engine: a fixed sequence of replacements over the whole text.

Each step sees what the steps before it made of the text; the row ends as soon as no `{{` is left. So all
`setvar` of a text run before all `getvar`, a name ends at the first `}`, and nothing nests. A step whose
macro refuses its arguments leaves the text as it was (what it set before that stays set).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from preset_engine.macros.builtin import card
from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import MacroRejected
from preset_engine.macros.legacy_match import exact, prefix
from preset_engine.macros.legacy_table import (
    CARD,
    FIRST,
    LAST,
    NAMES,
    TAGS,
    Step,
    answer_of,
    named,
)
from preset_engine.macros.registry import Macro, MacroRegistry, Volatility
from preset_engine.macros.run import Run
from preset_engine.macros.view import MacroView

_EFFECT = prefix(r"\{\{(?:(?:set|add|inc|dec)(?:global)?var::|random|roll)")
_LEFT = re.compile(r"\{\{\s*([A-Za-z][A-Za-z0-9_-]*)")


def card_has_effects(view: MacroView) -> bool:
    """Whether a card field changes variables or draws numbers.

    The old engine expands all card fields on every call; only with such fields does it make a difference.
    """
    fields = [field(view) for field in card.FIELDS.values()]
    return any(_EFFECT.search(text) for text in (*fields, *view.card.greetings[1:]))


def resolve(run: Run, text: str, offset: int) -> str:
    """Expand a text by the old rules."""
    del offset
    if not text:
        return ""
    run.cost.enter()
    if run.has_card and card_has_effects(run.ledger.view):
        _read_card(run)
    lowered = text.lower()
    for step in _sequence(run):
        if "{{" not in text and not step.is_tag:
            break
        if step.sign in lowered:
            text, before = _replace(run, text, step), text
            lowered = lowered if text is before else text.lower()
    _count_left(run, text)
    run.cost.leave()
    return text


def _read_card(run: Run) -> None:
    view = run.ledger.view
    was_volatile = run.cost.is_volatile
    for name, raw in card.FIELDS.items():
        run.card_text(name, raw(view))
    for index, greeting in enumerate(view.card.greetings[1:], 1):
        run.card_text(f"greeting:{index}", greeting)
    run.cost.is_volatile = was_volatile


def _replace(run: Run, text: str, step: Step) -> str:
    parts: list[str] = []
    at = size = 0
    try:
        for start, end, groups in step.find(text):
            if run.cost.depth == 1:
                run.cost.at = start
            value = step.answer(run, groups, start)
            run.cost.charge(len(value))
            run.cost.is_volatile |= step.is_volatile
            parts += (text[at:start], value)
            size += start - at + len(value)
            if size > run.cost.limits.output_chars:
                run.cost.charge(size)
            at = end
    except MacroRejected:
        return text
    return "".join([*parts, text[at:]]) if parts else text


def _sequence(run: Run) -> Iterator[Step]:
    yield from TAGS
    yield from FIRST
    yield from _environment(run)
    yield from _registered(run.ledger.registry)
    yield from LAST


def _environment(run: Run) -> Iterator[Step]:
    """The values of this call: the original text, card fields, names, the caller's own."""
    if run.has_original:
        yield named("original", Run.take_original)
    if run.has_card:
        yield from CARD
    yield from NAMES
    for name, value in run.extra.items():
        yield _given(name, value)


def _given(name: str, value: str) -> Step:
    return named(name, lambda _run: value)


def _registered(registry: MacroRegistry) -> Iterator[Step]:
    """Macros that users registered; the old engine gives them no arguments."""
    for macro in registry:
        if macro.subject == "user" and macro.handler is not None and Engine.legacy in macro.engines:
            yield _user_step(macro)


def _user_step(macro: Macro) -> Step:
    names_of = "|".join(re.escape(name) for name in (macro.name, *macro.aliases))
    answer = answer_of(macro)
    is_volatile = macro.volatility is not Volatility.never
    find = exact(prefix(r"\{\{(?:" + names_of + r")\}\}"))
    return Step("{{", find, lambda run, _g, _s: answer(run), is_volatile)


def _count_left(run: Run, text: str) -> None:
    if "{{" not in text:
        return
    for match in _LEFT.finditer(text):
        if run.ledger.registry.find(match[1], Engine.legacy) is None:
            run.ledger.count_unknown(match[1], run.place)
