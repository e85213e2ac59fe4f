"""Every shipped preset is taken as it is, sends what its snapshot says, and is described in the folder's README."""

import json

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from preset_engine.cli.content_files import ContentFiles, gather_content
from preset_engine.cli.probing import Wish, probe_turn
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.errors import Weight
from preset_engine.preset.importer import load_preset
from tests.truth import ROOT

PRESETS = sorted((ROOT / "presets").glob("*.json"))
every_preset = pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
both_dialects = pytest.mark.parametrize("dialect", Dialect)


@pytest.fixture
def snapshot_json(snapshot):
    return snapshot.use_extension(JSONSnapshotExtension)


def probe(path, dialect):
    imported = load_preset(path)
    given = gather_content(ContentFiles(), imported.preset, dialect)
    return probe_turn(imported.preset, given, Wish(dialect, None, Context()), imported.notes)


@every_preset
def test_it_is_imported_without_a_warning(path):
    heavy = [note for note in load_preset(path).notes if note.weight is not Weight.INFO]
    assert heavy == []


@both_dialects
@every_preset
def test_it_is_assembled_without_a_warning(path, dialect):
    notes = [note for note in probe(path, dialect).notes if note.weight is not Weight.INFO]
    assert notes == []


@both_dialects
@every_preset
def test_it_sends_what_it_sent(path, dialect, snapshot_json):
    view = probe(path, dialect)
    sources = [
        [
            f"{piece.origin.kind.value} {piece.origin.id}, {piece.stability.value}"
            for piece in m.pieces
        ]
        for m in view.messages
    ]
    assert snapshot_json == {
        "messages": view.body["messages"],
        "sources": sources,
        "silent": list(view.silent),
    }


@every_preset
def test_no_macro_is_left_in_what_is_sent(path):
    assert "{{" not in json.dumps(probe(path, Dialect.native).body, ensure_ascii=False)


def test_there_are_six_in_two_languages_and_two_forms_one_of_a_hundred_entries():
    presets = [load_preset(path).preset for path in PRESETS]
    assert len(presets) >= 6
    assert {preset.source for preset in presets} == {"native", "sillytavern"}
    assert any(len(preset.prompts) == 100 for preset in presets)


@every_preset
def test_the_readme_has_a_line_for_it(path):
    assert f"| [{path.name}]({path.name}) |" in (ROOT / "presets/README.md").read_text("utf-8")
