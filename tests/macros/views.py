"""Views that tests of the macro language share, in our own wording."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from preset_engine.context import Context
from preset_engine.macros.engine import Engine
from preset_engine.macros.expand import Expander
from preset_engine.macros.limits import DEFAULT_LIMITS, Limits
from preset_engine.macros.view import CardFields, MacroView, Variables
from preset_engine.messages import ChatRecord

NOW = datetime(2026, 2, 3, 16, 5, 9, tzinfo=UTC)
CARD = CardFields(
    description="{{char}} mends clocks.",
    personality="patient",
    scenario="{{user}} brings a watch.",
    examples="<START>\n{{user}}: Can it be mended?\n{{char}}: Most things can.",
    system_prompt="Be {{char}}.",
    post_history="Stay brief, {{char}}.",
    version="2.1",
    greetings=("Come in, {{user}}.", "We are closed."),
)
CHAT = (
    ChatRecord("Iva", "Come in."),
    ChatRecord("Jon", "It stopped.", is_user=True, sent_at="2026-02-03T15:00:00Z"),
    ChatRecord("Iva", "Let me see.", swipes=("Show me.", "Let me see."), swipe_index=1),
)


def view(**changes: Any) -> MacroView:
    """Jon brings a watch to Iva; nothing is random."""
    base = MacroView(
        user="Jon",
        char="Iva",
        persona="{{user}} repairs bicycles.",
        card=CARD,
        chat=CHAT,
        context=Context(clock=lambda: NOW, random=lambda: 0.5),
        chat_hash=4711,
        settings={"max_context": 8000, "max_response": 500, "model": "m-1"},
        outlets={"tools": "pliers"},
        variables=Variables(),
    )
    return replace(base, **changes)


def expander(
    engine: Engine = Engine.new, limits: Limits = DEFAULT_LIMITS, **changes: Any
) -> Expander:
    return Expander(view(**changes), engine=engine, limits=limits)


def new(text: str, **options: Any) -> str:
    return expander(Engine.new).expand(text, **options)


def legacy(text: str, **options: Any) -> str:
    return expander(Engine.legacy).expand(text, **options)


def native(text: str, **options: Any) -> str:
    return expander(Engine.native).expand(text, **options)


@cache
def many(text: str, times: int) -> str:
    return text * times
