"""The first line of a new session with a character card: its greeting, the others as swipes.

SillyTavern shows a card's greeting as soon as a chat is opened and stores it as the chat's first message; its
alternates are that message's swipes. A session does the same when it is made, so that every later prompt
begins alike. Names are put in once; other macros stay as written, and the dialect sillytavern runs them.
"""

from __future__ import annotations

from preset_engine.content.card import read_card
from preset_engine.content.content import Content
from preset_engine.macros.native import put_names
from preset_engine.messages import Role
from preset_engine.session.record import SessionRecord


def greeting(content: Content, now: str) -> SessionRecord | None:
    """The record of the card's greeting, or None without a card or a greeting."""
    if content.card is None:
        return None
    card = read_card(content.card)
    persona = content.persona
    char = card.name or content.char or "Assistant"
    about = persona.description if persona else ""
    texts = [
        put_names(text, content.user_name, char, about) for text in card.fields.greetings if text
    ]
    if not texts:
        return None
    alternatives = tuple(texts) if len(texts) > 1 else ()
    return SessionRecord(Role.ASSISTANT.value, texts[0], timestamp=now, alternatives=alternatives)


def first_records(content: Content, opening: str | None, now: str) -> tuple[SessionRecord, ...]:
    """What a new root starts with: the given line, else the card's greeting; an empty line is none."""
    if opening is None:
        record = greeting(content, now)
        return () if record is None else (record,)
    return (SessionRecord(Role.ASSISTANT.value, opening, timestamp=now),) if opening else ()
