from hypothesis import given
from hypothesis import strategies as st

from preset_engine.compile.convert import PromptContract, convert_to_llm_request
from preset_engine.compile.experiences import Experience
from preset_engine.compile.reduce import ReducedTurnContext
from preset_engine.compile.selfref import DataFromSelfRef
from preset_engine.compile.tool_prompts import ToolPromptSpec, principles_block, tool_block
from preset_engine.messages import ChatMessage

ASK = ChatMessage("user", "Well?")
OWN = ChatMessage("system", "From the transcript.", extra={"pinned": True})
TOOL = ToolPromptSpec("count", "Counts ships.", ("Name the hour.",))


def converted(*messages, snapshot=None, **contract):
    return convert_to_llm_request(
        ReducedTurnContext(tuple(messages), snapshot), PromptContract(**contract)
    )


def test_the_snapshot_comes_first():
    snapshot = DataFromSelfRef("From the snapshot.", (Experience("exp_1", "Fog lies."),))
    turn = converted(OWN, ASK, snapshot=snapshot, system_prompt="From the contract.")
    assert turn.system_prompt == (
        "From the snapshot.\n\n<experience>\n- [exp_1] Fog lies.\n</experience>"
    )


def test_then_the_contract_then_the_transcript_then_the_docstring():
    assert converted(OWN, ASK, system_prompt="C", base_instruction="D").system_prompt == "C"
    assert converted(OWN, ASK, base_instruction="D").system_prompt == "From the transcript."
    assert converted(ASK, base_instruction="D").system_prompt == "D"
    assert converted(ASK).system_prompt is None


def test_the_prompt_replaces_the_leading_system_message_and_keeps_its_other_fields():
    turn = converted(OWN, ASK, system_prompt="C")
    assert turn.transcript == (ChatMessage("system", "C", extra={"pinned": True}), ASK)


def test_the_prompt_is_put_in_front_where_there_was_none():
    assert converted(ASK, system_prompt="C").transcript[0] == ChatMessage("system", "C")


def test_an_empty_explicit_prompt_removes_the_system_message():
    turn = converted(OWN, ASK, system_prompt="")
    assert turn.transcript == (ASK,)
    assert turn.llm_messages == (ASK,)


def test_a_system_message_further_down_is_not_doubled():
    turn = converted(ASK, ChatMessage("system", "Mind the fog."))
    assert [message.text for message in turn.llm_messages] == ["Well?", "Mind the fog."]


def test_practices_stand_first_and_principles_last():
    turn = converted(
        ASK, system_prompt="C", tool_prompt_specs=(TOOL,), include_must_principles=True
    )
    assert turn.llm_messages[0].content == f"{tool_block([TOOL])}\n\nC\n\n{principles_block()}"
    assert turn.transcript[0].content == "C"
    assert turn.system_prompt == "C"


def test_tools_bring_a_system_message_where_there_is_no_prompt():
    turn = converted(ASK, tool_prompt_specs=(TOOL,))
    assert turn.llm_messages == (ChatMessage("system", tool_block([TOOL])), ASK)
    assert turn.transcript == (ASK,)


def test_principles_stand_once_however_often_the_result_is_converted():
    first = converted(ASK, system_prompt="C", include_must_principles=True)
    again = converted(*first.llm_messages, include_must_principles=True)
    assert again.llm_messages == first.llm_messages


def test_tools_without_a_name_say_nothing():
    assert tool_block([ToolPromptSpec(" ", "Does much.")]) is None


def test_practices_that_say_the_same_are_said_once():
    spec = ToolPromptSpec("t", "", ("Use `id`", "use  ID.", "Wait."), ("raw", " raw "))
    lines = tool_block([spec]).split("\n")
    assert [line for line in lines if "practice i" in line] == [
        '<best_practice index="1">Use `id`</best_practice>',
        '<best_practice index="2">Wait.</best_practice>',
    ]
    assert lines.count("raw") == 1


def test_a_tool_name_cannot_break_out_of_its_attribute():
    assert '<tool name="&quot;&gt;">' in tool_block([ToolPromptSpec('">')])


blank_or_not = st.sampled_from(["", " ", "A", "B\n\n<must_principles>\nold\n</must_principles>"])
transcripts = st.lists(
    st.builds(ChatMessage, st.sampled_from(["system", "user", "assistant"]), blank_or_not),
    max_size=5,
)
contracts = st.builds(
    PromptContract,
    blank_or_not,
    st.none() | blank_or_not,
    st.sampled_from([(), (TOOL,)]),
    st.booleans(),
)
snapshots = st.none() | blank_or_not.map(DataFromSelfRef)


@given(transcripts, contracts, snapshots)
def test_no_system_message_is_ever_blank_and_nothing_else_is_lost(transcript, contract, snapshot):
    turn = convert_to_llm_request(ReducedTurnContext(tuple(transcript), snapshot), contract)
    assert all(message.text.strip() for message in turn.llm_messages if message.role == "system")
    others = [message for message in transcript if message.role != "system"]
    assert [message for message in turn.llm_messages if message.role != "system"] == others
    assert [message for message in turn.transcript if message.role != "system"] == others
