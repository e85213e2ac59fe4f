"""What ends a prompt in a continuation."""

from __future__ import annotations

from preset_engine.compile.turn import compile_turn
from preset_engine.content.content import Content
from preset_engine.dialect import Dialect
from preset_engine.messages import ChatRecord
from preset_engine.preset.importer import load_preset

PRESET = load_preset(
    {
        "prompts": [{"identifier": "chatHistory", "marker": True, "system_prompt": True}],
        "prompt_order": [
            {"character_id": 100001, "order": [{"identifier": "chatHistory", "enabled": True}]}
        ],
        "new_chat_prompt": "",
        "continue_nudge_prompt": "Go on: {{lastChatMessage}}",
    }
).preset
CHAT = (
    ChatRecord("Iva", "Come in."),
    ChatRecord("Jon", "It stopped.", is_user=True),
    ChatRecord("Iva", "Let me see"),
)


def test_the_nudge_quotes_the_message_that_is_continued_and_no_hidden_one() -> None:
    hidden = ChatRecord("Iva", "Not for the model.", is_hidden=True)
    content = Content(history=(*CHAT, hidden), generation_type="continue")
    turn = compile_turn(PRESET, content, dialect=Dialect.sillytavern)
    assert [message.text for message in turn.messages][-2:] == ["Let me see", "Go on: Let me see"]


def test_a_continuation_without_a_visible_message_quotes_nothing() -> None:
    hidden = ChatRecord("Iva", "Not for the model.", is_hidden=True)
    content = Content(history=(hidden,), generation_type="continue")
    turn = compile_turn(PRESET, content, dialect=Dialect.sillytavern)
    assert [message.text for message in turn.messages] == ["Go on: "]
