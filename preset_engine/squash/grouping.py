"""Which messages of a list become one: the work behind the modes.

Long lists are mostly messages that stay what they are. So each step is one quick look over all roles, and then
work on the few that need it: neighbours of one role, and *odd* messages (a name, content parts, tool fields, no
text), which are worked out once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import compress, count, islice
from operator import eq

from preset_engine.messages import ChatMessage
from preset_engine.squash.mode import Mode
from preset_engine.squash.names import Names, name_prefix
from preset_engine.squash.parts import Chunk, chunks_of, content_from, is_empty
from preset_engine.squash.shaped import Kept, Made, Part

_Odd = tuple[str, tuple[Chunk, ...]]  # the prefix, and the chunks with it


class Grouping:
    """A list sorted into groups of neighbours that become one message each.

    Args:
        messages: the list; never changed.
        mode: what is done with tools and names.
        names: who takes part.
    """

    def __init__(self, messages: Sequence[ChatMessage], mode: Mode, names: Names) -> None:
        self._messages = messages
        self._mode = mode
        self._names = names
        self._is_renamed = False
        self._roles = self._first_roles()
        self._odd: dict[int, _Odd] = {
            number: self._work_out(messages[number]) for number in self._odd_numbers()
        }
        self._joined: set[int] = set()
        self._has_empty = False
        self._join_neighbours()

    def fold_systems(self, *, is_first: bool) -> None:
        """Make the users of all system messages behind the first, and join again.

        Args:
            is_first: the list begins the prompt, so its first message may stay a system message.
        """
        first = 1 if is_first else 0
        while first in self._joined:
            first += 1
        rest = self._roles[first:]
        has_systems = "system" in rest
        if has_systems:
            self._roles[first:] = ["user" if role == "system" else role for role in rest]
            self._is_renamed = True
        if has_systems or self._has_empty:
            self._join_neighbours()

    def first_roles(self) -> list[str]:
        """Roles of the first two results."""
        second = 1
        while second in self._joined:
            second += 1
        return [*self._roles[:1], *self._roles[second : second + 1]]

    def parts(self) -> list[Part]:
        """Kept ranges, and messages made anew."""
        parts: list[Part] = []
        at = 0
        for start in self._changed_starts():
            stop = start + 1
            while stop in self._joined:
                stop += 1
            if start > at:
                parts.append(Kept(at, start))
            parts.append(self._make(start, stop))
            at = stop
        if at < len(self._messages):
            parts.append(Kept(at, len(self._messages)))
        return parts

    def _first_roles(self) -> list[str]:
        roles = [message.role for message in self._messages]
        is_single = self._mode is Mode.SINGLE
        self._is_renamed = is_single or ("tool" in roles and not self._mode.keeps_tools)
        if not self._is_renamed:
            return roles
        return ["user" if is_single or role == "tool" else role for role in roles]

    def _odd_numbers(self) -> Sequence[int]:
        if self._mode is Mode.SINGLE:
            return range(len(self._messages))
        drops_tools = not self._mode.keeps_tools
        return [
            number
            for number, message in enumerate(self._messages)
            if message.name is not None
            or message.content.__class__ is not str
            or (drops_tools and (message.tool_calls or message.tool_call_id is not None))
        ]

    def _join_neighbours(self) -> None:
        """Let groups of one role join the one before, unless they are a tool's or one empty message."""
        roles = self._roles
        for number in compress(count(1), map(eq, roles, islice(roles, 1, None))):
            if number in self._joined or roles[number] == "tool":
                continue
            if number + 1 not in self._joined and self._is_empty(number):
                self._has_empty = True
            else:
                self._joined.add(number)

    def _changed_starts(self) -> list[int]:
        """Numbers at which a group begins that is not one untouched message."""
        starts = {number for number in self._odd if number not in self._joined}
        starts.update(number - 1 for number in self._joined if number - 1 not in self._joined)
        if self._is_renamed:
            pairs = zip(self._roles, self._messages, strict=True)
            renamed = (number for number, (role, one) in enumerate(pairs) if role != one.role)
            starts.update(number for number in renamed if number not in self._joined)
        return sorted(starts)

    def _make(self, start: int, stop: int) -> Made:
        message = self._messages[start]
        worked_out = [self._worked_out(number) for number in range(start, stop)]
        content = content_from(chunk for _, chunks in worked_out for chunk in chunks)
        made = replace(message, role=self._roles[start], content=content, name=None)
        if not self._mode.keeps_tools:
            made = replace(made, tool_calls=(), tool_call_id=None)
        prefixes = tuple(prefix for prefix, _ in worked_out)
        return Made(made, start, stop, prefixes if any(prefixes) else ())

    def _is_empty(self, number: int) -> bool:
        odd = self._odd.get(number)
        return is_empty(odd[1]) if odd else not self._messages[number].content

    def _worked_out(self, number: int) -> _Odd:
        return self._odd.get(number) or ("", chunks_of(self._messages[number], keep_unknown=False))

    def _work_out(self, message: ChatMessage) -> _Odd:
        """A message's prefix, and its chunks with the prefix put in."""
        chunks = chunks_of(message, keep_unknown=False)
        prefix = ""
        for find in _PREFIXES if self._mode is Mode.SINGLE else _PREFIXES[:1]:
            added = find(message, _text_of(chunks), self._names)
            if added:
                first = chunks[0]
                is_text = isinstance(first, str)
                chunks = (f"{added}{first}", *chunks[1:]) if is_text else (added, *chunks)
                prefix = added + prefix
        return prefix, chunks


def _text_of(chunks: Sequence[Chunk]) -> str:
    """What a prefix would stand in front of."""
    first = chunks[0]
    return first if isinstance(first, str) else ""


def _role_prefix(message: ChatMessage, text: str, names: Names) -> str:
    if message.role == "assistant":
        return names.char_prefix(text)
    return names.user_prefix(text) if message.role in ("user", "tool") else ""


_PREFIXES: tuple[Callable[[ChatMessage, str, Names], str], ...] = (name_prefix, _role_prefix)
