"""What SillyTavern makes of a preset at import."""

from preset_engine.preset.importer import load_preset
from preset_engine.preset.orders import chosen_order
from preset_engine.preset.sanitise import sillytavern_view
from tests.preset.samples import entry, preset, without


def view(document):
    prompts, order = sillytavern_view(load_preset(document).preset)
    return {item.identifier: item for item in prompts}, [item.identifier for item in order], prompts


def test_missing_built_ins_are_appended_behind_the_authors():
    by_id, order, prompts = view(preset())
    assert [item.identifier for item in prompts[:4]] == ["main", "tone", "near", "chatHistory"]
    assert by_id["jailbreak"].content == ""
    assert "Character Sheet" in by_id["enhanceDefinitions"].content
    assert by_id["worldInfoBefore"].is_marker
    assert order == ["main", "tone", "near", "chatHistory"]


def test_without_a_list_for_100001_the_default_order_counts():
    flat = [{"identifier": "tone", "enabled": True}]
    for order in (None, [], flat, [{"character_id": 100000, "order": flat}]):
        _, listed, _ = view(preset(prompt_order=order))
        assert listed[0] == "main"
        assert listed[-1] == "jailbreak"
        assert "tone" not in listed


def test_the_default_order_switches_enhance_definitions_off():
    _, order = sillytavern_view(load_preset(preset(prompt_order=None)).preset)
    assert [item.identifier for item in order if not item.is_enabled] == ["enhanceDefinitions"]


def test_a_text_as_character_id_counts_as_the_number():
    order = [{"character_id": "100001", "order": [{"identifier": "tone", "enabled": True}]}]
    assert view(preset(prompt_order=order))[1] == ["tone"]


def test_order_entries_without_a_prompt_are_deleted_and_doubles_stay():
    items = [{"identifier": name, "enabled": True} for name in ("gone", "main", "main")]
    assert view(preset(prompt_order=[{"character_id": 100001, "order": items}]))[1] == [
        "main",
        "main",
    ]


def test_the_first_of_two_entries_wins():
    document = entry(1, identifier="main")
    assert view(document)[0]["main"].content == document["prompts"][0]["content"]


def test_values_are_those_sillytavern_sees_not_the_kind_reading():
    assert view(entry(2, injection_position="1"))[0]["near"].position == 0
    assert view(entry(2, role="model"))[0]["near"].role == "model"
    assert view(without(2, "injection_depth"))[0]["near"].depth is None
    assert view(entry(2, injection_trigger="swipe"))[0]["near"].triggers == ()


def test_the_old_form_gets_its_three_texts():
    by_id, order, _ = view(
        {"main_prompt": "M", "nsfw_prompt": "N", "jailbreak_prompt": "J", "temperature": 1}
    )
    assert [by_id[name].content for name in ("main", "nsfw", "jailbreak")] == ["M", "N", "J"]
    assert order[0] == "main"


def test_old_names_in_completion_becomes_names_behavior():
    assert load_preset(preset(names_in_completion=True)).preset.settings.names_behavior == 1


def test_the_best_scored_list_is_chosen_and_the_first_of_equals():
    lists = [
        {"character_id": 1, "order": [{"identifier": "chatHistory", "enabled": True}]},
        {"character_id": 2, "order": [{"identifier": "tone", "enabled": True}]},
        {"character_id": 3, "order": [{"identifier": "main", "enabled": True}]},
        {"character_id": 4, "order": [{"identifier": "main", "enabled": False}] * 9},
    ]
    assert chosen_order(load_preset(preset(prompt_order=lists)).preset).character_id == "2"
