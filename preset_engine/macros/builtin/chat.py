"""The chat so far: its last messages, their numbers and swipes."""

from __future__ import annotations

from collections.abc import Callable

from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation
from preset_engine.macros.registry import Macro, Volatility
from preset_engine.macros.variables import show
from preset_engine.macros.view import MacroView
from preset_engine.messages import ChatRecord


def last_index(
    view: MacroView, wanted: Callable[[ChatRecord], bool] = lambda _: True
) -> int | None:
    """Number of the newest wanted record; a record whose next swipe is being made does not count."""
    newest = len(view.chat) - 1
    for index in range(newest, -1, -1):
        is_being_swiped = index == newest and view.is_swipe
        if not is_being_swiped and wanted(view.chat[index]):
            return index
    return None


def _text(view: MacroView, index: int | None) -> str:
    return "" if index is None else view.chat[index].text


def last_message(view: MacroView) -> str:
    """The newest message."""
    return _text(view, last_index(view))


def last_message_id(view: MacroView) -> str:
    """The number of the newest message."""
    return _number(last_index(view))


def last_user_message(view: MacroView) -> str:
    """The newest message of the user that is not hidden."""
    return _text(view, last_index(view, lambda record: record.is_user and not record.is_hidden))


def last_char_message(view: MacroView) -> str:
    """The newest message of a character that is not hidden."""
    return _text(view, last_index(view, lambda record: not (record.is_user or record.is_hidden)))


def last_swipe_id(view: MacroView) -> str:
    """How many swipes the newest message has."""
    return str(len(view.chat[-1].swipes)) if view.chat and view.chat[-1].swipes else ""


def current_swipe_id(view: MacroView) -> str:
    """Which swipe of the newest message is chosen, counted from 1."""
    return str(view.chat[-1].swipe_index + 1) if view.chat and view.chat[-1].swipes else ""


def all_chat_range(view: MacroView) -> str:
    """First and last message number."""
    return f"0-{len(view.chat) - 1}" if view.chat else ""


def first_included_id(view: MacroView) -> str:
    """Number of the oldest message of the last prompt; the caller tells."""
    return show(view.settings.get("first_included_message_id"))


def first_displayed_id(view: MacroView) -> str:
    """Number of the oldest message on the screen; the whole chat is shown unless the caller tells."""
    default = 0 if view.chat else None
    return show(view.settings.get("first_displayed_message_id", default))


def _number(index: int | None) -> str:
    return "" if index is None else str(index)


def _macro(
    name: str,
    meaning: str,
    answer: Callable[[MacroView], str],
    engines: frozenset[Engine] = frozenset({Engine.new, Engine.legacy}),
) -> Macro:
    def handler(call: Invocation) -> str:
        return answer(call.view)

    return Macro(
        name,
        meaning,
        f"{{{{{name}}}}}",
        handler,
        volatility=Volatility.chat,
        engines=engines,
        subject="chat",
    )


MACROS = (
    _macro("lastMessage", "The newest message.", last_message),
    _macro("lastMessageId", "The number of the newest message, from 0.", last_message_id),
    _macro(
        "lastUserMessage",
        "The user's newest message; hidden ones do not count.",
        last_user_message,
        frozenset(Engine),
    ),
    _macro(
        "lastCharMessage",
        "The newest message of a character; hidden ones do not count.",
        last_char_message,
    ),
    _macro(
        "firstIncludedMessageId",
        "The number of the oldest message in the last prompt.",
        first_included_id,
    ),
    _macro(
        "firstDisplayedMessageId",
        "The number of the oldest message on the screen.",
        first_displayed_id,
    ),
    _macro("lastSwipeId", "How many swipes the newest message has.", last_swipe_id),
    _macro(
        "currentSwipeId",
        "Which swipe of the newest message is chosen, from 1.",
        current_swipe_id,
    ),
    _macro("allChatRange", "First and last message number, `0-12`.", all_chat_range),
)
