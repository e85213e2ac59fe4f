"""The last stage: squash and post-processing, over the zones or over the flat list.

In dialect sillytavern the flat list is shaped twice, first by the page (`squash_system_messages`), then by the
server (the mode); in dialect native the zones around the history are shaped by one mode. What a shaping did is
kept as ranges, so the pieces of a message can be told later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from preset_engine.assembler.scene import Scene
from preset_engine.errors import AssemblyError, Note
from preset_engine.json_values import as_text
from preset_engine.messages import ChatMessage, Draft
from preset_engine.squash.names import Names
from preset_engine.squash.native import shape_zones
from preset_engine.squash.post_process import Mode, mode_of, shape
from preset_engine.squash.shaped import PLACEHOLDER, Shaped
from preset_engine.squash.system import shape_system
from preset_engine.squash.zones import Zones


@dataclass(frozen=True, slots=True)
class ShapedTurn:
    """A shaped prompt.

    Attributes:
        messages: what is sent.
        page: the messages before the mode, where they are another list.
        filled: the zones as they went in, where the shaping made new ones.
        zones: the zones (native: as they came out of the shaping).
        shapings: what was done to the flat list, in order; empty when nothing was.
        joins: neighbours may have become one message.
    """

    messages: tuple[ChatMessage, ...] = ()
    page: tuple[ChatMessage, ...] | None = None
    filled: Zones | None = None
    zones: Zones = field(default_factory=Zones)
    shapings: tuple[Shaped, ...] = ()
    joins: bool = False

    @property
    def assembled(self) -> tuple[ChatMessage, ...]:
        """The messages before the mode."""
        if self.page is not None:
            return self.page
        return self.messages if self.filled is None else tuple(self.filled.messages())

    def drafts(self) -> Iterator[Draft]:
        """Every message that is sent, with its pieces."""
        if not self.shapings:
            return self.zones.drafts()
        drafts = list(self.zones.drafts())
        for shaped in self.shapings:
            drafts = list(shaped.drafts(drafts))
        return iter(drafts)


def shape_turn(scene: Scene, zones: Zones, squash: str | bool | None) -> ShapedTurn:
    """Shape the zones of a scene.

    Args:
        scene: tells the names and settings.
        zones: the filled prompt.
        squash: the caller's mode or boolean; None leaves it to preset and dialect.
    """
    names = Names(scene.char, scene.user, scene.view.group)
    if scene.switches.shapes_zones:
        mode = _native_mode(scene, squash)
        shaped = shape_zones(zones, mode, names, _placeholder(scene))
        joins = mode not in (False, "", "none")
        return ShapedTurn(tuple(shaped.messages()), filled=zones, zones=shaped, joins=joins)
    return _shape_flat(scene, zones, squash, names)


def shape_plain(zones: Zones, squash: str | bool | None) -> ShapedTurn:
    """A turn without a preset: untouched unless the caller names a mode."""
    if squash is None or squash is False:
        return ShapedTurn(tuple(zones.messages()), zones=zones)
    shaped = shape_zones(zones, squash)
    return ShapedTurn(tuple(shaped.messages()), filled=zones, zones=shaped, joins=True)


def _shape_flat(scene: Scene, zones: Zones, squash: str | bool | None, names: Names) -> ShapedTurn:
    is_squashed = scene.settings.squash_system_messages if not isinstance(squash, bool) else squash
    mode = _flat_mode(scene, squash)
    if mode is Mode.NONE and not is_squashed:
        return ShapedTurn(tuple(zones.messages()), zones=zones)
    tail = tuple(draft.message for draft in zones.tail)  # no mode shapes a running tool loop
    flat = zones.messages()[: -len(tail) or None]
    shapings: list[Shaped] = []
    if is_squashed:
        shaped = shape_system(flat, _fixed(zones, len(flat)))
        shapings.append(shaped.followed_by(tail))
        flat = shaped.messages()
    assembled = (*flat, *tail)
    if mode is Mode.NONE:
        return ShapedTurn(assembled, zones=zones, shapings=tuple(shapings), joins=is_squashed)
    shapings.append(shape(flat, mode, names, _placeholder(scene)).followed_by(tail))
    return ShapedTurn(
        tuple(shapings[-1].messages()), assembled, zones=zones, shapings=tuple(shapings), joins=True
    )


def _placeholder(scene: Scene) -> str:
    """Text of the user message that a mode may put in (the setting `prompt_placeholder`)."""
    return as_text(scene.setting("prompt_placeholder")) or PLACEHOLDER


def _flat_mode(scene: Scene, squash: str | bool | None) -> Mode:
    if isinstance(squash, str):
        return mode_of(squash)
    given = scene.setting("custom_prompt_post_processing")
    own = scene.settings.custom_prompt_post_processing
    return _known_mode(scene, own if given is None else as_text(given)) or Mode.NONE


def _native_mode(scene: Scene, squash: str | bool | None) -> str | bool:
    """The caller's mode, the package's own, SillyTavern's setting in the preset, the default: the first that is."""
    if squash is not None:
        return squash
    if scene.preset.squash is not None:
        return scene.preset.squash
    own = scene.settings.custom_prompt_post_processing
    return (_known_mode(scene, own) if own else None) or scene.switches.default_mode


def _known_mode(scene: Scene, name: str) -> Mode | None:
    """A preset's mode; an unknown one is a note and does nothing, as in SillyTavern."""
    try:
        return mode_of(name)
    except AssemblyError as error:
        scene.notes.append(
            Note(
                "squash-unknown",
                f"{error}; it is left out",
                path="$.custom_prompt_post_processing",
                advice="set one of the known modes",
            )
        )
        return None


def _fixed(zones: Zones, count: int) -> frozenset[int]:
    """Numbers of the messages that never join, counted in the flat list."""
    first_after = count - len(zones.after)
    before = (number for number, draft in enumerate(zones.before) if draft.is_fixed)
    after = (first_after + number for number, draft in enumerate(zones.after) if draft.is_fixed)
    return frozenset((*before, *after))
