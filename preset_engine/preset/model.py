"""A preset as values: prompts (the warehouse), order (the programme), settings, generation.

Both file forms, SillyTavern's and the native one, are read into this model. `raw` keeps the document as
it was, so an export after import loses nothing; the typed fields are what the assembler reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from preset_engine.messages import JsonObject, JsonValue


class PresetSource(StrEnum):
    """Which form the file had."""

    NATIVE = "native"
    SILLYTAVERN = "sillytavern"


@dataclass(frozen=True, slots=True)
class PromptEntry:
    """One element of `prompts[]`.

    Attributes:
        identifier: unique key; the first of several with one identifier counts.
        name: what the author calls it.
        role: `system`, `user` or `assistant` (odd roles are normalised on import, with a note).
        content: text with macros.
        is_marker: filled from elsewhere (a hole).
        is_enabled: the entry's own flag; decides in native packages only (design decision 12).
        system_prompt: SillyTavern's flag; None when the file has none (then a custom relative prompt is
            silently dropped in dialect sillytavern).
        position: `injection_position`: 0 relative, 1 in the chat.
        depth: `injection_depth` as in the file, 4 when missing; anything but a whole number 0..10000 never
            matches in dialect sillytavern.
        injection_order: `injection_order`, 100 when missing.
        triggers: generation types the entry is limited to; empty means all.
        forbid_overrides: the card may not replace it.
        place: JSON path in the file.
        saved: the entry as it stands in the file; empty for entries made by us. The typed fields are the
            tolerant reading; `sanitise.sillytavern_view` looks here for what SillyTavern itself would see.
    """

    identifier: str
    name: str = ""
    role: str = "system"
    content: str = ""
    is_marker: bool = False
    is_enabled: bool = True
    system_prompt: bool | None = None
    position: int = 0
    depth: JsonValue = 4
    injection_order: JsonValue = 100
    triggers: tuple[str, ...] = ()
    forbid_overrides: bool = False
    place: str = ""
    saved: Mapping[str, JsonValue] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrderItem:
    """One element of the programme: an entry's identifier and whether it takes part."""

    identifier: str
    is_enabled: bool = True


@dataclass(frozen=True, slots=True)
class PromptOrder:
    """One list of `prompt_order`, for the character id it was saved for (as text; "" when flat)."""

    character_id: str
    items: tuple[OrderItem, ...]


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """The preset's settings that shape messages; defaults are SillyTavern 1.19's.

    Attributes carry SillyTavern's key names. `names_behavior`: -1 none, 0 default, 1 completion, 2 content.
    """

    names_behavior: int = 0
    send_if_empty: str = ""
    impersonation_prompt: str = (
        "[Write your next reply from the point of view of {{user}}, using the chat history so far as a "
        "guideline for the writing style of {{user}}. Don't write as {{char}} or system. Don't describe "
        "actions of {{char}}.]"
    )
    new_chat_prompt: str = "[Start a new Chat]"
    new_group_chat_prompt: str = "[Start a new group chat. Group members: {{group}}]"
    new_example_chat_prompt: str = "[Example Chat]"
    continue_nudge_prompt: str = (
        "[Continue your last message without repeating its original content.]"
    )
    group_nudge_prompt: str = "[Write the next reply only as {{char}}.]"
    wi_format: str = "{0}"
    scenario_format: str = "{{scenario}}"
    personality_format: str = "{{personality}}"
    squash_system_messages: bool = False
    continue_prefill: bool = False
    continue_postfix: str = " "
    assistant_prefill: str = ""
    assistant_impersonation: str = ""
    use_sysprompt: bool = False
    media_inlining: bool = True
    function_calling: bool = False
    custom_prompt_post_processing: str = ""


@dataclass(frozen=True, slots=True)
class Generation:
    """Generation parameters under their native names; None means "not set" (seeds reference 3.12).

    `max_context_tokens` is the user interface's limit, not a real model's.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    top_a: float | None = None
    min_p: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    repetition_penalty: float | None = None
    max_context_tokens: int | None = None
    max_output_tokens: int | None = None
    stream: bool | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    seed: int | None = None
    variants: int | None = None


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A part of the file that is kept but not executed, with the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Preset:
    """A loaded preset.

    Attributes:
        id: slug of the name with a tail that depends on the content only.
        name: the file's own name, else the file name without its ending.
        source: which form it was read from.
        prompts: the warehouse, in file order.
        orders: every order list the file has.
        settings: what shapes messages.
        generation: parameters under native names.
        squash: `messagePolicy.squash` of a native package: a mode, True for the boolean, None when unset.
        regex_scripts: regex scripts found in the three places they live in, as in the file.
        unsupported: parts kept and not executed.
        raw: the document as read; export starts from it.
    """

    id: str
    name: str
    source: PresetSource
    prompts: tuple[PromptEntry, ...]
    orders: tuple[PromptOrder, ...]
    settings: AssemblySettings = field(default_factory=AssemblySettings)
    generation: Generation = field(default_factory=Generation)
    squash: str | bool | None = None
    regex_scripts: tuple[JsonObject, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    raw: Mapping[str, JsonValue] = field(default_factory=dict)
