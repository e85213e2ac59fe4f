"""Which macro names a preset uses, and which of them the engine fills."""

from preset_engine.preset.census import MacroUse, count_macros
from preset_engine.preset.importer import load_preset
from preset_engine.preset.notebook import Notebook


def test_the_continued_message_is_known_in_its_nudge_only():
    nudge = {"continue_nudge_prompt": "Go on after: {{lastChatMessage}}"}
    here = load_preset({"prompts": [{"identifier": "main", "content": "Hello."}], **nudge})
    assert [(use.name, use.is_known) for use in here.diagnostics.macros] == [
        ("lastChatMessage", True)
    ]
    assert "macro-unknown" not in {note.code for note in here.notes}
    elsewhere = {"prompts": [{"identifier": "main", "content": "{{lastChatMessage}}"}]}
    assert "macro-unknown" in {note.code for note in load_preset(elsewhere).notes}


def test_a_name_is_counted_without_case_and_told_by_its_first_place():
    texts = [("$.a", "{{User}} and {{user}}"), ("$.b", "{{USER}} {{the weather}}")]
    assert count_macros(texts, Notebook())[0] == MacroUse("User", True, 3, "$.a")
