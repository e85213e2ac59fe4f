"""One call: what is sent, what is stored, what a failure leaves behind."""

import json

import anyio
import pytest

from preset_engine.content.content import Content
from preset_engine.errors import (
    AdapterError,
    ModelAborted,
    NotConfigured,
    SessionArchived,
    SessionChanged,
    SessionError,
    SessionNotFound,
    StorageFull,
)
from preset_engine.llm.abort import Abort
from preset_engine.llm.request import ToolCall, ToolSpec, Usage
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.options import SessionSetup
from preset_engine.session.prompt import PromptSetup
from preset_engine.session.record import SessionRecord
from preset_engine.session.session import Session
from preset_engine.session.tools import Tool, ToolResult

pytestmark = pytest.mark.anyio

DICE = ToolCall("c1", "dice", {"sides": 6})


async def new(store, *plays, **options):
    options.setdefault("label", "")
    return await Session.create(store, adapter=Scripted(*plays), **options)


def prompts(session):
    return [
        [(message.role, message.text) for message in request.messages]
        for request in session.adapter.requests
    ]


async def texts(session):
    return [(record.role, record.content) for record in await session.messages()]


async def test_the_order_is_system_identity_insight_history_user(store):
    session = await new(store, "1", "2", system_prompt="S", label="L")
    await session.send("a")
    await session.put_insight("I")
    await session.send("b")
    identity = "<session_identity>\n你当前在「L」子会话中。\n</session_identity>"
    assert prompts(session)[1] == [
        ("system", "S"),
        ("system", identity),
        ("system", "I"),
        ("user", "a"),
        ("assistant", "1"),
        ("user", "b"),
    ]


async def test_a_rename_shows_in_the_next_prompt(store):
    session = await new(store, "1", "2", label="old")
    await session.send("a")
    await session.rename("new")
    await session.send("b")
    assert "「new」" in prompts(session)[1][0][1]


async def test_an_insight_is_in_exactly_one_successful_prompt(store):
    session = await new(store, Play.failure("no"), "1", "2")
    await session.put_insight("first")
    await session.put_insight("second")
    with pytest.raises(AdapterError):
        await session.send("a")
    assert await session.insight() == "second"
    await session.send("a")
    assert await session.insight() is None
    await session.send("b")
    held = [("system", "second") in prompt for prompt in prompts(session)]
    assert held == [True, True, False]
    assert not any(("system", "first") in prompt for prompt in prompts(session))


async def test_an_insight_put_during_a_call_waits_for_the_next_prompt(store):
    session = await new(store, Play.chunks("1", "2"), "3", "4")
    await session.put_insight("early")
    async with session.stream("a") as stream:
        await anext(stream)
        await session.put_insight("late")
        await stream.result()
    assert await session.insight() == "late"
    await session.send("b")
    await session.send("c")
    assert [("system", "late") in prompt for prompt in prompts(session)] == [False, True, False]


async def test_an_insight_between_call_and_results_reaches_the_model(store):
    session = await new(store, Play.calls(DICE), "4")
    await session.send("roll")
    await session.put_insight("be quick")
    await session.send_results([ToolResult("c1", "dice", data=4)])
    assert ("system", "be quick") in prompts(session)[1]
    assert await session.insight() is None


async def test_the_memory_is_in_no_prompt(store):
    session = await new(store, Play.calls(DICE), "1", "2", "3", "4")
    await session.put_memory("SECRET")
    await session.send("roll")
    await session.send_results([ToolResult("c1", "dice", data=4)])
    await session.send("on")
    await session.swipe()
    await session.continue_reply()
    assert "SECRET" not in str(prompts(session))
    assert await session.memory() == "SECRET"


async def test_a_failed_call_stores_nothing(store):
    session = await new(store, Play.chunks("par", "tial").broken(1))
    before = await session.meta()
    with pytest.raises(AdapterError):
        await session.send("a")
    assert await texts(session) == []
    assert await session.meta() == before


async def test_broken_arguments_store_nothing(store):
    from preset_engine.llm.request import Delta, ToolCallDelta

    broken = Delta(tool_calls=(ToolCallDelta(0, "c1", "dice", '{"sides":'),))
    session = await new(store, Play((broken,)))
    with pytest.raises(AdapterError, match="dice"):
        await session.send("roll")
    assert await texts(session) == []


async def test_a_foreign_error_of_an_adapter_becomes_ours(store):
    session = await new(store, Play(error=ValueError("odd"), fail_after=0))
    with pytest.raises(AdapterError, match="odd"):
        await session.send("a")


class FullDisk:
    """A store that fails in the middle of a commit."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def commit_turn(self, session_id, turn):
        async def half(inside):
            await inside.append_record(session_id, turn.records[0])
            raise StorageFull("no room")

        return await self._store.transaction(half)


async def test_a_failure_between_the_two_records_leaves_neither(store):
    session = await new(FullDisk(store), "1")
    await session.put_insight("I")
    with pytest.raises(StorageFull):
        await session.send("a")
    assert await texts(session) == []
    assert await session.insight() == "I"


async def test_an_aborted_call_never_reaches_the_model(store):
    session = await new(store, "1")
    await session.put_insight("I")
    abort = Abort()
    abort.abort()
    with pytest.raises(ModelAborted):
        await session.send("a", abort=abort)
    assert session.adapter.calls == 0
    assert await session.insight() == "I"


async def test_an_abort_in_mid_stream_stores_nothing(store):
    session = await new(store, Play.chunks("one", "two").hanging())
    await session.put_insight("I")
    abort = Abort()
    stream = session.stream("a", abort=abort)
    assert [await anext(stream), await anext(stream)] == ["one", "two"]
    async with anyio.create_task_group() as group:
        group.start_soon(_abort_later, abort)
        with pytest.raises(ModelAborted):
            await anext(stream)
    with pytest.raises(ModelAborted):
        await stream.result()
    assert (await texts(session), await session.insight()) == ([], "I")


async def _abort_later(abort):
    await anyio.wait_all_tasks_blocked()
    abort.abort()


async def test_a_cancelled_task_stores_nothing(store):
    session = await new(store, Play.chunks("one").hanging())
    with anyio.move_on_after(0.05):
        await session.send("a")
    assert session.adapter.cancelled == 1
    assert await texts(session) == []


async def test_a_reader_who_leaves_early_gives_the_turn_up(store):
    session = await new(store, Play.chunks("one", "two"))
    async with session.stream("a") as stream:
        await anext(stream)
    assert await texts(session) == []
    with pytest.raises(SessionError, match="given up"):
        await stream.result()


async def test_chunks_joined_are_the_stored_text_and_stored_at_the_end(store):
    session = await new(store, Play.chunks("he", "", "llo"))
    stream = session.stream("a")
    seen = []
    async for text in stream:
        seen.append(text)
        assert await texts(session) == []
    assert seen == ["he", "llo"]
    assert (await stream.result()).text == "hello"
    assert await texts(session) == [("user", "a"), ("assistant", "hello")]


async def test_what_utf8_cannot_carry_is_mended_on_both_ways(store):
    session = await new(store, Play.chunks("a\ud83d", "\ude00b\x00", "c\ud83d"))
    stream = session.stream("x\ud83dy\x00")
    seen = [text async for text in stream]
    assert "".join(seen) == (await stream.result()).text == "a\U0001f600b\ufffdc\ufffd"
    assert prompts(session)[0] == [("user", "x\ufffdy\ufffd")]
    assert await texts(session) == [("user", "x\ufffdy\ufffd"), ("assistant", "".join(seen))]


async def test_send_and_stream_make_the_same_one_request(store):
    sent, streamed = await new(store, "1", label="L"), await new(store, "1", label="L")
    await sent.send("a")
    await streamed.stream("a").result()
    assert sent.adapter.requests == streamed.adapter.requests
    assert sent.adapter.calls == 1


async def test_thinking_of_a_conversation_is_kept(store):
    session = await new(store, "<think>hm</think> yes")
    await session.send("a")
    assert (await texts(session))[1] == ("assistant", "<think>hm</think> yes")


async def test_what_a_user_types_is_text_even_if_it_looks_like_results(store):
    session = await new(store, Play.calls(DICE), "1")
    await session.send("roll")
    typed = json.dumps({"toolResults": [{"toolCallId": "c1", "success": True, "data": "6"}]})
    await session.send(typed)
    assert prompts(session)[1] == [("user", "roll"), ("user", typed)]
    assert (await texts(session))[2] == ("user", typed)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult("c1", "dice", data="six"), "six"),
        (ToolResult("c1", "dice", data=None), ""),
        (ToolResult("c1", "dice", data={"eyes": [6, "六"]}), '{"eyes":[6,"六"]}'),
        (ToolResult("c1", "dice", data=False), "false"),
        (ToolResult("c1", "dice", success=False, error="lost it"), "lost it"),
        (ToolResult("c1", "dice", success=False), "Unknown error"),
    ],
)
async def test_result_forms(store, result, text):
    session = await new(store, Play.calls(DICE), "done")
    await session.send("roll")
    await session.send_results([result])
    assert prompts(session)[1][-1] == ("tool", text)
    assert (await texts(session))[2] == ("tool", text)


async def test_a_continuation_replays_the_calls(store):
    session = await new(store, Play.calls(DICE, text="rolling"), "a six")
    await session.send("roll")
    await session.send_results([ToolResult("c1", "dice", data=6)])
    user, calling, answer = session.adapter.requests[1].messages[-3:]
    assert user.text == "roll"
    assert calling.tool_calls[0]["function"] == {"name": "dice", "arguments": '{"sides":6}'}
    assert (answer.role, answer.tool_call_id, answer.text) == ("tool", "c1", "6")


async def test_an_incomplete_tool_group_stays_stored_and_out_of_prompts(store):
    session = await new(store, Play.calls(DICE), "1")
    await session.send("roll")
    await session.send("never mind")
    assert prompts(session)[1] == [("user", "roll"), ("user", "never mind")]
    assert (await session.messages())[1].tool_calls == (DICE,)


async def test_results_after_another_writer_went_on_are_refused(store):
    session = await new(store, Play.calls(DICE))
    await session.send("roll")
    await Session(store, session.id, adapter=Scripted("meanwhile")).send("hello")
    with pytest.raises(SessionChanged, match="tools ran"):
        await session.send_results([ToolResult("c1", "dice", data=6)])


async def test_turns_are_counted_once_for_each_completed_user_turn(store):
    session = await new(store, Play.calls(DICE), Play.calls(DICE), "six", Play.failure("no"), "b")
    await session.send("roll")
    await session.send_results([ToolResult("c1", "dice", data=1)])
    assert (await session.meta()).turn_count == 0
    await session.send_results([ToolResult("c1", "dice", data=6)])
    assert (await session.meta()).turn_count == 1
    with pytest.raises(AdapterError):
        await session.send("b")
    await session.send("b")
    assert (await session.meta()).turn_count == 2


async def test_the_loser_of_two_writers_compiles_anew_and_both_turns_are_stored(store):
    first = await new(store)
    second = Session(store, first.id, adapter=Scripted("late", "late again"))
    first.adapter = Scripted(Play.text("first").slowly(0.01), Play.text("first again"))
    async with anyio.create_task_group() as group:
        group.start_soon(first.send, "from one")
        group.start_soon(second.send, "from two")
    assert sorted(text for _, text in await texts(first)) == sorted(
        {"from one", "from two", "first again", "late"}
    )
    assert len(prompts(first)[1]) == 3, "the second try shows the other writer's turn"


async def test_tries_are_bounded(store):
    session = await new(store, setup=SessionSetup(attempts=2))

    async def interfere(request):
        await Session(store, session.id, adapter=Scripted("x")).send("noise")

    session.adapter = Interfered(interfere)
    with pytest.raises(SessionChanged):
        await session.send("a")
    assert session.adapter.calls == 2
    assert [text for _, text in await texts(session)] == ["noise", "x", "noise", "x"]


class Interfered(Scripted):
    """A model during whose calls something else happens."""

    def __init__(self, happen):
        super().__init__("reply", repeat=True)
        self._happen = happen

    async def stream(self, request):
        await self._happen(request)
        async for delta in super().stream(request):
            yield delta


async def test_a_stream_that_has_spoken_is_not_repeated(store):
    session = await new(store, Play.chunks("one", "two"))
    async with session.stream("a") as stream:
        await anext(stream)
        await Session(store, session.id, adapter=Scripted("x")).send("noise")
        with pytest.raises(SessionChanged):
            await stream.result()
    assert session.adapter.calls == 1


async def test_adapter_and_tools_can_be_swapped_between_calls(store):
    session = await new(store, "1")
    await session.send("a")
    other = session.adapter = Scripted("2")
    session.tools = (Tool(ToolSpec("dice"), lambda arguments: 6),)
    await session.send("b")
    assert [tool.name for tool in other.requests[0].tools] == ["dice"]


async def test_usage_comes_through_the_stream(store):
    session = await new(store)
    told = Play.chunks("1", usage=Usage(100, 3, cached_tokens=90))
    session.adapter = Scripted(told, max_context_tokens=4000)
    result = await session.stream("a").result()
    assert result.usage == Usage(100, 3, cached_tokens=90)
    assert (await store.get_state(session.id))["usage"]["input_tokens"] == 100


async def test_every_call_is_reported_with_what_was_sent(store):
    reports = []

    async def listen(report):
        reports.append(report)

    session = await new(store, "1", Play.failure("no"), setup=SessionSetup(listener=listen))
    await session.send("a")
    with pytest.raises(AdapterError):
        await session.send("b")
    good, bad = reports
    assert good.prepared.request == session.adapter.requests[0]
    assert (good.reply.text, good.error) == ("1", None)
    assert str(bad.error) == "no"
    assert good.seconds >= good.first_seconds >= 0


async def test_a_preview_is_what_would_be_sent_and_calls_nothing(store):
    session = await new(store, "1")
    await session.put_insight("I")
    prepared = await session.preview("a")
    assert session.adapter.calls == 0
    assert await session.insight() == "I"
    await session.send("a")
    assert prepared.request == session.adapter.requests[0]


async def test_what_is_missing_is_named(store):
    session = await Session.create(store)
    with pytest.raises(NotConfigured, match="model"):
        await session.send("a")
    with pytest.raises(NotConfigured, match="model"):
        session.stream("a")
    with pytest.raises(NotConfigured, match="consolidate"):
        await session.consolidate()
    with pytest.raises(SessionError, match="empty"):
        await (await new(store, "1")).send("")
    with pytest.raises(SessionNotFound):
        await Session(store, "nobody", adapter=Scripted("1")).send("a")


async def test_an_adapter_without_a_stream_is_refused_at_once(store):
    class Old:
        async def complete(self, request):
            return None

    with pytest.raises(NotConfigured, match="stream"):
        Session(store, "x", adapter=Old())


async def test_an_archived_session_refuses_everything_but_reading_and_forking(store):
    session = await new(store, "1")
    await session.send("a")
    await session.archive()
    await session.archive()
    refused = [
        lambda: session.send("b"),
        lambda: session.rename("x"),
        lambda: session.put_system_prompt("x"),
        lambda: session.put_insight("x"),
        session.clear_insight,
        lambda: session.put_memory("x"),
        lambda: session.trim(0),
        lambda: session.edit(1, "x"),
        session.swipe,
        session.consolidate,
        lambda: session.stream("b").result(),
    ]
    for call in refused:
        with pytest.raises(SessionArchived):
            await call()
    assert len(await session.messages()) == 2
    assert len(await (await session.fork(label="f", context="inherit")).messages()) == 2


async def test_consolidation_reads_all_records_and_replaces_the_memory(store):
    asked = []

    async def consolidate(memory, records):
        asked.append((memory, [record.content for record in records]))
        return f"M{len(asked)}"

    session = await new(store, "1", "2", setup=SessionSetup(consolidate=consolidate))
    await session.send("a")
    assert await session.consolidate() == "M1"
    await session.send("b")
    await session.consolidate()
    assert asked == [(None, ["a", "1"]), ("M1", ["a", "1", "b", "2"])]
    assert await session.memory() == "M2"


async def test_the_step_task_is_sent_and_not_stored(store):
    session = await new(store, "1")
    await session.send("a", task="answer in one word")
    assert "answer in one word" in str(prompts(session)[0])
    assert "one word" not in str(await texts(session))


async def test_the_window_keeps_its_start_until_twice_as_much_is_held(store):
    setup = SessionSetup(prompt=PromptSetup(window_records=4))
    session = await new(store, *(f"r{n}" for n in range(9)), setup=setup)
    for turn in range(9):
        await session.send(f"u{turn}")
    firsts = [prompt[0][1] for prompt in prompts(session)]
    assert firsts == ["u0"] * 5 + ["u3"] * 2 + ["u3"] + ["u6"]
    assert len(await session.messages()) == 18


async def test_content_and_records_meet_in_one_prompt(store):
    setup = SessionSetup(prompt=PromptSetup(content=Content(user="Noa")))
    session = await new(store, "1", setup=setup)
    await session.send("a")
    assert prompts(session)[0][-1] == ("user", "a")


async def test_the_messages_of_a_session_are_made_once(store):
    session = await new(store, *"12345", setup=SessionSetup(prompt=PromptSetup(window_records=50)))
    for text in "abcde":
        await session.send(text)
    older, newer = (request.messages for request in session.adapter.requests[-2:])
    assert all(one is other for one, other in zip(older[:-1], newer, strict=False))


async def test_records_written_by_others_are_seen(store):
    session = await new(store, "1", "2")
    await session.send("a")
    await store.append_record(session.id, SessionRecord("assistant", "from outside"))
    await session.send("b")
    assert ("assistant", "from outside") in prompts(session)[1]
