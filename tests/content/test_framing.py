"""A flat task list becomes contract, history, turn and tail."""

from __future__ import annotations

from preset_engine.content.content import Block, Content
from preset_engine.content.framing import CONTRACT_TITLE, frame_content, split_frame
from preset_engine.messages import ChatMessage, JsonObject, parse_messages
from tests import truth


@truth.seeds("wa.frame_split")
def test_a_task_list_is_split(row: truth.Row) -> None:
    frame = split_frame(parse_messages(row["input"]["messages"]))
    expected = row["expected"]
    assert frame.contract == expected["contract"]
    assert len(frame.history) + (frame.turn is not None) == expected["body_count"]
    assert (frame.turn is not None) == expected["last_is_turn"]
    assert [message.to_json() for message in frame.tail] == expected["continuation"]


CALL: JsonObject = {"id": "c1", "function": {"name": "look", "arguments": "{}"}}
TASK = [
    ChatMessage("system", "SKILL"),
    ChatMessage("user", "old"),
    ChatMessage("assistant", "reply"),
    ChatMessage("user", "now"),
    ChatMessage("assistant", None, tool_calls=(CALL,)),
    ChatMessage("tool", "seen", tool_call_id="c1"),
    ChatMessage("system", "reminder"),
]


def test_a_tool_loop_is_split_off_unchanged() -> None:
    content = frame_content(TASK)
    assert content.before == (Block(CONTRACT_TITLE, "SKILL"),)
    assert content.history == tuple(TASK[1:3])
    assert content.turn == "now"
    assert content.tail == tuple(TASK[4:])


def test_a_ready_pack_replaces_what_the_list_says_and_nothing_is_there_twice() -> None:
    pack = Content(before=(Block("Stage", "town"),), history=(TASK[1],), turn="knock")
    content = frame_content(TASK, pack)
    assert content.before == (Block(CONTRACT_TITLE, "SKILL"), Block("Stage", "town"))
    assert (content.history, content.turn) == ((TASK[1],), "knock")
    assert content.tail == tuple(TASK[4:])


def test_a_turn_that_is_more_than_text_ends_the_history() -> None:
    picture = ChatMessage("user", ({"type": "image_url", "image_url": {"url": "data:,"}},))
    content = frame_content([TASK[1], picture])
    assert (content.history, content.turn) == ((TASK[1], picture), "")


def test_a_list_that_ends_with_the_assistant_has_no_turn() -> None:
    frame = split_frame(TASK[1:3])
    assert frame.turn is None
    assert frame.history == tuple(TASK[1:3])
