"""Variable shorthands: `{{.name}}`, `{{$name += 1}}` and the other operators.

`.` is the chat's store, `$` the user's. The value behind an operator is expanded only where it is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from preset_engine.macros import variables
from preset_engine.macros.js_numbers import tidy, to_number
from preset_engine.macros.nodes import Shorthand
from preset_engine.macros.run import Run
from preset_engine.macros.variables import number_of, read, show
from preset_engine.messages import JsonValue

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
}


def is_false(text: str) -> bool:
    """Whether a text means no: empty, or `off`, `false`, `0` with blanks around. Blanks alone mean yes."""
    return not text or text.strip().lower() in {"off", "false", "0"}


def apply_shorthand(run: Run, node: Shorthand, given: Callable[[], str]) -> str:
    """The text a shorthand prints; sets the variable where the operator says so.

    Args:
        run: the expansion.
        node: the parsed shorthand.
        given: expands the value behind the operator; called at most once.
    """
    scope = "global" if node.is_shared else "local"
    store, limits = run.ledger.store(scope), run.ledger.limits
    name, operator = node.name, node.operator
    current = read(store, name)
    key = (scope, name)
    if operator in {"++", "--", "+=", "-="}:
        return _count(run, key, operator, given)
    run.cost.is_volatile |= key in run.ledger.tainted
    if operator == "":
        return show(current)
    if operator in {"??", "??=", "||", "||="}:
        keeps = name in store if operator[0] == "?" else not _is_falsy(current)
        if keeps:
            return show(current)
        value = given()
        if operator[-1] == "=":
            _set(run, key, value)
        return value
    if operator == "=":
        was_volatile, run.cost.is_volatile = run.cost.is_volatile, False
        value = given()
        _set(run, key, value)
        run.cost.is_volatile = was_volatile
        variables.write(store, name, value, limits)
        return ""
    return "true" if _holds(operator, current, given()) else "false"


def _is_falsy(value: JsonValue) -> bool:
    return not value or is_false(show(value))


def _holds(operator: str, current: JsonValue, value: str) -> bool:
    if operator == "==":
        return show(current) == value
    if operator == "!=":
        return show(current) != value
    left, right = number_of(current), to_number(value)
    return not math.isnan(left) and not math.isnan(right) and _COMPARE[operator](left, right)


def _set(run: Run, key: tuple[str, str], value: str) -> None:
    variables.write(run.ledger.store(key[0]), key[1], value, run.ledger.limits)
    if run.cost.is_volatile:
        run.ledger.tainted.add(key)
    else:
        run.ledger.tainted.discard(key)
        run.ledger.settled.add(key)


def _count(run: Run, key: tuple[str, str], operator: str, given: Callable[[], str]) -> str:
    store, limits = run.ledger.store(key[0]), run.ledger.limits
    if key not in run.ledger.settled:
        run.ledger.tainted.add(key)
    if operator in {"++", "--"}:
        run.cost.is_volatile |= key in run.ledger.tainted
        return show(variables.add(store, key[1], 1 if operator == "++" else -1, limits))
    value = given()
    if operator == "+=":
        variables.add(store, key[1], value, limits)
        return ""
    number = to_number(value)
    if not math.isnan(number):
        variables.add(store, key[1], tidy(-number), limits)
    return ""
