"""Texts of text-completion templates, of notes and of bundled extensions.

Chat completion has no templates, so these are empty unless the caller supplies the text in
`MacroView.settings` under the macro's own name. The two marks of the context template are always there; a
fresh SillyTavern has three stars for both.
"""

from __future__ import annotations

from preset_engine.macros.builtin.state import setting
from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation
from preset_engine.macros.registry import Macro, Volatility
from preset_engine.macros.view import MacroView

_TEMPLATES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("instructStoryStringPrefix", (), "before the story string"),
    ("instructStoryStringSuffix", (), "behind the story string"),
    ("instructUserPrefix", ("instructInput",), "before a user message"),
    ("instructUserSuffix", (), "behind a user message"),
    ("instructAssistantPrefix", ("instructOutput",), "before a reply"),
    ("instructAssistantSuffix", ("instructSeparator",), "behind a reply"),
    ("instructSystemPrefix", (), "before a system message"),
    ("instructSystemSuffix", (), "behind a system message"),
    ("instructFirstAssistantPrefix", ("instructFirstOutputPrefix",), "before the first reply"),
    ("instructLastAssistantPrefix", ("instructLastOutputPrefix",), "before the last reply"),
    ("instructFirstUserPrefix", ("instructFirstInput",), "before the first user message"),
    ("instructLastUserPrefix", ("instructLastInput",), "before the last user message"),
    ("instructSystemInstructionPrefix", (), "before a system instruction"),
    ("instructUserFiller", (), "in place of a missing user message"),
    ("instructStop", (), "that ends a reply"),
    ("systemPrompt", (), "of the system prompt in use"),
    ("defaultSystemPrompt", ("instructSystem", "instructSystemPrompt"), "of the default system prompt"),
    ("exampleSeparator", ("chatSeparator",), "between example dialogues"),
    ("chatStart", (), "before the chat"),
)  # fmt: skip
_SUPPLIED: tuple[tuple[str, str], ...] = (
    ("authorsNote", "The author's note."),
    ("charAuthorsNote", "The character's author's note."),
    ("defaultAuthorsNote", "The default author's note."),
    ("reasoningPrefix", "The text before reasoning."),
    ("reasoningSuffix", "The text behind reasoning."),
    ("reasoningSeparator", "The text between reasoning and reply."),
    ("summary", "The chat's summary (bundled extension)."),
    ("defaultExpression", "The fallback expression (bundled extension)."),
    ("lastExpression", "The newest expression (bundled extension)."),
    ("availableExpressions", "All expressions (bundled extension)."),
    ("charPrefix", "The character's image prompt prefix (bundled extension)."),
    ("charNegativePrefix", "The character's negative image prompt prefix (bundled extension)."),
)
_DEFAULTS = {"exampleSeparator": "***", "chatStart": "***"}
_LEGACY_NAMES = {
    "exampleSeparator": ("chatSeparator",),
    "instructFirstAssistantPrefix": ("instructFirstAssistantPrefix",),
    "instructLastAssistantPrefix": ("instructLastAssistantPrefix",),
}
_CHANGING = {"authorsNote", "summary", "lastExpression"}


def template_text(view: MacroView, name: str) -> str:
    """The text the caller supplies for a macro of this module, else its default."""
    return setting(view, name, _DEFAULTS.get(name, ""))


def _macro(name: str, meaning: str, aliases: tuple[str, ...] = ()) -> Macro:
    def handler(call: Invocation) -> str:
        return template_text(call.view, name)

    volatility = Volatility.chat if name in _CHANGING else Volatility.never
    return Macro(
        name,
        meaning,
        f"{{{{{name}}}}}",
        handler,
        aliases=aliases,
        volatility=volatility,
        subject="templates",
        legacy_names=_LEGACY_NAMES.get(name, ()),
    )


def _old(name: str, setting_name: str) -> Macro:
    """A name that only the legacy engine knows."""
    return Macro(
        name,
        f"Old name of `{setting_name}`.",
        f"{{{{{name}}}}}",
        lambda call: template_text(call.view, setting_name),
        engines=frozenset({Engine.legacy}),
        subject="templates",
    )


MACROS = (
    *(_macro(name, f"Template text {what}.", aliases) for name, aliases, what in _TEMPLATES),
    _old("instructFirstOutput", "instructFirstAssistantPrefix"),
    _old("instructLastOutput", "instructLastAssistantPrefix"),
    *(_macro(name, meaning) for name, meaning in _SUPPLIED),
)
