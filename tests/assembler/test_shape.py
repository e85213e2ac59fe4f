"""Shaping with a memory gives what shaping without one gives."""

from __future__ import annotations

from hypothesis import given

from preset_engine.assembler.assemble import assemble
from preset_engine.assembler.scene import open_scene
from preset_engine.assembler.shape import shape_turn
from preset_engine.content.content import Block, Content
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.preset.importer import load_preset
from preset_engine.squash.names import Names
from preset_engine.squash.native import shape_zones
from tests.assembler.generated import MODES, chats, presets


@given(presets(), chats(), MODES)
def test_native_zones_are_shaped_as_a_whole(body, history, mode):
    content = Content(
        history=history, turn="Now?", before=[Block("Stage", "Fog.")], user="Noa", char="Mira"
    )
    scene = open_scene(load_preset(body).preset, content, Dialect.native, Context())
    zones = assemble(scene)
    whole = shape_zones(zones, "strict" if mode is None else mode, Names("Mira", "Noa"))
    for _ in range(2):
        shaped = shape_turn(scene, zones, mode)
        assert list(shaped.messages) == whole.messages()
        assert [d.pieces for d in shaped.drafts()] == [d.pieces for d in whole.drafts()]
