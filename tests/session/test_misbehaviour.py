"""Adapters, tools, observers and callers that behave badly: one clear outcome, and the session stays sound."""

import asyncio
import datetime

import anyio
import pytest

from preset_engine import Agent, Session
from preset_engine.errors import AdapterError, BadReply, ModelAborted, SessionError
from preset_engine.llm.abort import Abort
from preset_engine.llm.request import Delta, ToolCall, ToolCallDelta, ToolSpec
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.config import SessionConfig
from preset_engine.session.events import EventKind
from preset_engine.session.options import SessionSetup
from preset_engine.session.tools import Tool, ToolResult

pytestmark = pytest.mark.anyio


async def wait_for_a_cancelled_task():
    task = asyncio.ensure_future(asyncio.sleep(60))
    await asyncio.sleep(0)
    task.cancel()
    await task


class Odd:
    """An adapter that gives whatever it is told to, exceptions raised."""

    name, max_context_tokens = "odd", None

    def __init__(self, *steps):
        self.steps = steps

    async def stream(self, request):
        for step in self.steps:
            if isinstance(step, BaseException):
                raise step
            yield step


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        ([Delta(tool_calls=(ToolCallDelta(None, "a", "t"), ToolCallDelta(1, "b", "t")))], BadReply),
        ([Delta(tool_calls=(ToolCallDelta("0", "a", "t"), ToolCallDelta(1, "b", "t")))], BadReply),
        ([Delta(text=5)], BadReply),
        (["text"], AdapterError),
        ([Delta(text="x"), asyncio.CancelledError()], AdapterError),
        ([ValueError("one\ntwo")], AdapterError),
    ],
)
async def test_an_adapter_that_breaks_its_contract_fails_the_call_and_stores_nothing(
    store, steps, error
):
    session = await Session.create(store, adapter=Odd(*steps))
    await session.put_insight("I")
    with pytest.raises(error) as caught:
        await session.send("q")
    assert "\n" not in str(caught.value)
    assert (await session.messages(), await session.insight()) == ([], "I")


@pytest.mark.parametrize("ids", [("d", "d"), ("n\x00", "n\x00"), (None, "tool_0"), ("a", None)])
async def test_every_answer_reaches_the_model_whatever_the_ids_are(store, ids):
    pieces = tuple(ToolCallDelta(place, id_, "t") for place, id_ in enumerate(ids))
    model = Scripted(Play((Delta(tool_calls=pieces),)), "done", "more")
    agent = Agent(store, adapter=model, tools=[Tool(ToolSpec("t"), lambda a: "r")])
    root = await agent.create_session(label="")
    await agent.turn(root.id, "q")
    await agent.turn(root.id, "q2")
    for request in model.requests[1:]:
        asked = [call["id"] for message in request.messages for call in message.tool_calls]
        answered = [m.tool_call_id for m in request.messages if m.role == "tool"]
        assert asked == answered
        assert len(set(asked)) == 2


CYCLE = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    "result",
    [
        {1},
        datetime.datetime(2025, 3, 14, tzinfo=datetime.UTC),
        b"x",
        object(),
        CYCLE,
        {(1, 2): 3},
        {"long": 10**5000},
    ],
    ids=["set", "time", "bytes", "object", "cycle", "keys", "long"],
)
async def test_a_tool_result_that_is_no_json_is_a_failed_result(store, result):
    model = Scripted(Play.calls(ToolCall("1", "t")), "done")
    agent = Agent(store, adapter=model, tools=[Tool(ToolSpec("t"), lambda a: result)])
    root = await agent.create_session()
    turn = await agent.turn(root.id, "q")
    assert (turn.text, turn.results[0].success) == ("done", False)
    assert "is no JSON" in model.requests[-1].messages[-1].text


async def test_an_answer_that_is_no_json_is_refused(store):
    session = await Session.create(store, adapter=Scripted(Play.calls(ToolCall("1", "t"))))
    await session.send("q")
    with pytest.raises(SessionError, match="no JSON"):
        await session.send_results([ToolResult("1", "t", data={1})])


async def test_a_tool_that_waits_for_something_cancelled_has_failed(store):
    model = Scripted(Play.calls(ToolCall("1", "t")), "done")
    tool = Tool(ToolSpec("t"), lambda a: wait_for_a_cancelled_task())
    agent = Agent(store, adapter=model, tools=[tool])
    root = await agent.create_session()
    turn = await agent.turn(root.id, "q")
    assert (turn.text, turn.results[0].success) == ("done", False)


async def test_a_cancelled_turn_cancels_its_tools(store):
    seen = []

    async def hang(arguments):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    model = Scripted(Play.calls(ToolCall("1", "t")))
    agent = Agent(store, adapter=model, tools=[Tool(ToolSpec("t"), hang)])
    root = await agent.create_session()
    with anyio.move_on_after(0.05):
        await agent.turn(root.id, "q")
    assert seen == ["cancelled"]


async def test_an_observer_that_waits_for_something_cancelled_spoils_no_turn(store):
    errors = []

    async def odd(event):
        if event.kind is EventKind.ERROR:
            errors.append(event.source)
        else:
            await wait_for_a_cancelled_task()

    agent = Agent(store, adapter=Scripted("done"), observers=[odd, lambda event: None])
    root = await agent.create_session()
    assert (await agent.turn(root.id, "q")).text == "done"
    assert "reply" in errors


async def test_a_listener_that_fails_loses_no_turn(store, caplog):
    async def broken(report):
        raise ValueError("no room for logs")

    setup = SessionSetup(listener=broken)
    session = await Session.create(store, adapter=Scripted("done"), setup=setup)
    assert (await session.send("q")).text == "done"
    assert "no room for logs" in caplog.text


class SlowCommits:
    """A store whose commits call back before they begin and take a moment."""

    def __init__(self, store, then):
        self._store, self._then = store, then

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def commit_turn(self, session_id, turn):
        self._then()
        await asyncio.sleep(0.01)
        return await self._store.commit_turn(session_id, turn)


async def test_an_abort_while_the_turn_is_stored_comes_too_late(store):
    async def observer(event):
        await asyncio.sleep(0)

    abort = Abort()
    slow = SlowCommits(store, abort.abort)
    session = await Session.create(slow, adapter=Scripted("one"))
    assert (await session.send("q", abort=abort)).text == "one"
    abort = Abort()
    agent = Agent(SlowCommits(store, abort.abort), adapter=Scripted("two"), observers=[observer])
    root = await agent.create_session()
    assert (await agent.turn(root.id, "q", abort=abort)).text == "two"
    assert len(await agent.list_messages(root.id)) == 2


async def test_an_abort_during_the_upkeep_leaves_the_turn_as_it_is(store):
    abort = Abort()

    async def consolidate(memory, records):
        abort.abort()
        await asyncio.sleep(60)

    defaults = SessionConfig(consolidate=consolidate)
    agent = Agent(store, adapter=Scripted("one"), defaults=defaults, consolidate_every=1)
    root = await agent.create_session()
    assert (await agent.turn(root.id, "q", abort=abort)).text == "one"


async def test_an_abort_between_two_pieces_lets_the_session_go(store):
    abort = Abort()
    agent = Agent(store, adapter=Scripted(Play.chunks("x", "y", "z"), "after"))
    root = await agent.create_session()
    stream = agent.stream(root.id, "q", abort=abort)
    assert await anext(stream) == "x"
    abort.abort()
    with pytest.raises(ModelAborted):
        await stream.result()
    with anyio.fail_after(2):
        assert (await agent.turn(root.id, "q")).text == "after"


async def test_two_tools_that_wait_for_each_others_sessions_do_not_wait_for_ever(store):
    both = anyio.Event()
    waiting = []

    async def call(arguments):
        waiting.append(arguments["to"])
        if len(waiting) == 2:
            both.set()
        await both.wait()
        return (await agent.turn(arguments["to"], "hello")).text

    def play(request):
        said = request.messages[-1].text
        if said.startswith("go"):
            return Play.calls(ToolCall("1", "call", {"to": said[3:]}))
        return Play.text("fine")

    agent = Agent(store, adapter=Scripted(play, repeat=True), tools=[Tool(ToolSpec("call"), call)])
    turns = {}

    async def run(session_id, other):
        turns[session_id] = await agent.turn(session_id, f"go {other}")

    for session_id in "AB":
        await agent.create_session(session_id=session_id)
    with anyio.fail_after(2):
        async with anyio.create_task_group() as group:
            group.start_soon(run, "A", "B")
            group.start_soon(run, "B", "A")
    answers = [result for turn in turns.values() for result in turn.results]
    assert sorted(answer.success for answer in answers) == [False, True]
    assert "waits for this one" in next(a.error for a in answers if not a.success)


async def test_what_a_tool_leaves_running_may_start_a_turn_once_its_own_has_ended(store):
    ended, left = anyio.Event(), []

    async def later():
        await ended.wait()
        return (await agent.turn(root.id, "late")).text

    def spawn(arguments):
        left.append(asyncio.ensure_future(later()))
        return "ok"

    model = Scripted(Play.calls(ToolCall("1", "spawn")), "done", "late reply")
    agent = Agent(store, adapter=model, tools=[Tool(ToolSpec("spawn"), spawn)])
    root = await agent.create_session()
    await agent.turn(root.id, "q")
    ended.set()
    assert await left[0] == "late reply"
