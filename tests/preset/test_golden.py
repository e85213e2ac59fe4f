"""Golden rows of the import, slugs and generation mapping; round trips of the fault reports."""

from preset_engine.preset.exporter import export_preset
from preset_engine.preset.generation import (
    effort_to_send,
    generation_to_json,
    normalize_generation,
    request_sampling,
)
from preset_engine.preset.importer import load_preset, make_slug
from preset_engine.preset.skeleton import native_skeleton
from tests import truth


@truth.seeds("wa.st_import")
def test_import_of_a_sillytavern_preset(row):
    imported = load_preset(row["input"]["raw"])
    preset, expected = imported.preset, row["expected"]
    frame = native_skeleton(preset)
    entries = {**{entry.identifier: entry for entry in preset.prompts}, **frame.entries}
    generation = generation_to_json(preset.generation)
    order = [item for item in frame.order if item.identifier in entries]
    assert [[item.identifier, item.is_enabled] for item in order] == expected["order"]
    assert {name: entry.role for name, entry in entries.items()} == expected["roles"]
    assert len(entries) == expected["prompt_count"]
    assert sum(item.is_enabled for item in order) == expected["enabled_count"]
    listed = {item.identifier for item in order}
    assert sum(name not in listed for name in entries) == expected["unreferenced_count"]
    assert list(imported.diagnostics.missing) == expected["missing_identifiers"]
    assert generation == expected["generation"]
    assert list(generation) == expected["generation_fields"]
    assert [part.path for part in preset.unsupported] == expected["unsupported"]
    has_several = any(note.code == "several-orders" for note in imported.notes)
    assert has_several == ("multiple_orders" in expected["warning_kinds"])
    chosen = imported.diagnostics.order.character_id
    assert chosen == str(expected["selected_character_id"])
    for identifier, position, depth, order_number in expected["injections"]:
        entry = entries[identifier]
        assert entry.position == position
        if depth is not None:
            assert (entry.depth, entry.injection_order) == (depth, order_number)


@truth.seeds("wa.slug")
def test_slug_of_a_name(row):
    assert make_slug(row["input"]["name"]) == row["expected"]["slug"]


@truth.seeds("wa.normalize_generation")
def test_generation_is_normalised(row):
    assert generation_to_json(normalize_generation(row["input"]["input"])) == row["expected"]


@truth.seeds("wa.request_sampling")
def test_sampling_fields_of_a_model(row):
    given = row["input"]
    body = request_sampling(given["model"], normalize_generation(given["generation"]))
    assert body == row["expected"]


@truth.seeds("wa.reasoning_effort")
def test_effort_that_is_sent(row):
    assert effort_to_send(row["input"]["value"]) == row["expected"]["effort"]


@truth.cases("round-trip")
def test_a_round_trip_loses_nothing(row):
    given = row["input"]["preset"]
    document = export_preset(load_preset(given).preset).document
    assert document == given
    for key, value in row["expected"].get("preset", {}).items():
        assert document[key] == value
