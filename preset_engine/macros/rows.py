"""Answers one row of a macro table: a text and the changes it makes to the variables.

A row is an object with `input`, an `id` and `options` (`local`, `global`: variables to add, `original`,
`replaceCharacterCard`: false takes the card macros away). Every row starts from the same view.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from preset_engine.errors import UnreadableInput
from preset_engine.json_values import as_object
from preset_engine.macros.engine import Engine
from preset_engine.macros.expand import Expander
from preset_engine.macros.scenario import with_options
from preset_engine.macros.view import MacroView
from preset_engine.messages import JsonObject, JsonValue


def answer_row(view: MacroView, row: Mapping[str, JsonValue], engine: Engine) -> JsonObject:
    """The answer: `id`, `output`, and `local_after` / `global_after` where a store changed.

    Raises:
        UnreadableInput: the row has no text under `input`.
        MacroError: the text is over a limit.
    """
    text, given = row.get("input"), row.get("options")
    if not isinstance(text, str):
        raise UnreadableInput("a row needs a text under 'input'")
    options = as_object(given)
    expander = Expander(with_options(view, options), engine=engine)
    return {"id": row.get("id"), **answer_text(expander, text, options)}


def answer_text(expander: Expander, text: str, options: Mapping[str, JsonValue]) -> JsonObject:
    """As `answer_row`, for a text and an expander."""
    variables = expander.view.variables
    local, shared = dict(variables.local), dict(variables.shared)
    original = options.get("original")
    answer: JsonObject = {
        "output": expander.expand(
            text,
            original=original if isinstance(original, str) else None,
            card_macros=options.get("replaceCharacterCard") is not False,
        )
    }
    if variables.local != local:
        answer["local_after"] = {key: _plain(value) for key, value in variables.local.items()}
    if variables.shared != shared:
        answer["global_after"] = {key: _plain(value) for key, value in variables.shared.items()}
    return answer


def _plain(value: JsonValue) -> JsonValue:
    """A value that JSON can hold: infinite numbers become null, as in JavaScript."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
