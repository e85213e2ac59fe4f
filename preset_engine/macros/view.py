"""All that a macro may see, as one value, and the variables it may change.

The assembler fills a `MacroView` once a turn; tests and `preset-engine expand` fill it from a scenario.
Nothing here is a chat, card or preset type of a higher layer: texts and records only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from preset_engine.context import Context
from preset_engine.messages import ChatRecord, JsonValue


@dataclass(slots=True)
class Variables:
    """The two variable stores of an assembly. The caller hands in copies; expansion changes them.

    Attributes:
        local: the chat's variables (native: the one map of the assembly).
        shared: the user's global variables (`setglobalvar` and its kin).
    """

    local: dict[str, JsonValue] = field(default_factory=dict)
    shared: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CardFields:
    """The card's texts as they stand in the card (raw, unexpanded), trimmed.

    `greetings` holds the first message and then the alternates. Joined group texts come in here too.
    """

    description: str = ""
    personality: str = ""
    scenario: str = ""
    examples: str = ""
    system_prompt: str = ""
    post_history: str = ""
    depth_prompt: str = ""
    creator_notes: str = ""
    version: str = ""
    greetings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MacroView:
    """What the macros of one assembly can read.

    Attributes:
        user: the persona's name.
        char: the (speaking) character's name.
        persona: the persona's description, raw.
        card: the card's texts, raw; macros expand them when they are read.
        group: names of all members; empty in a chat with one character.
        group_not_muted: names of the unmuted members.
        chat: the chat so far, oldest first, hidden records included.
        variables: the mutable stores.
        context: clock, random source, token counter.
        chat_hash: what `pick` is seeded with (decimal number of the chat).
        settings: numbers and switches that macros print (`max_context`, `max_response`, `model`,
            `last_generation_type`, `input_text`, `prefer_character_prompt`, ...), under these names.
        outlets: texts of world-book outlets.
        extra: further macros of this call only (`lastChatMessage`), name to value.
        generation_type: the type of the running generation.
        is_swipe: the last record is being swiped and is skipped by `lastMessage`.
    """

    user: str = "User"
    char: str = "Assistant"
    persona: str = ""
    card: CardFields = field(default_factory=CardFields)
    group: tuple[str, ...] = ()
    group_not_muted: tuple[str, ...] = ()
    chat: Sequence[ChatRecord] = ()
    variables: Variables = field(default_factory=Variables)
    context: Context = field(default_factory=Context)
    chat_hash: int = 0
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    outlets: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    generation_type: str = "normal"
    is_swipe: bool = False
