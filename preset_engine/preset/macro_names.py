"""Which macro names the engine knows; the census asks here."""

from __future__ import annotations

_NAMES = frozenset(
    [
        "//",
        "user",
        "char",
        "group",
        "charifnotgroup",
        "groupnotmuted",
        "notchar",
        "persona",
        "description",
        "personality",
        "scenario",
        "mesexamples",
        "mesexamplesraw",
        "charprompt",
        "charinstruction",
        "charjailbreak",
        "chardepthprompt",
        "charversion",
        "setvar",
        "getvar",
        "addvar",
        "incvar",
        "decvar",
        "hasvar",
        "deletevar",
        "setglobalvar",
        "getglobalvar",
        "addglobalvar",
        "incglobalvar",
        "decglobalvar",
        "random",
        "pick",
        "roll",
        "trim",
        "noop",
        "newline",
        "space",
        "input",
        "lastmessage",
        "lastusermessage",
        "lastcharmessage",
        "lastmessageid",
        "time",
        "date",
        "weekday",
        "isotime",
        "isodate",
        "datetimeformat",
        "idle_duration",
        "timediff",
        "model",
        "if",
        "else",
        "original",
        "outlet",
        "summary",
    ]
)


def is_known_macro(name: str) -> bool:
    """Whether the engine expands a macro of this name (lower case)."""
    return name in _NAMES or name.startswith((".", "$"))
