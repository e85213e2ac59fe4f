import pytest

from preset_engine.compile.convert import PromptContract
from preset_engine.compile.invocation import InvocationMode, InvocationSpec, compile_invocation_turn
from preset_engine.compile.mutations import AssistantMessageMutation, ToolResultMutation
from preset_engine.compile.selfref import DataFromSelfRef
from preset_engine.compile.tool_prompts import ToolPromptSpec, principles_block
from preset_engine.compile.turn import compile_turn
from preset_engine.content.content import Block, Content, Slots
from preset_engine.messages import ChatMessage
from preset_engine.preset.model import OrderItem, Preset, PresetSource, PromptEntry, PromptOrder

CALL = {"id": "c", "type": "function", "function": {"name": "count", "arguments": "{}"}}
PROMPT = ChatMessage("system", "Keep the log.")
PAST = (ChatMessage("user", "Good morning."), ChatMessage("assistant", "Morning."))
ASK = ChatMessage("user", "Which ships passed?")
TRANSCRIPT = (PROMPT, *PAST, ASK)
LOOP = (AssistantMessageMutation(None, (CALL,)), ToolResultMutation("c", "three"))

PRESET = Preset(
    "p",
    "p",
    PresetSource.NATIVE,
    prompts=(
        PromptEntry("main", "main", content="You are a lighthouse keeper."),
        PromptEntry("chatHistory", "history", is_marker=True),
        PromptEntry("end", "end", content="Be brief."),
    ),
    orders=(PromptOrder("", tuple(map(OrderItem, ("main", "chatHistory", "end")))),),
    squash="none",
)


@pytest.mark.parametrize("mode", InvocationMode)
def test_both_modes_take_the_one_way(mode):
    turn = compile_invocation_turn(InvocationSpec(mode=mode), TRANSCRIPT, LOOP)
    assert [message.role for message in turn.llm_messages] == [
        "system", "user", "assistant", "user", "assistant", "tool",
    ]  # fmt: skip
    ends = turn.llm_messages[0].text.endswith(principles_block())
    assert ends is (mode is InvocationMode.CHAT)


def test_a_snapshot_of_the_call_goes_before_that_of_the_invocation():
    spec = InvocationSpec(selfref=DataFromSelfRef("Of the invocation."))
    assert compile_invocation_turn(spec, TRANSCRIPT).system_prompt == "Of the invocation."
    own = DataFromSelfRef("Of the call.")
    turn = compile_invocation_turn(spec, TRANSCRIPT, selfref_snapshot=own)
    assert turn.system_prompt == "Of the call."


def test_with_a_preset_the_messages_are_those_of_compile_turn():
    content = Content(after=(Block("Now", "Fog."),))
    spec = InvocationSpec(preset=PRESET, content=content)
    turn = compile_invocation_turn(spec, TRANSCRIPT, LOOP)
    direct = compile_turn(
        PRESET,
        Content(
            after=content.after,
            history=PAST,
            turn=ASK.text,
            tail=turn.transcript[-2:],
            slots=Slots(system_prompt="Keep the log."),
        ),
    )
    assert turn.llm_messages == direct.messages
    assert turn.turn.messages == direct.messages


def test_with_a_preset_every_part_of_the_transcript_is_there_once():
    tools = (ToolPromptSpec("count", "Counts ships."),)
    spec = InvocationSpec(contract=PromptContract(tool_prompt_specs=tools), preset=PRESET)
    sent = compile_invocation_turn(spec, TRANSCRIPT, LOOP).llm_messages
    texts = "\n".join(message.text for message in sent)
    for text in (
        "Keep the log.",
        '<tool name="count">',
        *(m.text for m in PAST),
        ASK.text,
        "three",
    ):
        assert texts.count(text) == 1
    assert [message.role for message in sent[-2:]] == ["assistant", "tool"]


def test_the_prompt_of_a_session_goes_before_that_of_the_contract():
    content = Content(slots=Slots(system_prompt="Of the session."))
    spec = InvocationSpec(PromptContract(system_prompt="Mine."), preset=PRESET, content=content)
    assert compile_invocation_turn(spec, TRANSCRIPT).system_prompt == "Of the session."


def test_fifty_tool_rounds_with_a_preset_keep_every_earlier_message():
    spec = InvocationSpec(preset=PRESET)
    turn = compile_invocation_turn(spec, TRANSCRIPT)
    for number in range(50):
        call = {**CALL, "id": f"c{number}"}
        before = turn.llm_messages
        step = (AssistantMessageMutation(None, (call,)), ToolResultMutation(f"c{number}", "three"))
        turn = compile_invocation_turn(spec, turn.transcript, step, turn.selfref_snapshot)
        assert turn.llm_messages[: len(before)] == before
    assert len(turn.transcript) == len(TRANSCRIPT) + 100
