"""What the import makes of the parts of a good preset."""

import json
from pathlib import Path

import pytest

from preset_engine import load_preset
from preset_engine.errors import UnreadableInput
from preset_engine.macros.registry import default_registry, register_macro
from preset_engine.preset.decode import decode
from preset_engine.preset.generation import Generation, merge_generation, request_extras
from preset_engine.preset.importer import make_id
from preset_engine.preset.notebook import Notebook
from preset_engine.tokens import Estimate
from tests.preset.samples import entry, preset


def macros(imported):
    return {use.name: use for use in imported.diagnostics.macros}


def test_every_kind_of_source_gives_the_same_preset(tmp_path):
    text = json.dumps(preset())
    path = tmp_path / "tea.json"
    path.write_text(text, "utf-8")
    loaded = [
        load_preset(source, name="tea").preset
        for source in (path, str(path), text, text.encode(), preset())
    ]
    assert all(item == loaded[0] for item in loaded)


def test_a_good_preset_has_no_notes():
    document = preset()
    del document["prompts"][1]["x_tool"]
    assert load_preset(document).notes == ()


def test_a_document_that_is_handed_in_is_copied():
    document = preset()
    loaded = load_preset(document).preset
    document["prompts"][0]["content"] = "changed"
    assert loaded.raw == preset()


def test_what_is_no_json_value_is_refused():
    for value in ({"prompts": {1, 2}}, {"prompts": [{"identifier": "a", 3: "b"}]}):
        with pytest.raises(UnreadableInput, match=r"\$\.prompts"):
            load_preset(value)


def test_the_name_is_the_files_own_or_the_file_name(tmp_path):
    path = tmp_path / "Night Train.json"
    path.write_text(json.dumps(preset()), "utf-8")
    assert load_preset(path).preset.name == "Night Train"
    assert load_preset(preset(name="Own")).preset.name == "Own"


def test_the_id_depends_on_name_and_entries_only():
    first = load_preset(preset(name="Tea Room")).preset
    assert first.id.startswith("tea-room-")
    assert first.id == load_preset(preset(name="Tea Room", temperature=1.5)).preset.id
    assert first.id != load_preset(entry(0, content="Other.")).preset.id
    assert make_id("!!!", ()).startswith("preset-")


def test_macros_are_counted_with_their_first_place():
    document = entry(
        1, content="{{char}} {{CHAR}} {{random::a::{{user}}}} {{山水}} {{// {{note}} }}"
    )
    uses = macros(load_preset(document))
    assert (uses["char"].count, uses["char"].is_known) == (3, True)
    assert uses["char"].first == "$.prompts[0].content"
    assert uses["random"].is_known
    assert not uses["山水"].is_known
    assert "//" in uses


def test_a_blank_for_the_model_keeps_its_whole_name():
    uses = macros(load_preset(entry(0, content="{{title here}} {{char }}")))
    assert not uses["title here"].is_known
    assert uses["char"].is_known


def test_a_name_counts_as_the_engine_reads_it():
    uses = macros(load_preset(entry(0, content="{{char天地}} {{time.fine}} {{if .a}}x{{/if}}")))
    found = {name: (uses[name].count, uses[name].is_known) for name in ("char", "time", "if")}
    assert found == {"char": (1, True), "time": (1, True), "if": (1, True)}


def test_a_registered_macro_is_known_from_then_on():
    document = entry(0, content="{{lighthouse}}")
    assert not macros(load_preset(document))["lighthouse"].is_known
    register_macro("lighthouse", meaning="For this test.")(lambda call: "")
    try:
        assert macros(load_preset(document))["lighthouse"].is_known
    finally:
        default_registry().remove("lighthouse")


def test_regex_scripts_are_found_in_three_places_and_count_once():
    scripts = [
        {"findRegex": f"/{letter}/g", "replaceString": "", "placement": [2]} for letter in "abc"
    ]
    settings = {"RegexBinding": {"regexes": scripts[1:]}}
    document = preset(
        extensions={
            "regex_scripts": scripts[:2],
            "SPreset": {"RegexBinding": {"regexes": scripts[2:]}},
        }
    )
    document["prompts"].append(
        {"identifier": "SPresetSettings", "name": "S", "content": json.dumps(settings)}
    )
    imported = load_preset(document)
    assert list(imported.preset.regex_scripts) == scripts
    note = next(note for note in imported.notes if note.code == "regex-scripts")
    assert "doubles" in note.message


def test_unsupported_parts_are_listed_and_raw_is_kept():
    document = preset(regex_scripts=[{"findRegex": "/a/"}], extensions={"helper": {"scripts": [1]}})
    loaded = load_preset(document).preset
    assert [part.path for part in loaded.unsupported] == ["regex_scripts", "extensions"]
    assert loaded.raw == document


def test_a_settings_file_gives_its_active_preset():
    settings = {
        "power_user": {},
        "main_api": "openai",
        "oai_settings": {"preset_settings_openai": "Tea", **preset()},
    }
    imported = load_preset(settings)
    assert imported.preset.name == "Tea"
    assert len(imported.preset.prompts) == 4


def test_an_export_of_the_prompt_manager_becomes_a_preset():
    export = {
        "version": 1,
        "type": "full",
        "data": {
            "prompts": preset()["prompts"],
            "prompt_order": preset()["prompt_order"][0]["order"],
        },
    }
    loaded = load_preset(export).preset
    assert loaded.orders[0].character_id == "100001"
    assert [item.is_enabled for item in loaded.orders[0].items] == [True, False, True, True]


def test_generation_is_mapped_to_native_names():
    generation = load_preset(preset(seed=-1, n=2, top_k=0, verbosity="low")).preset.generation
    assert generation.temperature == 0.8
    assert generation.max_context_tokens == 32000
    assert generation.max_output_tokens == 600
    assert (generation.seed, generation.variants, generation.top_k) == (None, 2, 0)
    assert generation.verbosity == "low"


def test_effort_and_verbosity_go_to_models_that_take_them():
    generation = Generation(reasoning_effort="min", verbosity="low")
    assert request_extras("openai/gpt-5", generation) == {
        "reasoning_effort": "minimal",
        "verbosity": "low",
    }
    assert request_extras("gpt-4o", Generation(reasoning_effort="auto", verbosity="low")) == {}
    assert merge_generation(Generation(top_p=0.5), generation).top_p == 0.5


def test_the_report_counts_tokens_of_all_and_of_enabled_entries():
    report = load_preset(preset()).to_report(Estimate())
    tokens = report["preset"]["tokens"]
    texts = [item.get("content", "") for item in preset()["prompts"]]
    assert tokens["all"] == sum(-(-len(text) // 4) for text in texts)
    assert tokens["enabled"] == tokens["all"] - -(-len(texts[1]) // 4)
    assert report["kind"] == "sillytavern"


def test_chinese_text_in_gbk_is_read_as_such():
    text = '{"a": "慢慢讲故事，语气平静"}'
    assert decode(text.encode("gbk"), Notebook()) == text
    assert decode(text.encode("utf-8"), Notebook()) == text
    assert decode(text.encode("gb18030"), Notebook()) == text


def test_western_text_in_cp1252_is_read_as_such():
    text = '{"a": "It’s a café – naïve"}'
    assert decode(text.encode("cp1252"), Notebook()) == text


def test_a_path_that_does_not_exist_is_no_document():
    with pytest.raises(UnreadableInput, match="cannot be read"):
        load_preset("nowhere/at/all.json")
    with pytest.raises(UnreadableInput, match="cannot be read"):
        load_preset(Path(__file__).parent)
