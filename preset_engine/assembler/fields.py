"""The texts that the system supplies: card, persona, formats, impersonation, quiet prompt, bias.

SillyTavern reads every card field once at the start, running macros without the card's own (section 18 of
the reference, step 3), and formats scenario and personality right before the preset's prompts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from preset_engine.assembler.collection import Supplied
from preset_engine.assembler.extension import KNOWN_KEYS, ExtensionPrompt
from preset_engine.assembler.scene import Scene
from preset_engine.characters import JS_SPACE
from preset_engine.content.card import DepthNote
from preset_engine.messages import Origin, OriginKind, Piece

_CHAT_START = "***\n"


@dataclass(frozen=True, slots=True)
class Fields:
    """Card and persona texts after their first expansion (raw where the dialect runs no macros in them)."""

    system_prompt: str
    examples: str
    description: str
    personality: str
    persona: str
    scenario: str
    post_history: str
    depth_note: DepthNote


@dataclass(frozen=True, slots=True)
class Control:
    """Texts that steer this one generation, macros run once where SillyTavern does so."""

    impersonation: str = ""
    quiet: str = ""
    group_nudge: str = ""
    bias: str = ""


def read_fields(scene: Scene) -> Fields:
    """Read the card's texts in SillyTavern's order; each is trimmed, run once, freed of carriage returns."""
    return scene.expander.recall(("fields", scene.card.depth_note), lambda: _read_fields(scene))


def _read_fields(scene: Scene) -> Fields:
    raw = scene.card.fields

    def read(text: str, place: str) -> str:
        text = text.strip(JS_SPACE)
        if not text:
            return ""
        if not scene.switches.expands_supplied:
            return scene.expand_supplied(text, place)
        text = scene.expand(text, place, card_macros=False).replace("\r", "")
        if scene.expander.last_volatile:
            scene.volatile_fields.add(place)
        return text

    fields = Fields(
        system_prompt=read(raw.system_prompt, "card.system_prompt"),
        examples=read(raw.examples, "card.mes_example"),
        description=read(raw.description, "card.description"),
        personality=read(raw.personality, "card.personality"),
        persona=read(scene.persona.description, "persona.description"),
        scenario=read(raw.scenario, "card.scenario"),
        post_history=read(raw.post_history, "card.post_history_instructions"),
        depth_note=replace(
            scene.card.depth_note, text=read(raw.depth_prompt, "card.extensions.depth_prompt")
        ),
    )
    read(raw.creator_notes, "card.creator_notes")
    for greeting in raw.greetings:
        read(greeting, "card.first_mes")
    return fields


def expand_story(scene: Scene, fields: Fields) -> None:
    """Run what is left of macros in SillyTavern's story string, which it renders and does not use here.

    It then does the same for the text that starts a chat in text completion, which shows in the legacy engine's
    count of calls.
    """
    persona = fields.persona if scene.persona.position == 0 else ""
    texts = (
        fields.system_prompt,
        fields.description,
        fields.personality,
        fields.scenario,
        persona,
    )

    def expand() -> None:
        scene.expand("\n".join(text for text in texts if text), "story string")
        scene.expand(_CHAT_START, "chat start")

    scene.expander.recall(("story", texts), expand)


def format_fields(scene: Scene, fields: Fields) -> tuple[Fields, str, str]:
    """Put scenario and personality into their formats, then run group nudge and impersonation prompt.

    Returns:
        The fields, the group nudge, the impersonation prompt.
    """
    settings = scene.settings
    scenario, personality = fields.scenario, fields.personality
    if scene.switches.expands_supplied:
        if scenario and settings.scenario_format:
            scenario = _formatted(scene, "scenario", settings.scenario_format)
        if personality and settings.personality_format:
            personality = _formatted(scene, "personality", settings.personality_format)
    nudge = scene.expand(settings.group_nudge_prompt, "$.group_nudge_prompt")
    impersonation = scene.expand(settings.impersonation_prompt, "$.impersonation_prompt")
    if (scenario, personality) != (fields.scenario, fields.personality):
        fields = replace(fields, scenario=scenario, personality=personality)
    return fields, nudge, impersonation


def _formatted(scene: Scene, name: str, text: str) -> str:
    result = scene.trace(text, f"$.{name}_format")
    if result.volatile:
        scene.volatile_fields.add(f"card.{name}")
    return result.text


def supplied_prompts(
    scene: Scene, fields: Fields, control: Control, extensions: tuple[ExtensionPrompt, ...]
) -> list[Supplied]:
    """Every supplied prompt in the order in which SillyTavern prepares them."""
    found = [
        Supplied("worldInfoBefore", ()),
        Supplied("worldInfoAfter", ()),
        _card(scene, "charDescription", "description", fields.description),
        _card(scene, "charPersonality", "personality", fields.personality),
        _card(scene, "scenario", "scenario", fields.scenario),
    ]
    found += [
        _control("impersonate", "impersonation_prompt", control.impersonation),
        _control("quietPrompt", "quiet_prompt", control.quiet),
        _control("groupNudge", "group_nudge_prompt", control.group_nudge),
        _control("bias", "bias", control.bias, "assistant"),
    ]
    order = list(KNOWN_KEYS)
    known = [one for one in extensions if one.key in KNOWN_KEYS]
    found += _from_extensions(sorted(known, key=lambda one: order.index(one.key)))
    # SillyTavern prepares the raw persona here, not the text it has read before.
    persona = scene.persona.description
    if persona and scene.persona.position == 0:
        origin = Origin(OriginKind.PERSONA, "persona", scene.persona.name, "persona.description")
        is_volatile = scene.marks(
            origin,
            scene.persona.description,
            volatile="persona.description" in scene.volatile_fields,
        )
        found.append(Supplied("personaDescription", (Piece(origin, persona, is_volatile),)))
    found += _from_extensions(
        one for one in extensions if one.key not in KNOWN_KEYS and one.is_relative
    )
    return found


def _from_extensions(prompts: Iterable[ExtensionPrompt]) -> list[Supplied]:
    return [
        Supplied(one.identifier, (Piece(one.origin, one.text, one.is_volatile),), one.role, True)
        for one in prompts
    ]


def _card(scene: Scene, identifier: str, name: str, text: str) -> Supplied:
    if not text:
        return Supplied(identifier, ())
    origin = Origin(OriginKind.CARD, name, name.capitalize(), f"card.{name}")
    raw = str(getattr(scene.card.fields, name))
    is_volatile = f"card.{name}" in scene.volatile_fields
    return Supplied(
        identifier, (Piece(origin, text, scene.marks(origin, raw, volatile=is_volatile)),)
    )


def _control(identifier: str, key: str, text: str, role: str = "system") -> Supplied:
    origin = Origin(OriginKind.CONTROL, identifier, identifier, f"$.{key}")
    return Supplied(identifier, (Piece(origin, text, volatile=True),) if text else (), role, True)
