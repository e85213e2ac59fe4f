"""Why a text can change from turn to turn, told from the macros in it.

Whether it can is known from running it (`Expander.last_volatile`); this only finds the words for it, when a
plan is looked at.
"""

from __future__ import annotations

import re

from preset_engine.macros.registry import Volatility, default_registry

_HEAD = re.compile(r"\{\{[\s!?~>#/]*([.$]?[A-Za-z][\w-]*)\s*(?:::?\s*)?([^{}:]*)")
_REASONS = {
    Volatility.clock: "the clock",
    Volatility.chance: "chance",
    Volatility.chat: "the chat's newest messages",
    Volatility.counter: "a counter",
}


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
