"""The steps of the legacy engine, in their order: what each looks for and what it puts in its place."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from preset_engine.macros import steps
from preset_engine.macros.builtin import card, chance, chat, clock, names, state, templates
from preset_engine.macros.builtin.variables import add_variable, get_variable, set_variable
from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation
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
from preset_engine.macros.registry import Macro
from preset_engine.macros.run import Run
from preset_engine.macros.view import MacroView

Answer = Callable[[Run, tuple[str, ...], int], str]


@dataclass(frozen=True, slots=True)
class Step:
    """One replacement: where it applies, what stands there instead, whether that may change.

    `sign` is the lower-case beginning that must be in the text; looking for it first saves most of the work.
    """

    sign: str
    find: Finder
    answer: Answer
    is_volatile: bool = False
    is_tag: bool = False


def named(name: str, value: Callable[[Run], str], *, is_volatile: bool = False) -> Step:
    """The step of a macro without arguments."""
    opening = "{{" + name + "}}"
    return Step(
        opening.lower(),
        exact(prefix(re.escape(opening))),
        lambda run, _groups, _start: value(run),
        is_volatile,
    )


def _viewed(name: str, value: Callable[[MacroView], str], *, is_volatile: bool = False) -> Step:
    return named(name, lambda run: value(run.ledger.view), is_volatile=is_volatile)


def answer_of(macro: Macro) -> Callable[[Run], str]:
    """What a macro's own function answers; the old engine gives it no arguments."""

    def answer(run: Run) -> str:
        assert macro.handler is not None
        return macro.handler(Invocation(macro.name, (), run))

    return answer


def _tag(name: str, value: Callable[[MacroView], str]) -> Step:
    opening = f"<{name}>"
    return Step(
        opening.lower(),
        exact(prefix(opening)),
        lambda run, _g, _s: value(run.ledger.view),
        is_tag=True,
    )


def _field(name: str, field: str) -> Step:
    raw = card.FIELDS[field]
    return named(name, lambda run: run.card_text(field, raw(run.ledger.view)))


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


def _variable_steps() -> Iterator[Step]:
    """First the chat's store, then the user's."""
    yield from _store_steps("local", "")
    yield from _store_steps("global", "global")


def _store_steps(scope: str, mid: str) -> Iterator[Step]:
    """All setting before all adding before all reading; `mid` stands in the names of the store's macros."""
    yield Step(
        "{{set" + mid + "var::",
        name_and_value(prefix(r"\{\{set" + mid + "var::"), least=0),
        lambda run, g, _s: set_variable(run, scope, strip(g[0]), g[1], is_tainted=False),
    )
    yield Step(
        "{{add" + mid + "var::",
        name_and_value(prefix(r"\{\{add" + mid + "var::"), least=1),
        lambda run, g, _s: _added(run, scope, g),
    )
    yield _counting(scope, "inc" + mid + "var", 1)
    yield _counting(scope, "dec" + mid + "var", -1)
    yield Step(
        "{{get" + mid + "var::",
        up_to_brace(prefix(r"\{\{get" + mid + "var::")),
        lambda run, g, _s: get_variable(run, scope, strip(g[0])),
    )


def _added(run: Run, scope: str, groups: tuple[str, ...]) -> str:
    add_variable(run, scope, strip(groups[0]), groups[1], is_tainted=False)
    return ""


def _counting(scope: str, name: str, size: int) -> Step:
    return Step(
        "{{" + name + "::",
        up_to_brace(prefix(r"\{\{" + name + "::")),
        lambda run, g, _s: add_variable(run, scope, strip(g[0]), size, is_tainted=False),
        is_volatile=True,
    )


def _template_steps() -> Iterator[Step]:
    for macro in templates.MACROS:
        for name in macro.names(Engine.legacy):
            yield named(name, answer_of(macro))


_PICK = up_to_brace(prefix(r"\{\{pick\s?:"), extra_colon=True)

TAGS = (
    _tag("USER", lambda view: view.user),
    _tag("BOT", lambda view: view.char),
    _tag("CHAR", lambda view: view.char),
    _tag("CHARIFNOTGROUP", names.group_names),
    _tag("GROUP", names.group_names),
)
FIRST = (
    Step("{{roll", up_to_brace(prefix(r"\{\{roll[ :]")), _roll, is_volatile=True),
    *_template_steps(),
    *_variable_steps(),
    named("newline", lambda _: "\n"),
    Step("{{trim}}", steps.find_trims, lambda _run, _g, _s: ""),
    named("noop", lambda _: ""),
    _viewed("input", lambda view: state.setting(view, "input_text"), is_volatile=True),
)
CARD = (
    _field("charPrompt", "system_prompt"),
    _field("charInstruction", "post_history"),
    _field("charJailbreak", "post_history"),
    _field("description", "description"),
    _field("personality", "personality"),
    _field("scenario", "scenario"),
    _field("persona", "persona"),
    named("mesExamples", _examples),
    _field("mesExamplesRaw", "examples"),
    _viewed("charVersion", lambda view: view.card.version),
    _viewed("char_version", lambda view: view.card.version),
    _field("charDepthPrompt", "depth_prompt"),
    _field("creatorNotes", "creator_notes"),
)
NAMES = (
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
LAST = (
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
    Step(
        "{{reverse:",
        up_to_close(prefix(r"\{\{reverse:"), least=1, in_line=True),
        lambda _run, g, _s: g[0][::-1],
    ),
    Step("{{//", up_to_close(prefix(r"\{\{//"), least=0, in_line=False), lambda _run, _g, _s: ""),
    _viewed("time", lambda view: clock.show_time(view, "LT"), is_volatile=True),
    _viewed("date", lambda view: clock.show_time(view, "LL"), is_volatile=True),
    _viewed("weekday", lambda view: clock.show_time(view, "dddd"), is_volatile=True),
    _viewed("isotime", lambda view: clock.show_time(view, "HH:mm"), is_volatile=True),
    _viewed("isodate", lambda view: clock.show_time(view, "YYYY-MM-DD"), is_volatile=True),
    Step(
        "{{datetimeformat ",
        up_to_brace(prefix(r"\{\{datetimeformat +"), least=0),
        lambda run, g, _s: clock.show_time(run.ledger.view, g[0]),
        is_volatile=True,
    ),
    _viewed("idle_duration", clock.idle_duration, is_volatile=True),
    Step(
        "{{time_utc",
        exact(prefix(r"\{\{time_UTC([-+][0-9]+)\}\}")),
        lambda run, g, _s: clock.time_at_offset(run.ledger.view, g[0]),
        is_volatile=True,
    ),
    Step(
        "{{outlet::",
        up_to_close(prefix(r"\{\{outlet::"), least=1, in_line=True),
        lambda run, g, _s: run.ledger.view.outlets.get(strip(g[0]), ""),
        is_volatile=True,
    ),
    Step(
        "{{timediff::",
        two_in_line(prefix(r"\{\{timeDiff::")),
        lambda run, g, _s: clock.time_difference(run.ledger.view, g[0], g[1]),
    ),
    Step('{{banned "', quoted_in_line(prefix(r'\{\{banned "')), lambda _run, _g, _s: ""),
    Step(
        "{{random",
        up_to_brace(prefix(r"\{\{random\s?:"), extra_colon=True),
        _random,
        is_volatile=True,
    ),
    Step("{{pick", _pick_finder, _pick),
)
