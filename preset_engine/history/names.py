"""Names in a stored chat, expanded once when it is loaded.

The native dialect runs no macros over the history: it is data, and a text that changes breaks the cached prefix.
Chats of SillyTavern hold `{{user}}` and `{{char}}` all the same, so their names are put in when the chat is
read, and a note says how often.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from preset_engine.errors import Note, Weight
from preset_engine.messages import ChatRecord

_NAMES = re.compile(r"\{\{(user|char)\}\}|<(USER|BOT|CHAR)>", re.IGNORECASE)


def expand_names(
    records: Sequence[ChatRecord], user: str, char: str
) -> tuple[tuple[ChatRecord, ...], tuple[Note, ...]]:
    """The records with the names put in; records without one stay the same objects.

    Args:
        records: the chat, oldest first.
        user: the user's name; empty leaves its macros as they are.
        char: the character's name; likewise.

    Returns:
        The records, and one note when anything changed.
    """
    changed = 0
    found: list[ChatRecord] = []
    for record in records:
        text = _with_names(record.text, user, char)
        if text == record.text:
            found.append(record)
            continue
        changed += 1
        swipes = tuple(_with_names(swipe, user, char) for swipe in record.swipes)
        found.append(replace(record, text=text, swipes=swipes))
    if not changed:
        return tuple(records), ()
    note = Note(
        "chat-names-expanded",
        f"names were put into the chat once, while it was loaded (records: {changed})",
        path="history",
        advice="nothing to do: the history itself runs no macros",
        weight=Weight.INFO,
        count=changed,
    )
    return tuple(found), (note,)


def _with_names(text: str, user: str, char: str) -> str:
    if "{{" not in text and "<" not in text:
        return text

    def name(found: re.Match[str]) -> str:
        macro = (found[1] or found[2]).lower()
        return (user if macro == "user" else char) or found[0]

    return _NAMES.sub(name, text)
