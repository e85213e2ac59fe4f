"""What a session is made of, in four layers: defaults, the parent's frozen part, a profile, the fork's own.

A later layer wins field by field and a missing field never overrides. Lists are replaced whole: skills that
are missing are inherited, an empty list means none at all, a list is the whole white list. The system prompt
follows its own rule where a profile takes part (`PromptMode`). Only the system prompt and the skills are ever
frozen into the tree; everything else is composed anew for each fork (reference/seeds.md 1.10).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TypeAlias, TypeVar

from preset_engine.errors import NotConfigured
from preset_engine.llm.request import ModelAdapter
from preset_engine.session.record import SessionRecord
from preset_engine.session.tools import Tool

CompressFn: TypeAlias = Callable[[Sequence[SessionRecord]], Awaitable[str]]
ConsolidateFn: TypeAlias = Callable[[str | None, Sequence[SessionRecord]], Awaitable[str]]
ContextFn: TypeAlias = Callable[
    [Sequence[SessionRecord]], "Sequence[SessionRecord] | Awaitable[Sequence[SessionRecord]]"
]
PromptFn: TypeAlias = Callable[[Mapping[str, str]], str]

_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_T = TypeVar("_T")


class PromptMode(StrEnum):
    """How a profile's system prompt meets the fork's own."""

    PRESET = "preset"  # the profile's alone; the fork's only where the profile has none
    PREPEND = "prepend"  # the profile's, a blank line, the fork's
    APPEND = "append"  # the fork's, a blank line, the profile's


class ForkContext(StrEnum):
    """What a child gets of its parent's records; a function may stand in its place."""

    NONE = "none"
    INHERIT = "inherit"
    COMPRESS = "compress"  # a summary in the system prompt, in a `<parent_context>` block


def read_context(value: ForkContext | str | ContextFn | None) -> ForkContext | ContextFn | None:
    """A context by its name; functions and None stay.

    Raises:
        NotConfigured: no context is called so.
    """
    if not isinstance(value, str):
        return value
    try:
        return ForkContext(value)
    except ValueError:
        known = ", ".join(ForkContext)
        raise NotConfigured(f"no fork context {value!r}; it is {known} or a function") from None


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """One layer; None is "not said here".

    Attributes:
        system_prompt: the prompt; an explicit empty text means none.
        skills: names of the skills on offer; empty means none at all.
        adapter: the model.
        tools: tools of the session.
        consolidate: makes the memory from the records.
        compress: makes a summary of records that no longer fit.
        fork_compress: makes the summary that a child starts with; `compress` stands in for it.
    """

    system_prompt: str | None = None
    skills: tuple[str, ...] | None = None
    adapter: ModelAdapter | None = None
    tools: tuple[Tool, ...] | None = None
    consolidate: ConsolidateFn | None = None
    compress: CompressFn | None = None
    fork_compress: CompressFn | None = None


@dataclass(frozen=True, slots=True)
class ForkProfile:
    """A named recipe for forks.

    Attributes:
        config: the profile's layer.
        prompt_fn: makes the system prompt from the fork's variables; wins over the static one.
        mode: how the two system prompts meet.
        context: what the child gets of the records, unless the fork says otherwise.
        opening: the child's first line, unless the fork says otherwise.
    """

    config: SessionConfig = SessionConfig()
    prompt_fn: PromptFn | None = None
    mode: PromptMode = PromptMode.PREPEND
    context: ForkContext | ContextFn | None = None
    opening: str | None = None

    def system_prompt(self, variables: Mapping[str, str]) -> str | None:
        """The profile's prompt for these variables, or None."""
        if self.prompt_fn is not None:
            return self.prompt_fn(variables)
        return self.config.system_prompt


def template(text: str) -> PromptFn:
    """A prompt function that puts variables in for `{name}`; names without a value stay as written."""

    def fill(variables: Mapping[str, str]) -> str:
        return _VARIABLE.sub(lambda found: variables.get(found[1], found[0]), text)

    return fill


def merge_config(
    *,
    defaults: SessionConfig | None = None,
    parent: SessionConfig | None = None,
    profile: ForkProfile | None = None,
    variables: Mapping[str, str] | None = None,
    fork: SessionConfig | None = None,
) -> SessionConfig:
    """The composed configuration of a new session.

    Args:
        defaults: the application's.
        parent: the parent's frozen part (system prompt and skills).
        profile: the recipe, if one is named.
        variables: what the profile's prompt function gets.
        fork: what the fork itself says.
    """
    layers = [defaults, parent, profile.config if profile else None, fork]
    merged = {
        item.name: _last([getattr(layer, item.name) for layer in layers if layer is not None])
        for item in fields(SessionConfig)
    }
    if profile is not None:
        below = _last([layer.system_prompt for layer in (defaults, parent) if layer is not None])
        own = fork.system_prompt if fork is not None else None
        met = _meet(profile.mode, profile.system_prompt(variables or {}), own)
        merged["system_prompt"] = met if met is not None else below
    return SessionConfig(**merged)


def _last(values: Sequence[_T | None]) -> _T | None:
    return next((value for value in reversed(values) if value is not None), None)


def _meet(mode: PromptMode, profile: str | None, fork: str | None) -> str | None:
    """The two prompts joined; empty texts count as absent here. None when neither has text."""
    if mode is PromptMode.PRESET:
        return profile or fork or None
    pair = (profile, fork) if mode is PromptMode.PREPEND else (fork, profile)
    return "\n\n".join(text for text in pair if text) or None
