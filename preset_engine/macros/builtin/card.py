"""The card's fields and the persona, expanded when they are read.

A field is expanded as a text of its own, without card macros: `{{personality}}` inside a description is
empty in the new engine. Within one call a field is expanded once.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation
from preset_engine.macros.js_numbers import strip, to_number
from preset_engine.macros.native import persona_line
from preset_engine.macros.registry import Handler, Macro, Parameter
from preset_engine.macros.view import MacroView

_START = re.compile("<START>", re.IGNORECASE | re.ASCII)

FIELDS: dict[str, Callable[[MacroView], str]] = {
    "system_prompt": lambda view: _allowed(
        view, "prefer_character_prompt", view.card.system_prompt
    ),
    "examples": lambda view: view.card.examples,
    "description": lambda view: view.card.description,
    "personality": lambda view: view.card.personality,
    "persona": lambda view: view.persona,
    "scenario": lambda view: view.card.scenario,
    "post_history": lambda view: _allowed(
        view, "prefer_character_jailbreak", view.card.post_history
    ),
    "depth_prompt": lambda view: view.card.depth_prompt,
    "creator_notes": lambda view: view.card.creator_notes,
    "greeting:0": lambda view: view.card.greetings[0] if view.card.greetings else "",
}
"""Raw texts by field, in the order in which SillyTavern expands them."""


def _allowed(view: MacroView, switch: str, text: str) -> str:
    return text if view.settings.get(switch, True) else ""


def example_blocks(examples: str) -> str:
    """Dialogue examples with every block on its own lines behind `<START>`."""
    if not examples or examples == "<START>":
        return ""
    blocks = _START.split(examples if examples.startswith("<START>") else f"<START>\n{examples}")
    return "".join(f"<START>\n{strip(block)}\n" for block in blocks[1:])


def _field(name: str) -> Handler:
    raw = FIELDS[name]
    return lambda call: call.run.card_text(name, raw(call.view))


def _persona(call: Invocation) -> str:
    if call.run.ledger.engine is Engine.native:
        return persona_text(call)
    return call.run.card_text("persona", call.view.persona)


def persona_text(call: Invocation) -> str:
    """The native rule: the description, else a line with the name, else nothing."""
    view = call.view
    has_card = call.run.has_card
    text = call.run.card_text("persona", view.persona) if view.persona.strip() else ""
    return persona_line(view.user, text) if has_card else ""


def _examples(call: Invocation) -> str:
    return example_blocks(call.run.card_text("examples", call.view.card.examples))


def _version(call: Invocation) -> str:
    return call.view.card.version if call.run.has_card else ""


def _greeting(call: Invocation) -> str:
    number = to_number(call.argument(0, "0"))
    greetings = call.view.card.greetings
    if not 0 <= number < len(greetings):
        return ""
    index = int(number)
    return call.run.card_text(f"greeting:{index}", greetings[index])


def _card(name: str, aliases: tuple[str, ...], meaning: str, field: str) -> Macro:
    return Macro(
        name,
        meaning,
        f"{{{{{name}}}}}",
        _field(field),
        aliases=aliases,
        subject="card",
        legacy_names=aliases,
    )


_NEW = frozenset({Engine.new})

MACROS = (
    _card(
        "charPrompt", (), "The card's own main prompt, where the user allows it.", "system_prompt"
    ),
    _card(
        "charInstruction",
        (),
        "The card's own text behind the history, where the user allows it.",
        "post_history",
    ),
    Macro(
        "charJailbreak",
        "Old name of `charInstruction`.",
        "{{charJailbreak}}",
        _field("post_history"),
        engines=frozenset({Engine.legacy}),
        subject="card",
    ),
    _card("charDescription", ("description",), "The character's description.", "description"),
    _card("charPersonality", ("personality",), "The character's personality.", "personality"),
    _card("charScenario", ("scenario",), "The scenario.", "scenario"),
    Macro(
        "persona",
        "The user's persona; natively the description, else a line with the name.",
        "{{persona}}",
        _persona,
        engines=frozenset(Engine),
        subject="card",
    ),
    Macro(
        "mesExamples",
        "The dialogue examples, each block behind `<START>`.",
        "{{mesExamples}}",
        _examples,
        subject="card",
    ),
    _card("mesExamplesRaw", (), "The dialogue examples as the card has them.", "examples"),
    _card("charDepthPrompt", (), "The card's note for a depth of the chat.", "depth_prompt"),
    _card("charCreatorNotes", ("creatorNotes",), "The creator's notes.", "creator_notes"),
    Macro(
        "charFirstMessage",
        "A greeting: 0 is the first message, 1 and up the alternates; empty beyond.",
        "{{greeting::1}}",
        _greeting,
        (Parameter("index", "which greeting", is_optional=True, is_integer=True),),
        aliases=("greeting",),
        engines=_NEW,
        subject="card",
    ),
    Macro(
        "charVersion",
        "The card's version.",
        "{{charVersion}}",
        _version,
        aliases=("version", "char_version"),
        legacy_names=("charVersion", "char_version"),
        subject="card",
    ),
)
