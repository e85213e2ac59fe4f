"""The legacy engine: a fixed sequence of replacements over the whole text.

Each step sees what the steps before it made of the text; the row ends as soon as no `{{` is left. So all
`setvar` of a text run before all `getvar`, a name ends at the first `}`, and nothing nests. A step whose
macro refuses its arguments leaves the text as it was (what it set before that stays set).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from preset_engine.macros import steps
from preset_engine.macros.builtin import card, chance, chat, clock, names, state, templates
from preset_engine.macros.builtin.variables import add_variable, get_variable, set_variable
from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation, MacroRejected
from preset_engine.macros.js_numbers import strip
from preset_engine.macros.legacy_match import (
    Finder,
    Found,
    exact,
    name_and_value,
    prefix,
    quoted_in_line,
    two_in_line,
    up_to_brace,
    up_to_close,
)
from preset_engine.macros.registry import Macro, MacroRegistry, Volatility
from preset_engine.macros.run import Run
from preset_engine.macros.view import MacroView

Answer = Callable[[Run, tuple[str, ...], int], str]


@dataclass(frozen=True, slots=True)
class _Step:
    """One replacement: where it applies, what stands there instead, whether that may change."""

    find: Finder
    answer: Answer
    is_volatile: bool = False
    is_tag: bool = False


def card_has_macros(view: MacroView) -> bool:
    """Whether a card field holds macros: then every call expands all fields, side effects included."""
    return any("{{" in field(view) for field in card.FIELDS.values()) or any(
        "{{" in text for text in view.card.greetings[1:]
    )


def resolve(run: Run, text: str, offset: int) -> str:
    """Expand a text by the old rules."""
    del offset
    if not text:
        return ""
    run.cost.enter()
    if run.has_card and card_has_macros(run.ledger.view):
        _read_card(run)
    for step in _sequence(run):
        if "{{" not in text and not step.is_tag:
            break
        text = _replace(run, text, step)
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


def _replace(run: Run, text: str, step: _Step) -> str:
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


def _sequence(run: Run) -> Iterator[_Step]:
    yield from _TAGS
    yield from _FIRST
    yield from _environment(run)
    yield from _registered(run.ledger.registry)
    yield from _LAST


def _named(name: str, value: Callable[[Run], str], *, is_volatile: bool = False) -> _Step:
    return _Step(exact(_call(name)), lambda run, _groups, _start: value(run), is_volatile)


def _call(name: str) -> re.Pattern[str]:
    return prefix(r"\{\{" + re.escape(name) + r"\}\}")


def _viewed(name: str, value: Callable[[MacroView], str], *, is_volatile: bool = False) -> _Step:
    return _named(name, lambda run: value(run.ledger.view), is_volatile=is_volatile)


def _environment(run: Run) -> Iterator[_Step]:
    """The values of this call: the original text, card fields, names, the caller's own."""
    if run.has_original:
        yield _named("original", Run.take_original)
    if run.has_card:
        yield from _CARD
    yield from _NAMES
    for name, value in run.extra.items():
        yield _named(name, lambda _run, value=value: value)  # type: ignore[misc]  # binds the loop's value


def _registered(registry: MacroRegistry) -> Iterator[_Step]:
    """Macros that users registered; the old engine gives them no arguments."""
    for macro in registry:
        if macro.subject == "user" and macro.handler is not None and Engine.legacy in macro.engines:
            yield _user_step(macro)


def _user_step(macro: Macro) -> _Step:
    def answer(run: Run, _groups: tuple[str, ...], _start: int) -> str:
        assert macro.handler is not None
        return macro.handler(Invocation(macro.name, (), run))

    names_of = "|".join(re.escape(name) for name in (macro.name, *macro.aliases))
    is_volatile = macro.volatility is not Volatility.never
    return _Step(exact(prefix(r"\{\{(?:" + names_of + r")\}\}")), answer, is_volatile)


def _count_left(run: Run, text: str) -> None:
    if "{{" not in text:
        return
    for match in _LEFT.finditer(text):
        if run.ledger.registry.find(match[1], Engine.legacy) is None:
            run.ledger.count_unknown(match[1], run.place)


def _field(name: str, field: str) -> _Step:
    raw = card.FIELDS[field]
    return _named(name, lambda run: run.card_text(field, raw(run.ledger.view)))


def _examples(run: Run) -> str:
    return card.example_blocks(run.card_text("examples", run.ledger.view.card.examples))


def _roll(run: Run, groups: tuple[str, ...], _start: int) -> str:
    return chance.roll_dice(run, strip(groups[0]))


def _random(run: Run, groups: tuple[str, ...], _start: int) -> str:
    return chance.choose(chance.split_items(groups[0], trims_pairs=False), run.ledger.draw())


def _pick(run: Run, groups: tuple[str, ...], _start: int) -> str:
    items = chance.split_items(groups[0], trims_pairs=False)
    return chance.choose(items, chance.pick_number(run, int(groups[1]), as_number=True))


def _pick_finder(text: str) -> Iterator[Found]:
    """As for `random`, with the place in UTF-16 units as a second group."""
    is_wide = not text.isascii() and max(text) > "\uffff"
    wide = [at for at, char in enumerate(text) if char > "\uffff"] if is_wide else []
    for start, end, groups in _PICK(text):
        yield start, end, (*groups, str(start + bisect_left(wide, start)))


def _variable_steps() -> Iterator[_Step]:
    """All setting before all adding before all reading; first the chat's store, then the user's."""
    for scope, mid in (("local", ""), ("global", "global")):
        yield _Step(
            name_and_value(prefix(r"\{\{set" + mid + "var::"), least=0),
            lambda run, g, _, scope=scope: set_variable(  # type: ignore[misc]  # binds the loop's value
                run, scope, strip(g[0]), g[1], is_tainted=False
            ),
        )
        yield _Step(
            name_and_value(prefix(r"\{\{add" + mid + "var::"), least=1),
            lambda run, g, _, scope=scope: _added(run, scope, g),  # type: ignore[misc]
        )
        for word, size in (("inc", 1), ("dec", -1)):
            yield _Step(
                up_to_brace(prefix(r"\{\{" + word + mid + "var::")),
                lambda run, g, _, scope=scope, size=size: add_variable(  # type: ignore[misc]
                    run, scope, strip(g[0]), size, is_tainted=False
                ),
                is_volatile=True,
            )
        yield _Step(
            up_to_brace(prefix(r"\{\{get" + mid + "var::")),
            lambda run, g, _, scope=scope: get_variable(run, scope, strip(g[0])),  # type: ignore[misc]
        )


def _added(run: Run, scope: str, groups: tuple[str, ...]) -> str:
    add_variable(run, scope, strip(groups[0]), groups[1], is_tainted=False)
    return ""


def _template_steps() -> Iterator[_Step]:
    for macro in templates.MACROS:
        for name in (macro.name, *macro.aliases):
            setting = macro.name
            yield _viewed(name, lambda view, setting=setting: state.setting(view, setting))  # type: ignore[misc]


_PICK = up_to_brace(prefix(r"\{\{pick\s?:"), extra_colon=True)
_LEFT = re.compile(r"\{\{\s*([A-Za-z][A-Za-z0-9_-]*)")

_TAGS = tuple(
    _Step(
        exact(prefix(f"<{tag}>")),
        lambda run, _g, _s, value=value: value(run.ledger.view),  # type: ignore[misc]
        is_tag=True,
    )
    for tag, value in (
        ("USER", lambda view: view.user),
        ("BOT", lambda view: view.char),
        ("CHAR", lambda view: view.char),
        ("CHARIFNOTGROUP", names.group_names),
        ("GROUP", names.group_names),
    )
)
_FIRST = (
    _Step(up_to_brace(prefix(r"\{\{roll[ :]")), _roll, is_volatile=True),
    *_template_steps(),
    *_variable_steps(),
    _named("newline", lambda _: "\n"),
    _Step(steps.find_trims, lambda _run, _g, _s: ""),
    _named("noop", lambda _: ""),
    _viewed("input", lambda view: state.setting(view, "input_text"), is_volatile=True),
)
_CARD = (
    _field("charPrompt", "system_prompt"),
    _field("charInstruction", "post_history"),
    _field("charJailbreak", "post_history"),
    _field("description", "description"),
    _field("personality", "personality"),
    _field("scenario", "scenario"),
    _field("persona", "persona"),
    _named("mesExamples", _examples),
    _field("mesExamplesRaw", "examples"),
    _viewed("charVersion", lambda view: view.card.version),
    _viewed("char_version", lambda view: view.card.version),
    _field("charDepthPrompt", "depth_prompt"),
    _field("creatorNotes", "creator_notes"),
)
_NAMES = (
    _viewed("user", lambda view: view.user),
    _viewed("char", lambda view: view.char),
    _viewed("group", names.group_names),
    _viewed("charIfNotGroup", names.group_names),
    _viewed("groupNotMuted", names.unmuted_names),
    _viewed("notChar", lambda view: names.other_names(view, with_user=True)),
    _viewed("model", lambda view: state.setting(view, "model")),
    _viewed("isMobile", lambda view: state.setting(view, "is_mobile", "false")),
    _viewed(
        "lastGenerationType",
        lambda view: state.setting(view, "last_generation_type"),
        is_volatile=True,
    ),
)
_LAST = (
    _viewed("maxPrompt", state.max_prompt),
    _viewed("maxPromptTokens", state.max_prompt),
    _viewed("maxContext", lambda view: state.setting(view, "max_context")),
    _viewed("maxContextTokens", lambda view: state.setting(view, "max_context")),
    _viewed("maxResponse", lambda view: state.setting(view, "max_response")),
    _viewed("maxResponseTokens", lambda view: state.setting(view, "max_response")),
    _viewed("lastMessage", chat.last_message, is_volatile=True),
    _viewed("lastMessageId", chat.last_message_id, is_volatile=True),
    _viewed("lastUserMessage", chat.last_user_message, is_volatile=True),
    _viewed("lastCharMessage", chat.last_char_message, is_volatile=True),
    _viewed("firstIncludedMessageId", chat.first_included_id, is_volatile=True),
    _viewed("firstDisplayedMessageId", chat.first_displayed_id, is_volatile=True),
    _viewed("lastSwipeId", chat.last_swipe_id, is_volatile=True),
    _viewed("currentSwipeId", chat.current_swipe_id, is_volatile=True),
    _viewed("allChatRange", chat.all_chat_range, is_volatile=True),
    _Step(
        up_to_close(prefix(r"\{\{reverse:"), least=1, in_line=True),
        lambda _run, g, _s: g[0][::-1],
    ),
    _Step(up_to_close(prefix(r"\{\{//"), least=0, in_line=False), lambda _run, _g, _s: ""),
    _viewed("time", lambda view: clock.show_time(view, "LT"), is_volatile=True),
    _viewed("date", lambda view: clock.show_time(view, "LL"), is_volatile=True),
    _viewed("weekday", lambda view: clock.show_time(view, "dddd"), is_volatile=True),
    _viewed("isotime", lambda view: clock.show_time(view, "HH:mm"), is_volatile=True),
    _viewed("isodate", lambda view: clock.show_time(view, "YYYY-MM-DD"), is_volatile=True),
    _Step(
        up_to_brace(prefix(r"\{\{datetimeformat +"), least=0),
        lambda run, g, _s: clock.show_time(run.ledger.view, g[0]),
        is_volatile=True,
    ),
    _viewed("idle_duration", clock.idle_duration, is_volatile=True),
    _Step(
        exact(prefix(r"\{\{time_UTC([-+][0-9]+)\}\}")),
        lambda run, g, _s: clock.time_at_offset(run.ledger.view, g[0]),
        is_volatile=True,
    ),
    _Step(
        up_to_close(prefix(r"\{\{outlet::"), least=1, in_line=True),
        lambda run, g, _s: run.ledger.view.outlets.get(strip(g[0]), ""),
        is_volatile=True,
    ),
    _Step(
        two_in_line(prefix(r"\{\{timeDiff::")),
        lambda run, g, _s: clock.time_difference(run.ledger.view, g[0], g[1]),
    ),
    _Step(quoted_in_line(prefix(r'\{\{banned "')), lambda _run, _g, _s: ""),
    _Step(up_to_brace(prefix(r"\{\{random\s?:"), extra_colon=True), _random, is_volatile=True),
    _Step(_pick_finder, _pick),
)
