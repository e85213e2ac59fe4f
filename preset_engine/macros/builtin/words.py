"""Small tools for text, and texts that other parts supply: outlets, the text box, the original prompt."""

from __future__ import annotations

from preset_engine.errors import ExpansionTooLarge
from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation, MacroRejected
from preset_engine.macros.js_numbers import to_number
from preset_engine.macros.registry import Handler, Macro, Parameter, Volatility
from preset_engine.macros.variables import show

_NEW = frozenset({Engine.new})
_COUNT = Parameter("count", "how many", is_optional=True, is_integer=True)


def _repeat(char: str) -> Handler:
    def handler(call: Invocation) -> str:
        count = to_number(call.argument(0, "1"))
        limit = call.run.ledger.limits.output_chars
        if count < 0:
            raise MacroRejected
        if count > limit:
            message = f"{{{{{call.name}}}}} of more than {limit} characters"
            raise ExpansionTooLarge(message)
        return char * int(count)

    return handler


def _reverse(call: Invocation) -> str:
    return call.argument(0)[::-1]


def _input(call: Invocation) -> str:
    return show(call.view.settings.get("input_text", ""))


def _outlet(call: Invocation) -> str:
    return call.view.outlets.get(call.argument(0), "")


def _original(call: Invocation) -> str:
    if not call.run.has_original:
        raise MacroRejected
    return call.run.take_original()


MACROS = (
    Macro(
        "space",
        "One or more spaces.",
        "{{space::4}}",
        _repeat(" "),
        (_COUNT,),
        engines=_NEW,
        subject="words",
    ),
    Macro(
        "newline",
        "One or more line breaks.",
        "{{newline::2}}",
        _repeat("\n"),
        (_COUNT,),
        subject="words",
    ),
    Macro(
        "reverse",
        "The text backwards.",
        "{{reverse::stressed}}",
        _reverse,
        (Parameter("text", "any text"),),
        subject="words",
    ),
    Macro(
        "input",
        "What stands in the text box.",
        "{{input}}",
        _input,
        volatility=Volatility.chat,
        subject="words",
    ),
    Macro(
        "outlet",
        "The texts of world-book entries that go to this outlet.",
        "{{outlet::gear}}",
        _outlet,
        (Parameter("key", "name of the outlet"),),
        volatility=Volatility.chat,
        subject="words",
    ),
    Macro(
        "original",
        "The preset's own text, once, inside a text that replaces it; elsewhere it stays as written.",
        "{{original}}",
        _original,
        subject="words",
    ),
)
