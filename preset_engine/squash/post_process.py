r"""`custom_prompt_post_processing`: the modes that make a message list fit a strict provider.

Every mode folds names into texts and joins neighbours of one role by a blank line::

    merge    that, and no more (`claude` is its old name)
    semi     system messages behind the first become user messages, then joined again
    strict   semi, and a user placeholder where the list would not begin with (system,) user
    single   everything becomes one user message, with names as prefixes

With `_tools` tool calls and their answers stay; without, an answer becomes a user message. Empty messages
are kept as messages of their own. Rules: reference/sillytavern.md, section 14. One thing is done otherwise
on purpose: SillyTavern loses an image when a name is put in front of it; here the name becomes a text part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import overload

from preset_engine.errors import AssemblyError
from preset_engine.messages import ChatMessage, Draft
from preset_engine.squash.names import NO_NAMES, Names, name_prefix
from preset_engine.squash.parts import Chunk, chunks_of, content_from, is_empty
from preset_engine.squash.shaped import PLACEHOLDER, Kept, Made, Part, Shaped, placeholder_message


class Mode(StrEnum):
    """How a message list is shaped; the value is the name in presets."""

    NONE = "none"
    MERGE = "merge"
    SEMI = "semi"
    STRICT = "strict"
    SINGLE = "single"
    MERGE_TOOLS = "merge_tools"
    SEMI_TOOLS = "semi_tools"
    STRICT_TOOLS = "strict_tools"

    @property
    def keeps_tools(self) -> bool:
        """Tool calls and answers stay what they are."""
        return self.value.endswith("_tools")

    @property
    def basic(self) -> Mode:
        """The mode without regard to tools."""
        return Mode(self.value.removesuffix("_tools"))

    @property
    def is_semi(self) -> bool:
        """System messages behind the first become user messages."""
        return self.basic in (Mode.SEMI, Mode.STRICT)


_ALIASES = {"": Mode.NONE, "claude": Mode.MERGE}


def mode_of(name: str) -> Mode:
    """The mode of this name; the empty name is `none`, `claude` is `merge`.

    Raises:
        AssemblyError: there is no such mode.
    """
    known = _ALIASES.get(name)
    if known is not None:
        return known
    try:
        return Mode(name)
    except ValueError:
        message = f"there is no squash mode {name!r}: use one of {', '.join(Mode)}"
        raise AssemblyError(message) from None


@overload
def post_process(
    messages: Sequence[Draft],
    mode: Mode | str,
    names: Names = ...,
    placeholder: str = ...,
) -> list[Draft]: ...
@overload
def post_process(
    messages: Sequence[ChatMessage],
    mode: Mode | str,
    names: Names = ...,
    placeholder: str = ...,
) -> list[ChatMessage]: ...
def post_process(
    messages: Sequence[ChatMessage] | Sequence[Draft],
    mode: Mode | str,
    names: Names = NO_NAMES,
    placeholder: str = PLACEHOLDER,
) -> list[ChatMessage] | list[Draft]:
    """Shape messages, or drafts with their pieces, as SillyTavern's server does.

    Args:
        messages: the flat list.
        mode: a mode or its name.
        names: who takes part.
        placeholder: text of the user message that a mode may add.
    """
    drafts = [item for item in messages if isinstance(item, Draft)]
    if drafts:
        shaped = shape([draft.message for draft in drafts], mode, names, placeholder)
        return list(shaped.drafts(drafts))
    plain = [item for item in messages if isinstance(item, ChatMessage)]
    return shape(plain, mode, names, placeholder).messages()


def shape(
    messages: Sequence[ChatMessage],
    mode: Mode | str,
    names: Names = NO_NAMES,
    placeholder: str | None = PLACEHOLDER,
    *,
    is_first: bool = True,
) -> Shaped:
    """Shape a message list and tell what each result is made of; pieces can be asked for later.

    Args:
        messages: the flat list.
        mode: a mode or its name.
        names: who takes part.
        placeholder: text of the user message that a mode may add; None adds none.
        is_first: the list begins the prompt; otherwise no system message stays one in semi and strict.
    """
    chosen = mode if isinstance(mode, Mode) else mode_of(mode)
    if chosen is Mode.NONE:
        whole: tuple[Part, ...] = (Kept(0, len(messages)),) if messages else ()
        return Shaped(messages, whole)
    grouping = _Grouping(messages, chosen, names)
    starts, roles = grouping.first_pass()
    place: int | None = None if starts else 0
    if chosen.is_semi or chosen is Mode.SINGLE:
        roles = _fold_systems(roles, 1 if is_first else 0)
        if chosen.basic is Mode.STRICT:
            place = placeholder_place(roles)
        starts, roles = grouping.second_pass(starts, roles)
    parts = grouping.parts(starts, roles)
    if place is not None and placeholder is not None:
        parts = _with_placeholder(parts, place, placeholder)
    return Shaped(messages, tuple(parts))


def _fold_systems(roles: list[str], start: int) -> list[str]:
    return [*roles[:start], *("user" if role == "system" else role for role in roles[start:])]


def placeholder_place(roles: Sequence[str]) -> int | None:
    """Where a strict list needs a user message: its place in the list, or None."""
    if not roles or (roles[0] == "system" and (len(roles) == 1 or roles[1] != "user")):
        return len(roles[:1])
    return None if roles[0] in ("system", "user") else 0


def _with_placeholder(parts: list[Part], place: int, text: str) -> list[Part]:
    """Put the placeholder before everything, or behind the first message."""
    if place == 0:
        return [Made(placeholder_message(text), 0, 0), *parts]
    first, *rest = parts
    if isinstance(first, Made):
        return [first, Made(placeholder_message(text), first.stop, first.stop), *rest]
    at = first.start + 1
    cut: list[Part] = [Kept(first.start, at), Made(placeholder_message(text), at, at)]
    return [*cut, Kept(at, first.stop), *rest] if first.stop > at else [*cut, *rest]


class _Grouping:
    """Sorts messages into groups that become one message each.

    A group is the number of its first message and a role. Messages that need more than a look (a name,
    parts, tool fields, no text) are worked out once and kept in `_odd`; all others pass as they are.
    """

    def __init__(self, messages: Sequence[ChatMessage], mode: Mode, names: Names) -> None:
        self._messages = messages
        self._mode = mode
        self._names = names
        self._odd: dict[int, tuple[str, tuple[Chunk, ...]]] = {}
        self._has_empty = False

    def first_pass(self) -> tuple[list[int], list[str]]:
        """Groups of neighbours of one role, an empty message always beginning a new one."""
        starts: list[int] = []
        roles: list[str] = []
        previous = ""
        is_single, tools = self._mode is Mode.SINGLE, self._mode.keeps_tools
        for number, message in enumerate(self._messages):
            role = message.role
            if is_single or (role == "tool" and not tools):
                role = "user"
            if (
                is_single
                or message.name is not None
                or not message.content
                or message.tool_calls
                or message.tool_call_id is not None
                or message.content.__class__ is not str
            ):
                empty = self._is_empty_odd(number, message)
            else:
                empty = False
            if role != previous or empty or role == "tool":
                starts.append(number)
                roles.append(role)
                previous = role
        return starts, roles

    def second_pass(self, starts: list[int], roles: list[str]) -> tuple[list[int], list[str]]:
        """Join groups of one role that have become neighbours."""
        stops = self._stops(starts)
        joined: list[int] = []
        joined_roles: list[str] = []
        previous = ""
        for start, stop, role in zip(starts, stops, roles, strict=True):
            if role != previous or role == "tool" or (stop == start + 1 and self._is_empty(start)):
                joined.append(start)
                joined_roles.append(role)
                previous = role
        return joined, joined_roles

    def parts(self, starts: list[int], roles: list[str]) -> list[Part]:
        """Kept ranges and messages made anew, for the final groups."""
        parts: list[Part] = []
        kept_from = 0
        stops = self._stops(starts)
        for start, stop, role in zip(starts, stops, roles, strict=True):
            message = self._messages[start]
            if stop == start + 1 and role == message.role and start not in self._odd:
                continue
            if start > kept_from:
                parts.append(Kept(kept_from, start))
            parts.append(self._make(start, stop, role))
            kept_from = stop
        if kept_from < len(self._messages):
            parts.append(Kept(kept_from, len(self._messages)))
        return parts

    def _stops(self, starts: list[int]) -> list[int]:
        return [*starts[1:], len(self._messages)] if starts else []

    def _make(self, start: int, stop: int, role: str) -> Made:
        message = self._messages[start]
        prefixes: list[str] = []
        chunks: list[Chunk] = []
        for number in range(start, stop):
            prefix, own = self._worked_out(number)
            prefixes.append(prefix)
            chunks += own
        made = replace(message, role=role, content=content_from(chunks), name=None)
        if not self._mode.keeps_tools:
            made = replace(made, tool_calls=(), tool_call_id=None)
        return Made(made, start, stop, tuple(prefixes) if any(prefixes) else ())

    def _worked_out(self, number: int) -> tuple[str, tuple[Chunk, ...]]:
        known = self._odd.get(number)
        return known or ("", chunks_of(self._messages[number], keep_unknown=False))

    def _is_empty(self, number: int) -> bool:
        return is_empty(self._worked_out(number)[1])

    def _is_empty_odd(self, number: int, message: ChatMessage) -> bool:
        """Work a message out; remember it when it will not pass as it is."""
        chunks = chunks_of(message, keep_unknown=False)
        prefix = ""
        for find in (_from_name, _from_role if self._mode is Mode.SINGLE else _no_prefix):
            added = find(message, _text_of(chunks), self._names)
            if added:
                first = chunks[0]
                rest = (added + first, *chunks[1:]) if isinstance(first, str) else (added, *chunks)
                chunks, prefix = rest, added + prefix
        if self._changes(message):
            self._odd[number] = (prefix, chunks)
        return is_empty(chunks)

    def _changes(self, message: ChatMessage) -> bool:
        return (
            self._mode is Mode.SINGLE
            or message.name is not None
            or not isinstance(message.content, str)
            or (
                not self._mode.keeps_tools
                and bool(message.tool_calls or message.tool_call_id is not None)
            )
        )


def _text_of(chunks: Sequence[Chunk]) -> str:
    """What a prefix would stand in front of."""
    first = chunks[0]
    return first if isinstance(first, str) else ""


def _from_name(message: ChatMessage, text: str, names: Names) -> str:
    return name_prefix(message, text, names)


def _from_role(message: ChatMessage, text: str, names: Names) -> str:
    if message.role == "assistant":
        return names.char_prefix(text)
    return names.user_prefix(text) if message.role in ("user", "tool") else ""


def _no_prefix(message: ChatMessage, text: str, names: Names) -> str:
    del message, text, names
    return ""
