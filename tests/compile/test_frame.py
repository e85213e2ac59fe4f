from preset_engine.compile.frame import fill_content, split_transcript
from preset_engine.content.content import Content, Slots
from preset_engine.messages import ChatMessage

CALL = {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}
PROMPT = ChatMessage("system", "P")
ASK, SAY, AGAIN = (
    ChatMessage("user", "a"),
    ChatMessage("assistant", "b"),
    ChatMessage("user", "c"),
)
LOOP = (
    ChatMessage("assistant", None, tool_calls=(CALL,)),
    ChatMessage("tool", "r", tool_call_id="c"),
)


def test_the_last_user_message_is_the_turn():
    assert split_transcript((ASK, SAY, AGAIN)) == ((ASK, SAY), "c", ())


def test_a_running_tool_loop_is_the_tail():
    assert split_transcript((ASK, SAY, AGAIN, *LOOP)) == ((ASK, SAY), "c", LOOP)


def test_a_finished_tool_loop_is_history():
    whole = (ASK, *LOOP, SAY)
    assert split_transcript(whole) == (whole, "", ())
    assert split_transcript((*whole, AGAIN)) == (whole, "c", ())


def test_a_turn_with_pictures_stays_in_the_history():
    picture = ChatMessage("user", ({"type": "image_url", "image_url": {"url": "data:,"}},))
    assert split_transcript((ASK, SAY, picture)) == ((ASK, SAY, picture), "", ())


def test_the_prompt_goes_to_the_slot_and_other_slots_stay():
    note = ChatMessage("system", "n")
    content = fill_content(Content(slots=Slots(insight="i")), (PROMPT, ASK, note, SAY, AGAIN), "X")
    assert content.slots == Slots(system_prompt="X", insight="i")
    assert (content.history, content.turn) == ((ASK, note, SAY), "c")
