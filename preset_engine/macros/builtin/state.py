"""Limits, model and switches of the running generation, from `MacroView.settings`."""

from __future__ import annotations

from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation
from preset_engine.macros.registry import Handler, Macro, Parameter, Volatility
from preset_engine.macros.variables import number_of, show
from preset_engine.macros.view import MacroView

_NEW = frozenset({Engine.new})


def max_prompt(view: MacroView) -> str:
    """Context size less the room for the reply."""
    context, reply = view.settings.get("max_context"), view.settings.get("max_response")
    if context is None:
        return ""
    return show(number_of(context) - number_of(reply))


def setting(view: MacroView, name: str, default: str = "") -> str:
    """A setting as text."""
    value = view.settings.get(name)
    return default if value is None else show(value)


def _setting(name: str, default: str = "") -> Handler:
    return lambda call: setting(call.view, name, default)


def _has_extension(call: Invocation) -> str:
    extensions = call.view.settings.get("extensions")
    names = extensions if isinstance(extensions, list) else []
    return "true" if call.argument(0) in names else "false"


def _max_prompt(call: Invocation) -> str:
    return max_prompt(call.view)


MACROS = (
    Macro(
        "maxPrompt",
        "Tokens for the prompt: context less reply.",
        "{{maxPrompt}}",
        _max_prompt,
        aliases=("maxPromptTokens",),
        subject="state",
    ),
    Macro(
        "maxContext",
        "Tokens of the context.",
        "{{maxContext}}",
        _setting("max_context"),
        aliases=("maxContextTokens",),
        subject="state",
    ),
    Macro(
        "maxResponse",
        "Tokens of the reply.",
        "{{maxResponse}}",
        _setting("max_response"),
        aliases=("maxResponseTokens",),
        subject="state",
    ),
    Macro("model", "The model's name.", "{{model}}", _setting("model"), subject="state"),
    Macro(
        "isMobile",
        "`true` on a phone; the caller tells.",
        "{{isMobile}}",
        _setting("is_mobile", "false"),
        subject="state",
    ),
    Macro(
        "lastGenerationType",
        "Type of the previous generation of this chat; empty before the first.",
        "{{lastGenerationType}}",
        _setting("last_generation_type"),
        volatility=Volatility.chat,
        subject="state",
    ),
    Macro(
        "hasExtension",
        "`true` if an extension is switched on; the caller lists them.",
        "{{hasExtension::summarize}}",
        _has_extension,
        (Parameter("name", "of the extension"),),
        engines=_NEW,
        subject="state",
    ),
)
