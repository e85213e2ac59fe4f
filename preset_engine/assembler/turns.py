r"""History records become role messages: names, media, stored tool calls; no macros yet.

One record is one *item*, the unit that depth counts; only a stored tool call takes more than one message.
What a record becomes does not depend on the turn, so it is remembered for the last few chats: the next turn
of a chat compares references and looks at new records only. Messages in OpenAI form that need no change are
passed on as they are, never copied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from preset_engine.assembler.chat import Stored
from preset_engine.assembler.seen import SeenHistories
from preset_engine.messages import ChatMessage, ChatRecord, JsonObject, JsonValue, Parts

SIGNS = "{<\\\r"  # what a text must hold to be changed by macros, old tags, escapes or the removal of returns
_BUNCH = 64
_CONTENT = attrgetter("content")
_NO_RESULT = "[No content]"
_ODD_NAME = re.compile(r"[^A-Za-z0-9_]")
_MEDIA_TYPES = {"image": "image_url", "video": "video_url", "audio": "audio_url"}


@dataclass(frozen=True, slots=True)
class Style:
    """How records become messages.

    Attributes:
        names: -1 none, 0 where another persona spoke, 1 as `name` field, 2 in the text.
        user: the present user's name.
        char: the character's name, for messages that carry none.
        is_group: every name but the user's is shown in mode 0.
        has_media: media of a record become content parts.
        quality: the `detail` of an image part.
        keeps_tools: stored tool calls are sent.
        reads_text: texts are searched for macros and carriage returns.
    """

    names: int = 0
    user: str = ""
    char: str = ""
    is_group: bool = False
    has_media: bool = True
    quality: str = "auto"
    keeps_tools: bool = False
    reads_text: bool = True


@dataclass(frozen=True, slots=True)
class Turns:
    """The messages of a history.

    Attributes:
        messages: in order, oldest first.
        marked: numbers of the messages whose text may hold macros, ascending.
        sources: number of the record of each message; None where they are the same numbers.
        items: first message of each item; None where every message is one.
        empty: numbers of the messages without content; they count for depth and are not sent.
    """

    messages: tuple[ChatMessage, ...] = ()
    marked: tuple[int, ...] = ()
    sources: tuple[int, ...] | None = None
    items: tuple[int, ...] | None = None
    empty: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        """Number of items."""
        return len(self.messages if self.items is None else self.items)

    def source(self, number: int) -> int:
        """The record that a message came from."""
        return number if self.sources is None else self.sources[number]

    def first_message(self, item: int) -> int:
        """The message an item begins with; one behind the last item gives the end."""
        if self.items is None:
            return min(item, len(self.messages))
        return self.items[item] if item < len(self.items) else len(self.messages)


known: SeenHistories[Turns] = SeenHistories()


def read_turns(stored: Stored, style: Style) -> Turns:
    """The messages of a stored history; only what has not been seen before is read."""
    if not isinstance(stored, tuple):
        return extend_turns(Turns(), stored, 0, style)
    turns, start = Turns(), 0
    seen = known.recall(stored, style)
    if seen is not None:
        turns, size, start = seen
        if start < size:
            turns = first_records(turns, start)
    if start < len(stored):
        turns = extend_turns(turns, stored[start:] if start else stored, start, style)
    known.remember(stored, style, turns)
    return turns


def first_records(turns: Turns, count: int) -> Turns:
    """The turns of the first records."""
    if turns.sources is None:
        return first_messages(turns, count)
    return first_messages(turns, sum(source < count for source in turns.sources))


def first_messages(turns: Turns, count: int) -> Turns:
    """The turns of the first messages."""
    return Turns(
        turns.messages[:count],
        tuple(number for number in turns.marked if number < count),
        None if turns.sources is None else turns.sources[:count],
        None if turns.items is None else tuple(item for item in turns.items if item < count),
        tuple(number for number in turns.empty if number < count),
    )


def extend_turns(turns: Turns, records: Stored, first: int, style: Style) -> Turns:
    """The turns with further records, the first of which has this number."""
    if set(map(type, records)) == {ChatMessage} and not _is_shaped(turns):
        plain: Sequence[ChatMessage] = records  # type: ignore[assignment]  # checked above
        messages, odd = _pass_messages(plain, style)
        first_new = len(turns.messages)
        return Turns(
            turns.messages + messages,
            turns.marked + tuple(first_new + n for n in odd if messages[n].content),
            empty=turns.empty + tuple(first_new + n for n in odd if messages[n].is_empty),
        )
    return _convert(turns, records, first, style)


def _is_shaped(turns: Turns) -> bool:
    return turns.sources is not None or turns.items is not None


def _pass_messages(
    records: Sequence[ChatMessage], style: Style
) -> tuple[tuple[ChatMessage, ...], list[int]]:
    """OpenAI messages, and the numbers of those that need a second look.

    They stay the same objects unless a name or a carriage return asks for a change.
    """
    if not style.reads_text:
        return tuple(records), []
    messages = tuple(records) if style.names <= 0 else tuple(_named(m, style) for m in records)
    odd = _odd_numbers(messages)
    if any("\r" in messages[number].text for number in odd):
        changed = list(messages)
        for number in odd:
            changed[number] = _without_returns(messages[number])
        messages = tuple(changed)
    return messages, odd


def _odd_numbers(messages: Sequence[ChatMessage]) -> list[int]:
    """Numbers of the messages that hold a sign of a macro or a carriage return, or that are no plain text.

    Texts are searched in bunches: one search over many short texts is far quicker than many searches.
    """
    found: list[int] = []
    for start in range(0, len(messages), _BUNCH):
        contents = list(map(_CONTENT, messages[start : start + _BUNCH]))
        try:
            bunch = "\0".join(contents)
        except TypeError:
            bunch = SIGNS
        if not all(contents) or has_signs(bunch):
            found += (n for n, content in enumerate(contents, start) if _is_odd(content))
    return found


def has_signs(text: str) -> bool:
    """Whether a text holds one of the signs."""
    return "{" in text or "<" in text or "\\" in text or "\r" in text


def _is_odd(content: str | Parts | None) -> bool:
    return not content or not isinstance(content, str) or has_signs(content)


def _named(message: ChatMessage, style: Style) -> ChatMessage:
    if message.role not in ("user", "assistant") or message.content is None:
        return message
    name = message.name or (style.user if message.role == "user" else style.char)
    if style.names == 1:
        return replace(message, name=clean_name(name))
    if isinstance(message.content, str):
        return replace(message, content=f"{name}: {message.content}", name=None)
    return message


def _without_returns(message: ChatMessage) -> ChatMessage:
    if isinstance(message.content, str) and "\r" in message.content:
        return replace(message, content=message.content.replace("\r", ""))
    return message


def _convert(
    turns: Turns, records: Sequence[ChatMessage | ChatRecord], first: int, style: Style
) -> Turns:
    messages, marked = list(turns.messages), list(turns.marked)
    sources = list(turns.sources or range(len(messages)))
    items = list(turns.items or range(len(messages)))
    for number, record in enumerate(records, first):
        made = _messages_of(record, style)
        if not made:
            continue
        items.append(len(messages))
        for message in made:
            if message.role != "tool" and not message.tool_calls and _may_expand(message):
                marked.append(len(messages))
            messages.append(message)
            sources.append(number)
    is_straight = sources == list(range(len(messages)))
    has_groups = len(items) < len(messages)
    return Turns(
        tuple(messages),
        tuple(marked),
        None if is_straight else tuple(sources),
        tuple(items) if has_groups else None,
        tuple(number for number, message in enumerate(messages) if message.is_empty),
    )


def _messages_of(record: ChatMessage | ChatRecord, style: Style) -> tuple[ChatMessage, ...]:
    if isinstance(record, ChatRecord):
        return read_record(record, style)
    return (record if style.names <= 0 else _named(record, style),)


def _may_expand(message: ChatMessage) -> bool:
    text = message.text
    return "{" in text or "<" in text or "\\" in text


def read_record(record: ChatRecord, style: Style) -> tuple[ChatMessage, ...]:
    """The messages of one record: none when it is hidden, several for stored tool calls."""
    extra = record.extra.get("extra")
    details: JsonObject = extra if isinstance(extra, dict) else {}
    calls = details.get("tool_invocations")
    if isinstance(calls, list) and calls:
        return _tool_messages(calls) if style.keeps_tools else ()
    if record.is_hidden:
        return ()
    is_narrator = details.get("type") == "narrator"
    role = "system" if is_narrator else "user" if record.is_user else "assistant"
    text = _with_titles(record.text, details) if style.has_media else record.text
    if _shows_name(record, style, is_narrator=is_narrator):
        text = f"{record.name}: {text}"
    text = text.replace("\r", "")
    name = clean_name(record.name) if style.names == 1 and record.name else None
    media = _media_parts(details, style) if style.has_media else ()
    return (ChatMessage(role, ({"type": "text", "text": text}, *media) if media else text, name),)


def _shows_name(record: ChatRecord, style: Style, *, is_narrator: bool) -> bool:
    if is_narrator:
        return False
    if style.names == 2:
        return True
    if style.names != 0 or record.name == style.user:
        return False
    return style.is_group or bool(record.extra.get("force_avatar"))


def clean_name(name: str) -> str:
    """A name as the `name` field takes it; counted in UTF-16 units, as SillyTavern does."""
    units = "".join("_" * (2 if ord(c) > 0xFFFF else 1) if _ODD_NAME.match(c) else c for c in name)
    return units[:64]


def _tool_messages(calls: list[JsonValue]) -> tuple[ChatMessage, ...]:
    objects = [call for call in calls if isinstance(call, dict)]
    made: Parts = tuple(
        {
            "id": call.get("id"),
            "type": "function",
            "function": {"arguments": call.get("parameters"), "name": call.get("name")},
        }
        for call in objects
    )
    answers = (
        ChatMessage("tool", str(call.get("result") or _NO_RESULT), tool_call_id=str(call.get("id")))
        for call in objects
    )
    return (ChatMessage("assistant", None, tool_calls=made), *answers)


def _chosen_media(details: JsonObject) -> list[JsonObject]:
    media = details.get("media")
    found = [item for item in media if isinstance(item, dict)] if isinstance(media, list) else []
    index = details.get("media_index")
    if details.get("media_display") == "gallery" and isinstance(index, int):
        return found[index : index + 1] if index >= 0 else []
    return found


def _media_parts(details: JsonObject, style: Style) -> Parts:
    parts: list[JsonObject] = []
    for item in _chosen_media(details):
        kind = _MEDIA_TYPES.get(str(item.get("type", "image")))
        if kind is None or not isinstance(item.get("url"), str):
            continue
        body: JsonObject = {"url": item["url"]}
        if kind == "image_url":
            body["detail"] = style.quality
        parts.append({"type": kind, kind: body})
    return tuple(parts)


def _with_titles(text: str, details: JsonObject) -> str:
    for item in _chosen_media(details):
        title = item.get("title")
        if item.get("append_title") and isinstance(title, str) and title:
            text = f"{text}\n\n{title}" if text else title
    return text
