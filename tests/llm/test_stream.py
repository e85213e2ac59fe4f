"""Folding deltas, the scripted model, and the switch that ends a call."""

import json

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.errors import AdapterError, BadReply, ModelAborted, NotConfigured
from preset_engine.llm.abort import Abort
from preset_engine.llm.request import (
    Delta,
    Request,
    ToolCall,
    ToolCallDelta,
    Usage,
    require_streaming,
)
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.llm.stream import ReplyBuilder, complete, deltas
from preset_engine.messages import ChatMessage

HELLO = Request((ChatMessage("user", "hello"),))


def fold(*steps):
    builder = ReplyBuilder()
    for step in steps:
        builder.add(step)
    return builder.reply()


def piece(index, **fields):
    return Delta(tool_calls=(ToolCallDelta(index, **fields),))


def test_text_is_joined_and_usage_is_the_newest_snapshot():
    reply = fold(
        Delta("to", usage=Usage(input_tokens=10)),
        Delta("day", reasoning="hm", usage=Usage(output_tokens=1)),
        Delta(finish_reason="stop", usage=Usage(output_tokens=2, cached_tokens=4)),
    )
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("today", "hm", "stop")
    assert reply.usage == Usage(input_tokens=10, output_tokens=2, cached_tokens=4)


def test_what_the_provider_does_not_tell_is_unknown_and_not_zero():
    assert fold(Delta("x")).usage == Usage()


def test_null_content_is_none_and_no_delta_is_empty_text():
    assert fold(Delta(text=None)).text is None
    assert fold().text == ""
    assert fold(Delta(text=None), Delta("late")).text == "late"


def test_interleaved_tool_calls_are_joined_by_index():
    reply = fold(
        piece(1, id="b", name="roll", arguments='{"n":'),
        piece(0, id="a", name="look"),
        piece(1, arguments="2}"),
        piece(0, arguments="{}"),
    )
    assert reply.tool_calls == (ToolCall("a", "look", {}), ToolCall("b", "roll", {"n": 2}))


def test_a_call_without_id_and_name_gets_stand_ins():
    assert fold(piece(7, arguments="")).tool_calls == (ToolCall("tool_0", "unknown_tool", {}),)


@pytest.mark.parametrize("text", ['{"a":', "[1]", "nonsense", "3"])
def test_arguments_that_are_no_object_break_the_reply(text):
    with pytest.raises(BadReply, match="roll"):
        fold(piece(0, id="a", name="roll", arguments=text))


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.booleans()), st.integers(1, 9))
def test_argument_text_may_be_cut_anywhere(arguments, size):
    text = json.dumps(arguments)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    reply = fold(piece(0, id="a", name="f"), *(piece(0, arguments=part) for part in pieces))
    assert reply.tool_calls[0].arguments == arguments


@pytest.mark.anyio
async def test_the_script_plays_in_order_and_keeps_the_requests():
    model = Scripted("one", Play.text("two", pieces=3, usage=Usage(5, 1)), Play.text(None))
    first, second, third = [await complete(model, HELLO) for _ in range(3)]
    assert (first.text, second.text, third.text) == ("one", "two", None)
    assert second.usage == Usage(5, 1)
    assert model.requests == [HELLO] * 3


@pytest.mark.anyio
async def test_tool_calls_failures_and_aborts_are_played():
    call = ToolCall("1", "dice", {"sides": 6})
    model = Scripted(
        Play.calls(call, text="rolling"), Play.failure("quota", status=429), Play.abort()
    )
    reply = await complete(model, HELLO)
    assert (reply.text, reply.tool_calls, reply.finish_reason) == ("rolling", (call,), "tool_calls")
    with pytest.raises(AdapterError, match="quota"):
        await complete(model, HELLO)
    with pytest.raises(ModelAborted):
        await complete(model, HELLO)


@pytest.mark.anyio
async def test_a_broken_stream_gives_what_came_before():
    model = Scripted(Play.chunks("a", "b", "c").broken(2))
    steps = deltas(model, HELLO)
    assert [(await anext(steps)).text for _ in range(2)] == ["a", "b"]
    with pytest.raises(AdapterError, match="broke"):
        await anext(steps)


@pytest.mark.anyio
async def test_a_script_that_has_run_out_fails_or_repeats():
    with pytest.raises(AdapterError, match="run out"):
        await complete(Scripted(), HELLO)
    again = Scripted("same", repeat=True)
    assert [(await complete(again, HELLO)).text for _ in range(3)] == ["same"] * 3


@pytest.mark.anyio
async def test_a_play_may_depend_on_the_request():
    echo = Scripted(lambda request: Play.text(request.messages[-1].text.upper()))
    assert (await complete(echo, HELLO)).text == "HELLO"


@pytest.mark.anyio
async def test_cancelling_ends_a_hanging_call():
    model = Scripted(Play.chunks("a").hanging())
    with anyio.move_on_after(0.05):
        await complete(model, HELLO)
    assert model.cancelled == 1


class CompleteOnly:
    name = "old"
    max_context_tokens = None

    async def complete(self, request):
        return None


class Nameless:
    def stream(self, request):
        return None


def test_an_adapter_that_only_completes_is_refused():
    with pytest.raises(NotConfigured, match="stream"):
        require_streaming(CompleteOnly())
    with pytest.raises(NotConfigured, match="max_context_tokens"):
        require_streaming(Nameless())


@pytest.mark.anyio
async def test_an_abort_ends_its_block_and_every_later_one():
    abort, outcomes = Abort(), []
    async with anyio.create_task_group() as group:
        group.start_soon(_sleep_under, abort, outcomes)
        await anyio.wait_all_tasks_blocked()
        abort.abort()
    await _sleep_under(abort, outcomes)
    assert abort.is_aborted
    assert outcomes == ["aborted", "aborted"]


async def _sleep_under(abort, outcomes):
    try:
        async with abort.guard():
            await anyio.sleep_forever()
    except ModelAborted:
        outcomes.append("aborted")


@pytest.mark.anyio
async def test_an_unused_abort_changes_nothing():
    async with Abort().guard():
        await anyio.lowlevel.checkpoint()
