"""Chance: a random item, a lasting pick, dice.

`random` and `roll` draw from the context's random source. `pick` draws nothing: its choice follows from the
chat, the text and the place, so it lasts as long as those do.
"""

from __future__ import annotations

import math
import re

from preset_engine.errors import ExpansionTooLarge
from preset_engine.macros.engine import Engine
from preset_engine.macros.hashing import cyrb53, first_draw
from preset_engine.macros.invocation import Invocation
from preset_engine.macros.js_numbers import print_number, strip
from preset_engine.macros.registry import Macro, Parameter, Volatility
from preset_engine.macros.run import Run

_DICE = re.compile(r"([1-9][0-9]*)?d([1-9][0-9]*)([+-][0-9]+)?", re.IGNORECASE | re.ASCII)
_COMMA = re.compile(r"(?<!\\),")


def split_items(text: str, *, trims_pairs: bool = True) -> list[str]:
    r"""The items of a list in one text: `::` divides if there is one, else commas; `\,` is a comma."""
    if "::" in text:
        parts = text.split("::")
        return [strip(part) for part in parts] if trims_pairs else parts
    return [strip(part).replace("\\,", ",") for part in _COMMA.split(text)]


def list_items(arguments: tuple[str, ...]) -> list[str]:
    """The items of a macro with a list: its arguments, or those in the only one."""
    return split_items(arguments[0]) if len(arguments) == 1 else list(arguments)


def choose(items: list[str], number: float) -> str:
    """The item a number in [0, 1) falls on."""
    return items[min(math.floor(number * len(items)), len(items) - 1)] if items else ""


def pick_number(run: Run, offset: int, *, as_number: bool) -> float:
    """The number in [0, 1) that belongs to a chat, a text and a place in it.

    Args:
        run: the expansion.
        offset: place of the macro, in UTF-16 units.
        as_number: the legacy engine seeds with a number, which the generator writes with a NUL behind.
    """
    view = run.ledger.view
    reroll = view.settings.get("pick_reroll_seed")
    parts = [view.chat_hash, run.source_hash(), offset, *([reroll] if reroll else [])]
    seed = str(cyrb53("-".join(str(part) for part in parts)))
    return first_draw(seed + "\0" if as_number else seed)


def roll_dice(run: Run, formula: str) -> str:
    """The sum of dice like `2d6+1`; a bare number is one die; anything else is empty.

    Raises:
        ExpansionTooLarge: more dice than the limit.
    """
    formula = f"1d{formula}" if re.fullmatch("[0-9]+", formula) else formula
    match = _DICE.fullmatch(formula)
    if match is None or len(formula) > 60:
        return ""
    count, sides, extra = int(match[1] or 1), int(match[2]), int(match[3] or 0)
    limit = run.ledger.limits.list_items
    if count > limit:
        message = f"{{{{roll}}}} of {count} dice; the limit is {limit}"
        raise ExpansionTooLarge(message)
    run.cost.spend(20 * count)
    draw = run.ledger.draw
    return print_number(float(sum(math.floor(draw() * sides) + 1 for _ in range(count)) + extra))


def _random(call: Invocation) -> str:
    items = list_items(call.arguments)
    return choose(items, call.draw()) if items else ""


def _pick(call: Invocation) -> str:
    items = list_items(call.arguments)
    return choose(items, pick_number(call.run, call.offset, as_number=False)) if items else ""


def _roll(call: Invocation) -> str:
    return roll_dice(call.run, call.argument(0))


MACROS = (
    Macro(
        "random",
        "One of the items, drawn anew each time. A single argument is cut at `::` or at commas.",
        "{{random::red::green}}",
        _random,
        takes_list=True,
        volatility=Volatility.chance,
        subject="chance",
    ),
    Macro(
        "pick",
        "One of the items, the same as long as chat, text and place are the same.",
        "{{pick::red::green}}",
        _pick,
        takes_list=True,
        subject="chance",
    ),
    Macro(
        "roll",
        "The sum of dice; a bare number is one die of so many sides.",
        "{{roll:2d6+1}}",
        _roll,
        (Parameter("formula", "`2d6+1`, `d20` or `20`"),),
        volatility=Volatility.chance,
        engines=frozenset(Engine),
        subject="chance",
    ),
)
