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
from typing import cast, overload

from preset_engine.messages import ChatMessage, Draft
from preset_engine.squash.grouping import Grouping
from preset_engine.squash.mode import Mode, mode_of
from preset_engine.squash.names import NO_NAMES, Names
from preset_engine.squash.shaped import PLACEHOLDER, Kept, Made, Part, Shaped, placeholder_message


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
    if messages and isinstance(messages[0], Draft):
        drafts = [item for item in messages if isinstance(item, Draft)]
        shaped = shape([draft.message for draft in drafts], mode, names, placeholder)
        return list(shaped.drafts(drafts))
    plain = cast("Sequence[ChatMessage]", messages)  # a list holds one kind: told by its first
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
    grouping = Grouping(messages, chosen, names)
    if chosen.is_semi or chosen is Mode.SINGLE:
        grouping.fold_systems(is_first=is_first)
    parts = grouping.parts()
    place: int | None = None if messages else 0
    if chosen.basic is Mode.STRICT:
        place = placeholder_place(grouping.first_roles())
    if place is not None and placeholder is not None:
        parts = _with_placeholder(parts, place, placeholder)
    return Shaped(messages, tuple(parts))


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


__all__ = ["Mode", "mode_of", "placeholder_place", "post_process", "shape"]
