"""The skeleton of a turn: which entries, in which order; remembered for the last few presets."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from preset_engine.dialect import Switches
from preset_engine.errors import Note
from preset_engine.preset.model import OrderItem, Preset, PromptEntry
from preset_engine.preset.sanitise import sillytavern_view
from preset_engine.preset.skeleton import Skeleton, native_skeleton

if TYPE_CHECKING:
    from preset_engine.assembler.collection import Programme


@dataclass(frozen=True, slots=True)
class Workshop:
    """What is kept of a preset from turn to turn, so that equal work is not done again.

    Attributes:
        programmes: all listed and supplied prompts as they came out, by type of generation.
    """

    programmes: dict[str, Programme] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Known:
    """A skeleton and what the last assemblies with it prepared."""

    preset: Preset
    has_holes: bool
    skeleton: Skeleton
    workshop: Workshop = field(default_factory=Workshop)


_known: deque[_Known] = deque(maxlen=16)


def read_skeleton(
    preset: Preset, switches: Switches
) -> tuple[tuple[OrderItem, ...], Mapping[str, PromptEntry]]:
    """The order of a preset and its entries by identifier; the first of an identifier counts."""
    skeleton = _recall(preset, switches).skeleton
    return skeleton.order, skeleton.entries


def skeleton_notes(preset: Preset, switches: Switches) -> tuple[Note, ...]:
    """What is odd about the skeleton."""
    return _recall(preset, switches).skeleton.notes


def workshop_of(preset: Preset, switches: Switches) -> Workshop:
    """What earlier assemblies of this preset have left."""
    return _recall(preset, switches).workshop


def _recall(preset: Preset, switches: Switches) -> _Known:
    for known in tuple(_known):
        if known.preset is preset and known.has_holes == switches.adds_holes:
            return known
    skeleton = native_skeleton(preset) if switches.adds_holes else _sillytavern(preset)
    made = _Known(preset, switches.adds_holes, skeleton)
    _known.append(made)
    return made


def _sillytavern(preset: Preset) -> Skeleton:
    entries, order = sillytavern_view(preset)
    return Skeleton(order, {entry.identifier: entry for entry in entries})
