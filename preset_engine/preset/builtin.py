"""SillyTavern's built-in prompts and default order: facts of 1.19 that fill what a preset lacks.

The texts of `main` and `enhanceDefinitions` are what SillyTavern itself puts in, word for word, since
they become part of the prompt.
"""

from __future__ import annotations

from preset_engine.preset.model import OrderItem, PromptEntry

CURRENT_ORDER_ID = "100001"
"""The character id whose order list SillyTavern 1.19 uses; all others are leftovers of older versions."""

MARKERS = (
    "dialogueExamples",
    "chatHistory",
    "worldInfoAfter",
    "worldInfoBefore",
    "charDescription",
    "charPersonality",
    "scenario",
    "personaDescription",
)
"""Identifiers that SillyTavern fills from elsewhere."""

NATIVE_HOLES = ("worldBookBefore", "worldBookAfter", "currentTurn", "postTurn")
"""Holes that only the native dialect knows (`chatHistory` is shared)."""

FILLED = frozenset((*MARKERS, *NATIVE_HOLES))
"""Identifiers of entries that are filled from elsewhere, in either form of a preset."""

BUILT_IN_TEXTS = ("main", "nsfw", "jailbreak", "enhanceDefinitions")
"""Built-in entries with a text of their own."""


def _text(identifier: str, name: str, content: str, *, system_prompt: bool = True) -> PromptEntry:
    return PromptEntry(identifier, name, "system", content, system_prompt=system_prompt)


def _marker(identifier: str, name: str) -> PromptEntry:
    return PromptEntry(identifier, name, is_marker=True, system_prompt=True)


DEFAULT_PROMPTS: tuple[PromptEntry, ...] = (
    _text(
        "main",
        "Main Prompt",
        "Write {{char}}'s next reply in a fictional chat between {{charIfNotGroup}} and {{user}}.",
    ),
    _text("nsfw", "Auxiliary Prompt", ""),
    _marker("dialogueExamples", "Chat Examples"),
    _text("jailbreak", "Post-History Instructions", ""),
    _marker("chatHistory", "Chat History"),
    _marker("worldInfoAfter", "World Info (after)"),
    _marker("worldInfoBefore", "World Info (before)"),
    _text(
        "enhanceDefinitions",
        "Enhance Definitions",
        "If you have more knowledge of {{char}}, add to the character's lore and personality to enhance "
        "them but keep the Character Sheet's definitions absolute.",
    ),
    _marker("charDescription", "Char Description"),
    _marker("charPersonality", "Char Personality"),
    _marker("scenario", "Scenario"),
    _marker("personaDescription", "Persona Description"),
)
"""What SillyTavern starts from, and appends where a preset misses one."""

DEFAULT_ORDER: tuple[OrderItem, ...] = tuple(
    OrderItem(identifier, identifier != "enhanceDefinitions")
    for identifier in (
        "main",
        "worldInfoBefore",
        "personaDescription",
        "charDescription",
        "charPersonality",
        "scenario",
        "enhanceDefinitions",
        "nsfw",
        "worldInfoAfter",
        "dialogueExamples",
        "chatHistory",
        "jailbreak",
    )
)
"""The order SillyTavern adds when a preset has no list for 100001."""
