"""The skeleton of a turn: which entries, in which order; remembered for the last few presets."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from preset_engine.dialect import Switches
from preset_engine.errors import Note
from preset_engine.preset.model import OrderItem, Preset, PromptEntry
from preset_engine.preset.sanitise import sillytavern_view
from preset_engine.preset.skeleton import Skeleton, native_skeleton

_known: deque[tuple[Preset, bool, Skeleton]] = deque(maxlen=16)


def read_skeleton(
    preset: Preset, switches: Switches
) -> tuple[tuple[OrderItem, ...], Mapping[str, PromptEntry]]:
    """The order of a preset and its entries by identifier; the first of an identifier counts."""
    skeleton = _skeleton(preset, switches)
    return skeleton.order, skeleton.entries


def skeleton_notes(preset: Preset, switches: Switches) -> tuple[Note, ...]:
    """What is odd about the skeleton."""
    return _skeleton(preset, switches).notes


def _skeleton(preset: Preset, switches: Switches) -> Skeleton:
    for known, has_holes, skeleton in _known:
        if known is preset and has_holes == switches.adds_holes:
            return skeleton
    skeleton = native_skeleton(preset) if switches.adds_holes else _sillytavern(preset)
    _known.append((preset, switches.adds_holes, skeleton))
    return skeleton


def _sillytavern(preset: Preset) -> Skeleton:
    entries, order = sillytavern_view(preset)
    found: dict[str, PromptEntry] = {}
    for entry in entries:
        found.setdefault(entry.identifier, entry)
    return Skeleton(order, found)
