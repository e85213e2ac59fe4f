"""Macros that only a third-party extension of SillyTavern can answer: known by name, kept as text.

They are listed so that a report can say whose they are, instead of calling them misspelt.
"""

from __future__ import annotations

from preset_engine.macros.engine import Engine
from preset_engine.macros.registry import Macro, Volatility

_OWNERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("SimTracker", ("sim_tracker", "sim_displays", "sim_format", "last_sim_stats")),
    ("a memory extension", ("short_term_memory", "long_term_memory")),
    (
        "Tavern Helper",
        (
            "get_message_variable",
            "format_message_variable",
            "get_chat_variable",
            "format_chat_variable",
            "get_global_variable",
            "format_global_variable",
            "userAvatarPath",
            "charAvatarPath",
        ),
    ),
    ("Lumiverse Helper", ("lumiaDef", "lumiaBehavior", "lumiaPersonality", "loomStyle")),
)

MACROS = tuple(
    Macro(
        name,
        f"Supplied by {owner}; stays as written here.",
        f"{{{{{name}}}}}",
        None,
        takes_list=True,
        volatility=Volatility.chat,
        engines=frozenset(Engine),
        subject="foreign",
        owner=owner,
    )
    for owner, names in _OWNERS
    for name in names
)
