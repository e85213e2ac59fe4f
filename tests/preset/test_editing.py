"""Edits give a new preset whose document says the same, and touch nothing else."""

import copy

import pytest

from preset_engine.errors import AssemblyError
from preset_engine.preset.editing import (
    list_entries,
    set_generation,
    set_role,
    set_text,
    toggle_entry,
)
from preset_engine.preset.exporter import export_preset
from preset_engine.preset.importer import load_preset
from preset_engine.preset.model import Generation
from tests.preset.samples import native, preset


def edited(document, change):
    """The exported document after an edit, which reads back as the edited preset."""
    before = load_preset(copy.deepcopy(document)).preset
    after = change(before)
    exported = export_preset(after).document
    again = load_preset(exported).preset
    assert [entry.content for entry in again.prompts] == [entry.content for entry in after.prompts]
    assert again.orders == after.orders
    assert again.generation == after.generation
    assert before.raw == document  # the preset itself is as it was
    return exported


def test_switching_on_sets_the_order_and_nothing_else():
    expected = preset()
    expected["prompt_order"][0]["order"][1]["enabled"] = True
    assert edited(preset(), lambda p: toggle_entry(p, "tone", is_enabled=True)) == expected


def test_switching_off_sets_the_order_only():
    expected = preset()
    expected["prompt_order"][0]["order"][0]["enabled"] = False
    assert edited(preset(), lambda p: toggle_entry(p, "main", is_enabled=False)) == expected


def test_switching_on_lists_an_entry_that_is_not_in_the_order():
    document = preset()
    del document["prompt_order"][0]["order"][1]
    exported = edited(document, lambda p: toggle_entry(p, "tone", is_enabled=True))
    assert exported["prompt_order"][0]["order"][-1] == {"identifier": "tone", "enabled": True}


def test_other_fields_of_order_lists_survive():
    document = preset()
    document["prompt_order"][0]["x_tool"] = {"a": 1}
    document["prompt_order"].append({"character_id": 7, "order": []})
    exported = edited(document, lambda p: toggle_entry(p, "tone", is_enabled=True))
    assert exported["prompt_order"][0]["x_tool"] == {"a": 1}
    assert exported["prompt_order"][1] == {"character_id": 7, "order": []}


def test_a_text_changes_one_field():
    expected = preset()
    expected["prompts"][1]["content"] = "Keep a brisk tone."
    assert edited(preset(), lambda p: set_text(p, "tone", "Keep a brisk tone.")) == expected


def test_a_role_changes_one_field():
    expected = preset()
    expected["prompts"][2]["role"] = "assistant"
    assert edited(preset(), lambda p: set_role(p, "near", "assistant")) == expected


def test_a_marker_with_a_text_becomes_an_ordinary_entry():
    document = preset()
    document["prompts"].append(
        {"identifier": "title", "name": "t", "role": "system", "content": "", "marker": True}
    )
    exported = edited(document, lambda p: set_text(p, "title", "Chapter"))
    assert exported["prompts"][-1]["marker"] is False
    assert exported["prompts"][-1]["content"] == "Chapter"


def test_the_generation_is_replaced_whole():
    exported = edited(preset(), lambda p: set_generation(p, {"temperature": "0.5", "topK": 20}))
    assert exported["temperature"] == 0.5
    assert exported["top_k"] == 20
    assert "top_p" not in exported
    assert edited(preset(), lambda p: set_generation(p, p.generation)) == preset()


def test_damaged_elements_stay_in_their_place():
    document = preset()
    document["prompts"].insert(1, "x")
    exported = edited(document, lambda p: set_text(p, "tone", "New."))
    assert exported["prompts"][1] == "x"
    assert exported["prompts"][2]["content"] == "New."


def test_an_old_form_becomes_the_present_one_when_edited():
    exported = edited({"main_prompt": "M", "temperature": 1}, lambda p: set_text(p, "main", "New."))
    assert "main_prompt" not in exported
    assert exported["prompts"][0]["content"] == "New."


def test_switching_in_a_native_preset_sets_both_flags():
    exported = edited(native(), lambda p: toggle_entry(p, "off", is_enabled=True))
    assert exported["prompts"][1]["enabled"] is True
    assert exported["messagePolicy"] == {"squash": "semi"}


def test_an_unknown_entry_and_an_unknown_role_are_errors():
    loaded = load_preset(preset()).preset
    with pytest.raises(AssemblyError, match="nobody"):
        toggle_entry(loaded, "nobody", is_enabled=True)
    with pytest.raises(AssemblyError, match="narrator"):
        set_role(loaded, "main", "narrator")
    assert set_generation(loaded, Generation()).generation == Generation()


def test_the_list_shows_the_order_first_and_then_the_rest():
    document = preset()
    del document["prompt_order"][0]["order"][0]
    listed = [
        (entry.identifier, is_on) for entry, is_on in list_entries(load_preset(document).preset)
    ]
    assert listed == [("tone", False), ("near", True), ("chatHistory", True), ("main", None)]
