"""Who is who: the user, the speaking character, the members of a group."""

from __future__ import annotations

from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation
from preset_engine.macros.native import DEFAULT_NAME
from preset_engine.macros.registry import Macro
from preset_engine.macros.view import MacroView

_EVERYWHERE = frozenset(Engine)


def group_names(view: MacroView) -> str:
    """All members' names, or the character's name in a chat of two."""
    return ", ".join(view.group) if view.group else view.char


def unmuted_names(view: MacroView) -> str:
    """The unmuted members' names, or the character's name in a chat of two."""
    return ", ".join(view.group_not_muted) if view.group else view.char


def other_names(view: MacroView, *, with_user: bool) -> str:
    """Everyone but the speaker; in a chat of two the user."""
    if not view.group:
        return view.user
    others = [name for name in view.group_not_muted if name != view.char]
    return ", ".join([*others, view.user] if with_user else others)


def _user(call: Invocation) -> str:
    is_native = call.run.ledger.engine is Engine.native
    return call.view.user or (DEFAULT_NAME if is_native else "")


def _char(call: Invocation) -> str:
    return call.view.char


def _group(call: Invocation) -> str:
    return group_names(call.view)


def _group_not_muted(call: Invocation) -> str:
    return unmuted_names(call.view)


def _not_char(call: Invocation) -> str:
    return other_names(call.view, with_user=call.run.ledger.engine is Engine.legacy)


MACROS = (
    Macro("user", "The user's name.", "{{user}}", _user, engines=_EVERYWHERE, subject="names"),
    Macro(
        "char",
        "The name of the character that speaks.",
        "{{char}}",
        _char,
        engines=_EVERYWHERE,
        subject="names",
    ),
    Macro(
        "group",
        "The names of all group members, muted ones too; the character's name in a chat of two.",
        "{{group}}",
        _group,
        aliases=("charIfNotGroup",),
        subject="names",
    ),
    Macro(
        "groupNotMuted",
        "The names of the members that are not muted.",
        "{{groupNotMuted}}",
        _group_not_muted,
        subject="names",
    ),
    Macro(
        "notChar",
        "The names of everyone but the speaker; the legacy engine adds the user in groups.",
        "{{notChar}}",
        _not_char,
        subject="names",
    ),
)
