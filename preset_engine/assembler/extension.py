"""Extension prompts: texts that stand beside the preset's list and are placed by position and depth.

Author's note, persona, the card's depth note and scripts put them in; world info at depth joins them. Keys
are SillyTavern's, since texts of one depth and role are joined in the order of their keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from preset_engine.assembler.pieces import Pieces
from preset_engine.assembler.scene import Scene
from preset_engine.characters import JS_SPACE
from preset_engine.content.card import DepthNote, role_name
from preset_engine.json_values import as_list, as_object, as_text
from preset_engine.messages import ChatRecord, JsonValue, Origin, OriginKind, Piece

NOTE_KEY = "2_floating_prompt"
DEPTH_KEY = "DEPTH_PROMPT"
PERSONA_KEY = "PERSONA_DESCRIPTION"

# Keys that take a name of their own in the collection, in the order in which SillyTavern adds them.
KNOWN_KEYS = {
    "1_memory": "summary",
    NOTE_KEY: "authorsNote",
    "3_vectors": "vectorsMemory",
    "4_vectors_data_bank": "vectorsDataBank",
    "chromadb": "smartContext",
}


class Place(IntEnum):
    """Where an extension prompt stands; SillyTavern's numbers."""

    NONE = -1
    IN_PROMPT = 0
    IN_CHAT = 1
    BEFORE_PROMPT = 2


@dataclass(frozen=True, slots=True)
class ExtensionPrompt:
    """One extension prompt.

    Attributes:
        key: its name; decides the order among prompts of one place.
        text: raw text.
        place: where it stands.
        depth: in messages from the end, for `IN_CHAT`.
        role: wire name of the role.
        origin: where the text came from.
        is_volatile: the text can change from turn to turn.
    """

    key: str
    text: str
    place: int
    depth: JsonValue
    role: str
    origin: Origin
    is_volatile: bool = True

    @property
    def identifier(self) -> str:
        """The identifier in the collection of prompts."""
        return KNOWN_KEYS.get(self.key) or re.sub(r"\W", "_", self.key, flags=re.ASCII)

    @property
    def is_relative(self) -> bool:
        """It stands beside the main prompt."""
        return self.place in (Place.IN_PROMPT, Place.BEFORE_PROMPT)

    @property
    def pieces(self) -> Pieces:
        """The trimmed text as a piece."""
        text = self.text.strip(JS_SPACE)
        return (Piece(self.origin, text, self.is_volatile),) if text else ()


def gather_extensions(scene: Scene, depth_note: DepthNote) -> tuple[ExtensionPrompt, ...]:
    """All extension prompts of the turn, in the order of SillyTavern's keys.

    Args:
        scene: the scene; its chat already ends with the new message.
        depth_note: the card's note with its text expanded once.
    """
    found = [_script(value) for value in _given(scene)]
    found.append(_note(scene))
    if depth_note.text:
        found.append(_depth_note(scene, depth_note))
    found = [one for one in _with_persona(scene, found) if one.text]
    return tuple(sorted(found, key=lambda one: _utf16(one.key)))


def in_chat(prompts: Iterable[ExtensionPrompt]) -> list[ExtensionPrompt]:
    """Those that stand in the chat and have a text."""
    return [one for one in prompts if one.place == Place.IN_CHAT and one.pieces]


def expand_unused(scene: Scene, prompts: Sequence[ExtensionPrompt]) -> None:
    """Run the macros of the relative prompts as SillyTavern does for a story string that chat does not use."""
    for place in (Place.BEFORE_PROMPT, Place.IN_PROMPT):
        texts = [one.text.strip(JS_SPACE) for one in prompts if one.place == place]
        scene.expand("\n".join(text for text in texts if text))


def expand_for_bookkeeping(scene: Scene, prompts: Sequence[ExtensionPrompt]) -> None:
    """Run every prompt's macros once more, as SillyTavern does when the prompt is final."""
    for one in prompts:
        scene.expand(one.text, one.key)


def _given(scene: Scene) -> list[JsonValue]:
    return as_list(scene.setting("extension_prompts"))


def _script(value: JsonValue) -> ExtensionPrompt:
    body = as_object(value)
    key = as_text(body.get("key"))
    place = body.get("position")
    origin = Origin(OriginKind.INJECTION, key, key, "settings.extension_prompts")
    return ExtensionPrompt(
        key,
        as_text(body.get("value")),
        place if isinstance(place, int) else Place.NONE,
        body.get("depth", 0),
        role_name(body.get("role")),
        origin,
    )


def _depth_note(scene: Scene, note: DepthNote) -> ExtensionPrompt:
    place = "card.extensions.depth_prompt"
    origin = Origin(OriginKind.INJECTION, DEPTH_KEY, "Character note", place)
    is_volatile = scene.marks(
        origin, scene.card.depth_note.text, volatile=place in scene.volatile_fields
    )
    return ExtensionPrompt(
        DEPTH_KEY, note.text, Place.IN_CHAT, note.depth, note.role, origin, is_volatile
    )


def _note(scene: Scene) -> ExtensionPrompt:
    """The author's note of the chat; empty on turns that its interval leaves out."""
    body = _note_settings(scene)
    interval = body.get("interval", 1)
    is_active = _is_due(scene.chat, interval if isinstance(interval, int) else 1)
    place = body.get("position", Place.IN_CHAT)
    return ExtensionPrompt(
        NOTE_KEY,
        as_text(body.get("prompt")) if is_active else "",
        place if isinstance(place, int) else Place.IN_CHAT,
        body.get("depth", 4),
        role_name(body.get("role", 0)),
        Origin(OriginKind.INJECTION, NOTE_KEY, "Author's note", "note"),
    )


def _note_settings(scene: Scene) -> dict[str, JsonValue]:
    metadata = as_object(scene.setting("chat_metadata"))
    body = {key[5:]: value for key, value in metadata.items() if key.startswith("note_")}
    return {**body, **(scene.content.note or {})}


def _is_due(chat: Sequence[ChatRecord], interval: int) -> bool:
    if interval == 1:
        return True
    if interval <= 0:
        return False
    count = sum(record.is_user for record in chat)
    if not count:
        return False
    return count % interval == 0 if count >= interval else interval - count == 0


def _with_persona(scene: Scene, prompts: list[ExtensionPrompt]) -> list[ExtensionPrompt]:
    """Put the persona around the note (positions 2 and 3) or at its depth (position 4)."""
    persona = scene.persona
    if not persona.description:
        return prompts
    if persona.position == 4:
        origin = Origin(OriginKind.PERSONA, "persona", persona.name, "persona.description")
        at_depth = ExtensionPrompt(
            PERSONA_KEY,
            persona.description,
            Place.IN_CHAT,
            persona.depth,
            role_name(persona.role),
            origin,
            scene.marks(
                origin, persona.description, volatile="persona.description" in scene.volatile_fields
            ),
        )
        return [*prompts, at_depth]
    if persona.position not in (2, 3):
        return prompts
    return [_around(one, persona.description, persona.position, scene) for one in prompts]


def _around(
    prompt: ExtensionPrompt, description: str, position: int, scene: Scene
) -> ExtensionPrompt:
    if prompt.key != NOTE_KEY or not _is_due(scene.chat, _interval(scene)):
        return prompt
    texts = (description, prompt.text) if position == 2 else (prompt.text, description)
    return replace(prompt, text="\n".join(texts))


def _interval(scene: Scene) -> int:
    value = _note_settings(scene).get("interval", 1)
    return value if isinstance(value, int) else 1


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
