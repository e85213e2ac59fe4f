"""The scene of one turn: who speaks, what the macros may see, which switches hold.

It is made once an assembly. The variables and the chat inside the view change while macros run; everything
else is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from preset_engine.assembler.chat import Chat
from preset_engine.assembler.recall import RecallingExpander
from preset_engine.assembler.skeleton import Workshop, workshop_of
from preset_engine.assembler.watched import WatchedVariables
from preset_engine.characters import JS_SPACE
from preset_engine.content.card import Card, read_card
from preset_engine.content.content import Content, Persona
from preset_engine.context import Context
from preset_engine.dialect import Dialect, Switches
from preset_engine.errors import Note
from preset_engine.json_values import as_object, as_text
from preset_engine.macros.engine import Engine
from preset_engine.macros.expand import Expansion
from preset_engine.macros.legacy import card_has_effects
from preset_engine.macros.native import put_names
from preset_engine.macros.view import CardFields, MacroView, Variables
from preset_engine.messages import ChatRecord, JsonValue, Origin
from preset_engine.preset.model import AssemblySettings, Preset

_FIXED_CHAT_HASH = 0
BOX_STAYS = (
    "quiet",
    "swipe",
    "regenerate",
    "impersonate",
)  # generations that leave the typed text alone


@dataclass(frozen=True, slots=True)
class Scene:
    """What every stage of an assembly reads.

    Attributes:
        preset: the preset as the dialect sees it.
        content: the caller's content.
        switches: the dialect's differences.
        context: the outside world.
        user: the user's name.
        char: the speaking character's name.
        persona: the persona, a plain one where none is given.
        card: the character card; an empty one where none is given.
        chat: the chat so far, as macros see it.
        view: what macros see.
        expander: runs macros over that view.
        runs_always: every text counts for the legacy engine, since it expands all card fields on each call.
        window: how many records are kept when the history is cut, with hysteresis; None keeps all.
        volatile_fields: places of card and persona texts whose macros can give another text next turn.
        causes: raw texts of the origins that can change; a plan finds the words for why.
        notes: remarks gathered on the way.
        workshop: what earlier assemblies of this preset have left.
    """

    preset: Preset
    content: Content
    switches: Switches
    context: Context
    user: str
    char: str
    persona: Persona
    card: Card
    chat: Chat
    view: MacroView
    expander: RecallingExpander
    runs_always: bool = False
    window: int | None = None
    volatile_fields: set[str] = field(default_factory=set)
    causes: dict[Origin, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    workshop: Workshop = field(default_factory=Workshop)

    @property
    def settings(self) -> AssemblySettings:
        """The preset's settings."""
        return self.preset.settings

    @property
    def generation_type(self) -> str:
        """The type of the running generation."""
        return self.content.generation_type

    @property
    def is_group(self) -> bool:
        """Several characters take part."""
        return bool(self.view.group)

    def expand(
        self,
        text: str,
        place: str = "",
        *,
        original: str | None = None,
        extra: Mapping[str, str] | None = None,
        card_macros: bool = True,
    ) -> str:
        """Run macros once over a text."""
        if not text:
            return text
        return self.expander.expand(
            text, place=place, original=original, extra=extra, card_macros=card_macros
        )

    def expand_supplied(self, text: str, place: str = "") -> str:
        """Run what the dialect allows over a text that the caller supplied."""
        if self.switches.expands_supplied:
            return self.expand(text, place)
        return self.expand_names(text)

    def expand_names(self, text: str) -> str:
        """Names, persona and directives, and no other macro: for content that is not the preset author's."""
        return put_names(text, self.user, self.char, self.persona.description)

    def trace(self, text: str, place: str = "") -> Expansion:
        """As `expand`, with the word whether the result can differ next turn."""
        return self.expander.expand_traced(text, place=place) if text else Expansion(text)

    def trace_supplied(self, text: str, place: str = "") -> Expansion:
        """As `expand_supplied`, with the same word."""
        if self.switches.expands_supplied:
            return self.trace(text, place)
        return Expansion(self.expand_names(text))

    def marks(self, origin: Origin, raw: str, *, volatile: bool) -> bool:
        """Keep the raw text of an origin that can change; gives `volatile` back."""
        if volatile:
            self.causes[origin] = raw
        return volatile

    def changed_variables(self) -> set[tuple[str, str]]:
        """Variables that are not what they were when the assembly began, by store and name."""
        stores = (
            ("local", self.content.variables, self.view.variables.local),
            ("global", self.content.global_variables, self.view.variables.shared),
        )
        return {
            (store, name)
            for store, before, after in stores
            for name in {*before, *after}
            if before.get(name) != dict.get(after, name)
        }

    def setting(self, name: str) -> JsonValue:
        """One of the caller's settings, None where it is absent."""
        return self.content.settings.get(name)

    def user_switch(self, name: str, default: JsonValue = None) -> JsonValue:
        """One of the user's switches (`settings.power_user`)."""
        return as_object(self.setting("power_user")).get(name, default)


def open_scene(
    preset: Preset,
    content: Content,
    dialect: Dialect,
    context: Context,
    *,
    window: int | None = None,
) -> Scene:
    """Gather names, card, persona and macros for one turn."""
    switches = dialect.switches
    card = read_card(content.card) if content.card is not None else Card()
    char = (card.file_name if switches.opens_chat else card.name) or content.char or "Assistant"
    user = content.user_name
    persona = content.persona or Persona(name=user)
    card = _overridden(card, content)
    chat = Chat(content.history if not isinstance(content.history, str) else (), user, char)
    heard = _heard(chat, content, switches, user, char)
    view = _view(
        preset, content, context, card=card, chat=heard, user=user, char=char, persona=persona
    )
    engine = _engine(content, switches)
    return Scene(
        preset=preset,
        content=content,
        switches=switches,
        context=context,
        user=user,
        char=char,
        persona=persona,
        card=card,
        chat=chat,
        view=view,
        expander=RecallingExpander(
            view, engine=engine, standing=_card_macros(view, content, engine)
        ),
        runs_always=engine is Engine.legacy and card_has_effects(view),
        window=window,
        workshop=workshop_of(preset, switches),
    )


def _heard(chat: Chat, content: Content, switches: Switches, user: str, char: str) -> Chat:
    """The chat as macros see it: an input that has a hole of its own ends it all the same.

    So `{{lastUserMessage}}` is the newest input, whichever place the input has.
    """
    if not switches.has_turn_hole or not content.turn:
        return chat
    heard = Chat(chat.stored, user, char)
    heard.append(ChatRecord(user, content.turn, is_user=True))
    return heard


def _card_macros(view: MacroView, content: Content, engine: Engine) -> Mapping[str, str]:
    """Native: a given card fills `{{description}}` and its like; without one they stay text."""
    if engine is not Engine.native or content.card is None:
        return {}
    return _filled_card(view.card, view.user, view.char, view.persona)


@lru_cache(maxsize=16)
def _filled_card(card: CardFields, user: str, char: str, persona: str) -> Mapping[str, str]:
    """The card macros of one card and one persona; the same on every turn of a chat."""
    texts = {
        "description": card.description,
        "personality": card.personality,
        "scenario": card.scenario,
        "mesExamples": card.examples,
    }
    filled = {name: put_names(text, user, char, persona) for name, text in texts.items()}
    short = ("description", "personality", "scenario")
    return filled | {f"char{name.capitalize()}": filled[name] for name in short}


def _engine(content: Content, switches: Switches) -> Engine:
    """The macro engine: the seeds' own in dialect native, else SillyTavern's by the setting `macro_engine`."""
    if not switches.keeps_variables:
        return Engine.native
    return Engine.legacy if content.settings.get("macro_engine") == "legacy" else Engine.new


def _overridden(card: Card, content: Content) -> Card:
    """The card with what the chat says in its place, and without what the user does not allow."""
    metadata = as_object(content.settings.get("chat_metadata"))
    user = as_object(content.settings.get("power_user"))
    changes: dict[str, Any] = {}  # texts; `replace` cannot say so
    for key, name in (
        ("scenario", "scenario"),
        ("system_prompt", "system_prompt"),
        ("mes_example", "examples"),
    ):
        text = as_text(metadata.get(key)).strip(JS_SPACE)
        if text:
            changes[name] = text
    if user.get("prefer_character_prompt", True) is False:
        changes["system_prompt"] = ""
    if user.get("prefer_character_jailbreak", True) is False:
        changes["post_history"] = ""
    return replace(card, fields=replace(card.fields, **changes)) if changes else card


def _view(
    preset: Preset,
    content: Content,
    context: Context,
    *,
    card: Card,
    chat: Sequence[ChatRecord],
    user: str,
    char: str,
    persona: Persona,
) -> MacroView:
    settings = content.settings
    metadata = as_object(settings.get("chat_metadata"))
    generation = preset.generation
    has_box = content.generation_type in BOX_STAYS
    chat_hash = metadata.get("chat_id_hash", settings.get("chat_hash", _FIXED_CHAT_HASH))
    return MacroView(
        user=user,
        char=char,
        persona=persona.description,
        card=card.fields,
        chat=chat,
        variables=Variables(
            WatchedVariables(content.variables), WatchedVariables(content.global_variables)
        ),
        context=context,
        chat_hash=chat_hash if isinstance(chat_hash, int) else _FIXED_CHAT_HASH,
        settings={
            "max_context": generation.max_context_tokens or 4095,
            "max_response": generation.max_output_tokens or 300,
            "model": settings.get("model", ""),
            "last_generation_type": settings.get("last_generation_type", content.generation_type),
            "input_text": content.turn if has_box else "",
            "prefer_character_prompt": True,
        },
        generation_type=content.generation_type,
        is_swipe=content.generation_type == "swipe",
    )


Trace = Callable[[str], Expansion]
