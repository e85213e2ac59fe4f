"""Why a text can change from turn to turn, told from the macros in it.

Whether it can is known from running it (`Expander.last_volatile`); this only finds the words for it, when a
plan is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from preset_engine.macros.registry import Volatility, default_registry

_HEAD = re.compile(r"\{\{[\s!?~>#/]*([.$]?[A-Za-z][\w-]*)\s*(?:::?\s*)?([^{}:]*)")
_REASONS = {
    Volatility.clock: "the clock",
    Volatility.chance: "chance",
    Volatility.chat: "the chat's newest messages",
    Volatility.counter: "a counter",
}


_WRITES = frozenset({"setvar", "setglobalvar"})


@lru_cache(maxsize=4096)
def variable_uses(raw: str) -> tuple[tuple[str, str, bool], ...]:
    """The variables a text speaks of, in order: store (`local`, `global`), name, whether it only sets it."""
    found: list[tuple[str, str, bool]] = []
    for name, argument in _HEAD.findall(raw):
        lower = name.lower()
        if name[0] in ".$":
            found.append(("global" if name[0] == "$" else "local", name[1:], False))
        elif "var" in lower:
            store = "global" if "global" in lower else "local"
            found.append((store, argument.strip(), lower in _WRITES))
    return tuple(found)


def reads_old(raw: str, changed: Collection[tuple[str, str]], known: set[tuple[str, str]]) -> bool:
    """Whether a text reads a variable that this assembly changes only later.

    Args:
        raw: the text.
        changed: variables that are not what they were when the assembly began, by store and name.
        known: variables that texts before have set; those of this text are added.
    """
    is_old = False
    for store, name, only_sets in variable_uses(raw):
        key = (store, name)
        if not only_sets and key in changed and key not in known:
            is_old = True
        known.add(key)
    return is_old


def cause_of(raw: str) -> str:
    """What makes a raw text change: the first volatile macro, else the first variable it reads."""
    registry = default_registry()
    variable = ""
    for name, argument in _HEAD.findall(raw):
        macro = registry.find(name)
        if macro is not None and macro.volatility in _REASONS:
            return f"{_REASONS[macro.volatility]} ({{{{{name}}}}})"
        if not variable and ("var" in name.lower() or name[0] in ".$"):
            variable = (
                f"a variable ({{{{{name}{'::' + argument.strip() if argument.strip() else ''}}}}})"
            )
    return variable or "a macro in it"
