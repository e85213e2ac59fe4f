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
    from preset_engine.assembler.collection import Prompt


@dataclass(frozen=True, slots=True)
class _Known:
    """A skeleton and the prompts last prepared from its entries, by identifier."""

    preset: Preset
    has_holes: bool
    skeleton: Skeleton
    prepared: dict[str, Prompt] = field(default_factory=dict)


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


def last_prepared(preset: Preset, switches: Switches) -> dict[str, Prompt]:
    """The prompts that an assembly of this preset prepared last; an equal text need not be wrapped again."""
    return _recall(preset, switches).prepared


def _recall(preset: Preset, switches: Switches) -> _Known:
    for known in _known:
        if known.preset is preset and known.has_holes == switches.adds_holes:
            return known
    skeleton = native_skeleton(preset) if switches.adds_holes else _sillytavern(preset)
    _known.append(_Known(preset, switches.adds_holes, skeleton))
    return _known[-1]


def _sillytavern(preset: Preset) -> Skeleton:
    entries, order = sillytavern_view(preset)
    found: dict[str, PromptEntry] = {}
    for entry in entries:
        found.setdefault(entry.identifier, entry)
    return Skeleton(order, found)
