"""The native form: read, checked by its schema, written stable, converted both ways."""

import json

import pytest
from jsonschema import Draft202012Validator

from preset_engine.errors import UnreadableInput, WrongKind
from preset_engine.preset.diagnostics import enabled_entries
from preset_engine.preset.exporter import export_preset
from preset_engine.preset.importer import load_preset
from preset_engine.preset.model import PresetSource
from preset_engine.preset.native_schema import PRESET_SCHEMA
from preset_engine.preset.sanitise import sillytavern_view
from tests import truth
from tests.preset.samples import codes, entry, native, preset


def names(items):
    return [item.identifier for item in items]


def test_a_native_preset_is_read_with_its_order_and_policy():
    imported = load_preset(native())
    loaded = imported.preset
    assert loaded.source is PresetSource.NATIVE
    assert loaded.id == "tea-room-1a2b3c4d"
    assert names(loaded.orders[0].items) == ["rules", "off", "chatHistory", "deep"]
    assert loaded.squash == "semi"
    assert loaded.generation.temperature == 0.6
    deep = loaded.prompts[3]
    assert (deep.position, deep.depth, deep.injection_order) == (1, 3, 10)
    assert imported.notes == ()


def test_both_flags_decide_in_a_native_preset():
    loaded = load_preset(native()).preset
    assert names(enabled_entries(loaded)) == ["rules", "chatHistory", "deep"]


def test_only_the_order_decides_in_a_sillytavern_preset():
    loaded = load_preset(entry(0, enabled=False)).preset
    assert "main" in names(enabled_entries(loaded))


def test_a_native_preset_is_written_as_it_was():
    text = json.dumps(native())
    once = export_preset(load_preset(text).preset)
    assert once.document == native()
    assert once.to_text() == export_preset(load_preset(once.to_text()).preset).to_text()


def test_a_hole_may_be_named_by_its_source_identifier():
    document = native()
    document["prompts"][2] = {
        "id": "h1",
        "name": "H",
        "marker": True,
        "sourceIdentifier": "chatHistory",
    }
    document["promptOrder"][0]["promptId"] = "h1"
    loaded = load_preset(document).preset
    assert names(loaded.orders[0].items) == ["rules", "off", "chatHistory", "deep"]
    assert loaded.prompts[2].is_marker


def test_a_boolean_policy_is_kept():
    assert load_preset(native(messagePolicy={"squash": True})).preset.squash is True
    assert load_preset(native(messagePolicy={})).preset.squash is None


def test_schema_faults_name_the_place():
    document = native()
    document["prompts"][0]["role"] = "narrator"
    notes = [note for note in load_preset(document).notes if note.code == "schema-fault"]
    assert notes[0].path == "$.prompts[0].role"


def test_a_native_preset_without_a_list_of_prompts_is_refused_with_the_place():
    with pytest.raises((UnreadableInput, WrongKind), match="prompts"):
        load_preset({"promptOrder": [], "prompts": "none"})


def test_the_schema_is_published_as_it_is_used():
    published = json.loads((truth.ROOT / "docs/schema/preset.schema.json").read_text("utf-8"))
    assert published == PRESET_SCHEMA
    Draft202012Validator.check_schema(published)


def rich():
    document = preset(
        squash_system_messages=True,
        new_chat_prompt="[Now]",
        wi_format="<{0}>",
        extensions={
            "regex_scripts": [{"findRegex": "/a/g", "replaceString": "b", "placement": [1]}]
        },
    )
    document["prompts"][2]["injection_trigger"] = ["swipe"]
    document["prompts"][0]["forbid_overrides"] = True
    return document


def test_a_conversion_to_native_keeps_what_shapes_messages():
    before = load_preset(rich()).preset
    document = export_preset(before, "native").document
    assert not list(Draft202012Validator(PRESET_SCHEMA).iter_errors(document))
    after = load_preset(document).preset
    assert after.settings == before.settings
    assert after.generation == before.generation
    assert after.regex_scripts == before.regex_scripts
    assert names(enabled_entries(after)) == names(enabled_entries(before))
    assert [p.content for p in after.prompts] == [p.content for p in before.prompts]
    assert after.prompts[2].triggers == ("swipe",)
    assert after.prompts[0].forbid_overrides


def test_there_and_back_loses_nothing():
    before = load_preset(rich()).preset
    there = export_preset(before, "native").document
    back = export_preset(load_preset(there).preset, "sillytavern").document
    assert back == rich()


def test_a_native_preset_becomes_one_that_sillytavern_can_use():
    exported = export_preset(load_preset(native()).preset, "sillytavern")
    after = load_preset(exported.document).preset
    prompts, order = sillytavern_view(after)
    assert [item.identifier for item in order if item.is_enabled] == [
        "rules",
        "chatHistory",
        "deep",
    ]
    assert {entry.identifier: entry.system_prompt for entry in prompts}["rules"] is False
    assert exported.document["custom_prompt_post_processing"] == "semi"
    assert {note.code for note in exported.notes} == {"flags-joined", "mode-crossed"}


def test_what_cannot_cross_is_noted():
    document = native()
    document["prompts"].append({"id": "postTurn", "name": "P", "marker": True})
    document["promptOrder"].append({"promptId": "postTurn", "enabled": True, "orderIndex": 9})
    exported = export_preset(load_preset(document).preset, "sillytavern")
    assert "cannot-cross" in {note.code for note in exported.notes}
    doubled = entry(1, identifier="main")
    doubled["prompt_order"].append({"character_id": 5, "order": []})
    notes = export_preset(load_preset(doubled).preset, "native").notes
    assert {note.code for note in notes} >= {"cannot-cross"}
    assert next(note for note in notes if note.code == "cannot-cross").count == 2


@pytest.mark.full
@truth.corpus("presets")
def test_a_real_preset_converts_both_ways(path):
    before = load_preset(path).preset
    there = load_preset(export_preset(before, "native").document).preset
    assert names(enabled_entries(there)) == names(enabled_entries(before))
    assert [e.content for e in enabled_entries(there)] == [
        e.content for e in enabled_entries(before)
    ]
    assert (there.settings, there.generation) == (before.settings, before.generation)
    back = load_preset(export_preset(there, "sillytavern").document).preset
    assert names(enabled_entries(back)) == names(enabled_entries(before))


def test_a_native_preset_needs_no_order():
    document = native()
    del document["promptOrder"]
    imported = load_preset(document)
    assert "order-missing" not in codes(imported) or imported.preset.orders[0].items
    assert names(imported.preset.orders[0].items)[0] == "rules"
