"""A turn with its tool rounds: order, limits, failures, observers, mutation producers."""

import anyio
import pytest

from preset_engine.compile.mutations import UserMessageMutation
from preset_engine.errors import (
    AdapterError,
    ModelAborted,
    NotConfigured,
    SessionError,
    ToolLoopLimit,
)
from preset_engine.llm.abort import Abort
from preset_engine.llm.request import ToolCall, ToolSpec
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.messages import ChatMessage
from preset_engine.session.agent import Agent
from preset_engine.session.config import SessionConfig
from preset_engine.session.events import EventKind
from preset_engine.session.frame import Ask, AskKind
from preset_engine.session.shared_memory import SharedMemory
from preset_engine.session.skills import Skill, SkillRegistry, parse_skill
from preset_engine.session.tools import Tool, ToolOutput, ToolRegistry, ToolResult, current_run

pytestmark = pytest.mark.anyio


def call(number, name="dice", /, **arguments):
    return ToolCall(f"c{number}", name, arguments)


def tool(run, name="dice"):
    return Tool(ToolSpec(name), run)


async def start(store, *plays, **options):
    model = Scripted(*plays)
    agent = Agent(store, adapter=model, **options)
    meta = await agent.create_session(label="")
    return agent, model, meta.id


def shown(model, number=-1):
    return [(m.role, m.text) for m in model.requests[number].messages]


async def test_rounds_go_on_until_a_reply_asks_for_no_tool(store):
    agent, _, root = await start(
        store,
        Play.calls(call(1)),
        Play.calls(call(2)),
        "done",
        tools=[tool(lambda arguments: 6)],
    )
    turn = await agent.turn(root, "roll twice")
    assert (turn.text, turn.tool_rounds, len(turn.results)) == ("done", 2, 2)
    assert [r.role for r in await agent.list_messages(root)] == [
        "user", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert (await agent.get_session_metadata(root)).turn_count == 1


async def test_every_round_begins_with_the_one_before(store):
    agent, model, root = await start(
        store, Play.calls(call(1)), Play.calls(call(2)), "done", tools=[tool(lambda a: 6)]
    )
    await agent.turn(root, "roll twice", task="be brief")
    first, second, third = (request.messages for request in model.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second


async def test_the_sixth_request_for_tools_is_an_error(store):
    agent, model, root = await start(
        store, *[Play.calls(call(n)) for n in range(6)], tools=[tool(lambda arguments: 6)]
    )
    with pytest.raises(ToolLoopLimit, match="5 tool rounds"):
        await agent.turn(root, "roll")
    assert model.calls == 6


async def test_tools_run_at_once_and_report_in_input_order(store):
    gate, order = anyio.Event(), []

    async def slow(arguments):
        await gate.wait()
        order.append("slow")
        return "slow"

    async def fast(arguments):
        order.append("fast")
        gate.set()
        return "fast"

    events = []
    agent, _model, root = await start(
        store,
        Play.calls(call(1, "slow"), call(2, "fast")),
        "done",
        tools=[tool(slow, "slow"), tool(fast, "fast")],
        observers=[events.append],
    )
    turn = await agent.turn(root, "go")
    assert order == ["fast", "slow"]
    assert [result.data for result in turn.results] == ["slow", "fast"]
    told = [e for e in events if e.kind in (EventKind.TOOL_CALL, EventKind.TOOL_RESULT)]
    assert [(e.call or e.result).name for e in told] == ["slow", "fast", "slow", "fast"]


async def test_failures_of_tools_are_told_to_the_model(store):
    def raising(arguments):
        raise ValueError("no dice")

    agent, model, root = await start(
        store,
        Play.calls(call(1), call(2, "unknown"), call(3, "said")),
        "sorry",
        tools=[
            tool(raising),
            tool(lambda a: ToolOutput(error="not today", is_error=True), "said"),
        ],
    )
    turn = await agent.turn(root, "roll")
    assert [result.success for result in turn.results] == [False, False, False]
    answers = [text for role, text in shown(model) if role == "tool"]
    assert answers == ["no dice", "Unknown tool: unknown", "not today"]


async def test_all_rounds_are_streamed(store):
    agent, _, root = await start(
        store,
        Play.calls(call(1), text="rolling "),
        Play.chunks("a ", "six"),
        tools=[tool(lambda a: 6)],
    )
    async with agent.stream(root, "roll") as stream:
        assert [text async for text in stream] == ["rolling ", "a ", "six"]
        assert (await stream.result()).text == "a six"


async def test_an_abort_ends_running_tools(store):
    abort, ended = Abort(), []

    async def endless(arguments):
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    agent, model, root = await start(store, Play.calls(call(1)), "never", tools=[tool(endless)])

    async def end():
        await anyio.wait_all_tasks_blocked()
        abort.abort()

    async with anyio.create_task_group() as group:
        group.start_soon(end)
        with pytest.raises(ModelAborted):
            await agent.turn(root, "go", abort=abort)
    assert (ended, model.calls) == ([True], 1)


async def test_a_raising_or_slow_observer_changes_nothing_and_is_reported(store):
    errors, heard = [], []

    def broken(event):
        raise RuntimeError("oops")

    async def stuck(event):
        await anyio.sleep_forever()

    def listen(event):
        heard.append(event.kind)
        if event.kind is EventKind.ERROR:
            errors.append(str(event.error))

    agent, _, root = await start(store, "fine", observers=[broken, stuck, listen])
    agent.observers.limit_seconds = 0.01
    assert (await agent.turn(root, "go")).text == "fine"
    assert "oops" in errors
    assert any("longer than" in error for error in errors)
    assert EventKind.REPLY in heard
    agent.observers.remove(listen)


async def test_a_failing_model_is_an_event_and_raised(store):
    events = []
    agent, _, root = await start(store, Play.failure("quota"), observers=[events.append])
    with pytest.raises(AdapterError, match="quota"):
        await agent.turn(root, "go")
    kinds = [event.kind for event in events]
    assert kinds == [
        EventKind.MESSAGE,
        EventKind.ROUND_START,
        EventKind.MODEL_CALL,
        EventKind.ERROR,
    ]


async def test_mutation_producers_are_awaited_and_change_this_prompt_only(store):
    async def produce(view):
        await anyio.lowlevel.checkpoint()
        return [UserMessageMutation(ChatMessage("user", f"({len(view.history)} before)"))]

    agent, model, root = await start(store, "1", "2", producers=[produce])
    await agent.turn(root, "a")
    await agent.turn(root, "b")
    assert shown(model)[-2:] == [("user", "(2 before)"), ("user", "b")]
    assert "before" not in str(await agent.list_messages(root))


async def test_a_producer_that_gives_something_else_fails_the_turn(store):
    async def produce(view):
        return ["text"]

    agent, _, root = await start(store, "1", producers=[produce])
    with pytest.raises(SessionError, match="no mutation"):
        await agent.turn(root, "a")
    assert await agent.list_messages(root) == []


# ---- tools, skills, shared memory ----


async def test_the_tools_of_agent_and_session_are_united(store):
    own = SessionConfig(tools=(tool(lambda a: "own"), tool(lambda a: "x", "extra")))
    agent, model, _ = await start(store, Play.calls(call(1)), "ok", tools=[tool(lambda a: "agent")])
    meta = await agent.create_session(label="", config=own)
    turn = await agent.turn(meta.id, "go")
    assert [spec.name for spec in model.requests[0].tools] == ["dice", "extra"]
    assert turn.results[0].data == "agent"


async def test_without_tools_no_tool_field_is_sent(store):
    agent, model, root = await start(store, "1")
    await agent.turn(root, "go")
    assert model.requests[0].tools is None


async def test_a_tool_knows_its_session_and_its_call(store):
    async def where(arguments):
        run = current_run()
        return f"{run.session_id} {run.call.id}"

    calls = Play.calls(call(1, "where"), call(2, "where"))
    agent, _, root = await start(store, calls, "ok", tools=[tool(where, "where")])
    turn = await agent.turn(root, "go")
    assert [result.data for result in turn.results] == [f"{root} c1", f"{root} c2"]
    with pytest.raises(NotConfigured, match="inside a tool"):
        current_run()


async def test_a_regeneration_takes_the_tool_rounds_it_needs(store):
    agent, _, root = await start(
        store, "plain", Play.calls(call(1)), "rolled", "swiped", tools=[tool(lambda a: 6)]
    )
    await agent.turn(root, "roll")
    turn = await agent.ask(root, Ask(AskKind.REGENERATE))
    assert (turn.text, turn.tool_rounds) == ("rolled", 1)
    async with agent.stream(root, Ask(AskKind.SWIPE)) as stream:
        assert [text async for text in stream] == ["swiped"]
    assert (await agent.get_session_metadata(root)).turn_count == 1


async def test_a_registry_replaces_by_name():
    registry = ToolRegistry([tool(lambda a: 1), tool(lambda a: 2, "other")])
    registry.register(tool(lambda a: 3))
    assert [spec.name for spec in registry.specs] == ["dice", "other"]
    assert (await registry.execute(call(1))).data == 3
    assert (await registry.execute(call(2, "none"))).success is False


COOKING = Skill("cooking", "When food is asked for.", "Salt the water.")
SAILING = Skill("sailing", "At sea.", "Mind the boom.")


async def test_skills_are_handed_out_by_name(store):
    agent, model, root = await start(
        store,
        Play.calls(call(1, "activate_skill", name="cooking")),
        "ok",
        skills=[COOKING, SAILING],
    )
    turn = await agent.turn(root, "pasta")
    assert turn.results[0].data == "Salt the water."
    schema = model.requests[0].tools[0].parameters
    assert schema["properties"]["name"]["enum"] == ["cooking", "sailing"]


@pytest.mark.parametrize(
    ("skills", "offered"),
    [(None, ["cooking", "sailing"]), (("sailing", "gone"), ["sailing"]), ((), None)],
)
async def test_a_white_list_narrows_the_skills_and_an_empty_one_offers_no_tool(skills, offered):
    activation = SkillRegistry([COOKING, SAILING]).activation_tool(skills)
    if offered is None:
        assert activation is None
    else:
        assert activation.spec.parameters["properties"]["name"]["enum"] == offered
        assert activation.run({"name": "flying"}).is_error


def test_a_skill_file_is_read():
    skill = parse_skill("---\nname: x\ndescription: 'When: always'\n---\n\nDo it.\n")
    assert skill == Skill("x", "When: always", "Do it.")


@pytest.mark.parametrize("text", ["Do it.", "---\ndescription: y\n---\nbody", "---\nname: x\n"])
def test_a_skill_file_without_its_head_is_refused(text):
    with pytest.raises(Exception, match="front matter"):
        parse_skill(text)


async def test_shared_memory_is_an_optional_place_between_prompt_and_identity(store):
    memory = SharedMemory()
    agent, model, _ = await start(
        store,
        "1",
        Play.calls(
            call(1, "remember", slug="port", summary="Harbour\ntown", body="Long text"),
            call(2, "recall", slug="port"),
            call(3, "forget", slug="none"),
        ),
        "ok",
        shared_memory=memory,
    )
    meta = await agent.create_session(label="L", system_prompt="S")
    await agent.turn(meta.id, "a")
    assert [role for role, _ in shown(model)] == ["system", "system", "user"]
    turn = await agent.turn(meta.id, "b")
    assert [result.success for result in turn.results] == [True, True, False]
    assert turn.results[1].data == "Long text"
    await_index = shown(model)[1][1]
    assert await_index.startswith("<shared_memory_index>\n- port: Harbour town\n")
    assert [role for role, _ in shown(model)][:3] == ["system", "system", "system"]


def test_notes_without_a_name_are_refused():
    memory = SharedMemory()
    recall, remember, forget = memory.tools()
    assert remember.run({"slug": " "}).is_error
    assert recall.run({"slug": 3}).is_error
    assert forget.run({}).is_error
    memory.put("a", "one line")
    assert recall.run({"slug": "a"}).data == "one line"
    assert forget.run({"slug": "a"}).data
    assert memory.get("a") is None


def test_results_keep_what_they_answer():
    result = ToolResult("c1", "dice", {"n": 1}, data=[1, 2])
    assert result.text == "[1,2]"
