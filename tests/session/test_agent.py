"""Many sessions: creating, forking, queues, engines, consolidation, digests, configuration."""

from datetime import UTC, datetime

import anyio
import pytest

from preset_engine.errors import (
    AdapterError,
    NotConfigured,
    SessionArchived,
    SessionError,
    SessionNotFound,
    SplitRefused,
)
from preset_engine.llm.request import ToolCall, ToolSpec
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.agent import Agent
from preset_engine.session.config import ForkProfile, PromptMode, SessionConfig, template
from preset_engine.session.engines import Engines
from preset_engine.session.events import EventKind
from preset_engine.session.split_guard import SplitStrategy
from preset_engine.session.tools import Tool, current_run

pytestmark = pytest.mark.anyio


def talking(**options):
    return Scripted(
        lambda request: Play.text(f"re: {request.messages[-1].text}"), repeat=True, **options
    )


@pytest.fixture
async def agent(store):
    return Agent(store, adapter=talking())


async def texts(agent, session_id):
    return [record.content for record in await agent.list_messages(session_id)]


# ---- roots and forks ----


async def test_two_roots_behave_alike_and_know_nothing_of_each_other(agent):
    one = await agent.create_session(label="one", system_prompt="S")
    two = await agent.create_session()
    await agent.turn(one.id, "a")
    assert [node.id for node in await agent.list_roots()] == [one.id, two.id]
    assert await texts(agent, two.id) == []
    assert (await agent.store.get_config(one.id)).system_prompt == "S"
    assert await agent.store.get_config(two.id) is None


async def test_an_opening_line_stands_first(agent):
    root = await agent.create_session(opening="Welcome.")
    child = await agent.fork_session(root.id, label="c", context="inherit", opening="Go on.")
    assert await texts(agent, child.id) == ["Welcome.", "Go on."]


@pytest.mark.parametrize(
    ("context", "left"),
    [
        (None, []),
        ("none", []),
        ("inherit", ["a", "re: a", "b", "re: b"]),
        (lambda records: records[-2:], ["b", "re: b"]),
    ],
)
async def test_fork_contexts(agent, context, left):
    root = await agent.create_session(system_prompt="S")
    await agent.turn(root.id, "a")
    await agent.turn(root.id, "b")
    child = await agent.fork_session(root.id, label="c", context=context)
    assert await texts(agent, child.id) == left
    assert await agent.store.get_system_prompt(child.id) == "S"


async def test_a_context_function_may_be_asynchronous_and_is_cleaned(agent):
    agent.configure(adapter=Scripted(Play.calls(ToolCall("1", "f")), "b"), max_tool_rounds=0)
    root = await agent.create_session()
    with pytest.raises(SessionError, match="tool rounds"):
        await agent.turn(root.id, "a")

    async def everything(records):
        return records

    child = await agent.fork_session(root.id, label="c", context=everything)
    assert await texts(agent, child.id) == ["a"]
    assert len(await agent.list_messages(root.id)) == 2


async def test_memory_and_insight_are_not_copied(agent):
    root = await agent.create_session()
    await agent.put_memory(root.id, "M")
    await agent.put_insight(root.id, "I")
    child = await agent.fork_session(root.id, label="c", context="inherit")
    digest = await agent.get_session_digest(child.id)
    assert (digest.memory, digest.insight) == (None, None)
    assert (await agent.get_session_digest(root.id)).insight == "I"


async def test_compress_puts_a_summary_into_the_frozen_prompt(store):
    asked = []

    async def summarise(records):
        asked.append(len(records))
        return "what was said"

    defaults = SessionConfig(fork_compress=summarise)
    agent = Agent(store, adapter=talking(), defaults=defaults)
    root = await agent.create_session(system_prompt="S")
    await agent.turn(root.id, "a")
    child = await agent.fork_session(root.id, label="c", context="compress")
    wanted = "S\n\n<parent_context>\nwhat was said\n</parent_context>"
    assert await store.get_system_prompt(child.id) == wanted
    assert (await store.get_config(child.id)).system_prompt == wanted
    assert (await texts(agent, child.id), asked) == ([], [2])


async def test_the_default_summary_asks_the_model_and_strips_thinking(store):
    model = Scripted("yes", "<think>hm</think>notes")
    agent = Agent(store, adapter=model)
    root = await agent.create_session()
    await agent.turn(root.id, "a")
    child = await agent.fork_session(root.id, label="c", context="compress")
    prompt = await store.get_system_prompt(child.id)
    assert prompt == "\n\n<parent_context>\nnotes\n</parent_context>"


async def test_a_failed_summary_creates_nothing(store):
    agent = Agent(store, adapter=Scripted("yes", Play.failure("no")))
    root = await agent.create_session()
    await agent.turn(root.id, "a")
    with pytest.raises(AdapterError):
        await agent.fork_session(root.id, label="c", context="compress")
    assert len(await agent.list_sessions()) == 1
    bare = Agent(store)
    with pytest.raises(NotConfigured, match="compress"):
        await bare.fork_session(root.id, label="c", context="compress")
    with pytest.raises(NotConfigured, match="sideways"):
        await bare.fork_session(root.id, label="c", context="sideways")
    assert len(await agent.list_sessions()) == 1


class FailsLate:
    """A store whose transaction fails after the node was made."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def transaction(self, work):
        async def late(inside):
            await work(inside)
            raise SessionError("too late")

        return await self._store.transaction(late)


async def test_a_later_failure_leaves_no_node_behind(agent, store):
    root = await agent.create_session()
    with pytest.raises(SessionError, match="too late"):
        await Agent(FailsLate(store), adapter=talking()).fork_session(root.id, label="c")
    assert len(await agent.list_sessions()) == 1
    assert (await agent.get_topology_node(root.id)).children == ()


async def test_a_node_carries_its_parent_and_its_source(agent):
    root = await agent.create_session()
    other = await agent.create_session()
    child = await agent.fork_session(root.id, label="c", parent_id=other.id, session_id="mine")
    node = await agent.get_topology_node(child.id)
    assert (node.id, node.parent_id, node.source_session_id) == ("mine", other.id, root.id)
    assert (node.depth, node.label) == (1, "c")


PROFILES = {
    "guide": ForkProfile(
        SessionConfig(system_prompt="static", skills=("maps",)),
        prompt_fn=template("You guide through {town}."),
        mode=PromptMode.PREPEND,
        context="inherit",
        opening="Follow me.",
    ),
    "strict": ForkProfile(SessionConfig(system_prompt="Only this."), mode=PromptMode.PRESET),
}


async def test_profiles_bring_prompt_context_opening_and_skills(store):
    agent = Agent(store, adapter=talking(), profiles=PROFILES)
    root = await agent.create_session(system_prompt="root")
    await agent.turn(root.id, "a")
    child = await agent.fork_session(
        root.id,
        label="c",
        profile="guide",
        variables={"town": "Riga"},
        config=SessionConfig(system_prompt="Be brief."),
    )
    config = await store.get_config(child.id)
    assert config.system_prompt == "You guide through Riga.\n\nBe brief."
    assert config.skills == ("maps",)
    assert await texts(agent, child.id) == ["a", "re: a", "Follow me."]
    strict = await agent.fork_session(
        root.id, label="s", profile="strict", config=SessionConfig(system_prompt="ignored")
    )
    assert await store.get_system_prompt(strict.id) == "Only this."
    with pytest.raises(NotConfigured, match="guide, strict"):
        await agent.fork_session(root.id, label="x", profile="none")


@pytest.mark.parametrize(("given", "frozen"), [(None, ("a",)), ((), ()), (("b",), ("b",))])
async def test_skills_are_inherited_emptied_or_replaced(store, given, frozen):
    agent = Agent(store, adapter=talking(), defaults=SessionConfig(skills=("a",)))
    root = await agent.create_session()
    child = await agent.fork_session(root.id, label="c", config=SessionConfig(skills=given))
    assert (await store.get_config(child.id)).skills == frozen


async def test_a_fork_with_its_own_model_uses_it_and_its_child_does_not(agent):
    special = Scripted("special", repeat=True)
    root = await agent.create_session()
    child = await agent.fork_session(root.id, label="c", config=SessionConfig(adapter=special))
    grandchild = await agent.fork_session(child.id, label="g")
    assert (await agent.turn(child.id, "a")).text == "special"
    assert (await agent.turn(grandchild.id, "a")).text == "re: a"


async def test_the_split_guard_holds_forks_back(store):
    agent = Agent(store, adapter=talking(), split=SplitStrategy(min_turns=1, cooldown_turns=2))
    root = await agent.create_session()
    with pytest.raises(SplitRefused, match="0 turns of 1"):
        await agent.fork_session(root.id, label="c")
    await agent.turn(root.id, "a")
    await agent.fork_session(root.id, label="c")
    with pytest.raises(SplitRefused, match="since the last fork"):
        await agent.fork_session(root.id, label="d")
    agent.split_guard.update(is_off=True)
    await agent.fork_session(root.id, label="d")
    assert len(await agent.list_sessions()) == 3


async def test_an_archived_session_can_be_forked_and_both_views_agree(agent):
    root = await agent.create_session()
    await agent.turn(root.id, "a")
    await agent.archive_session(root.id)
    with pytest.raises(SessionArchived):
        await agent.turn(root.id, "b")
    with pytest.raises(SessionArchived):
        await agent.put_insight(root.id, "x")
    assert (await agent.get_session_metadata(root.id)).is_archived
    assert [tree.status.value for tree in await agent.get_topology()] == ["archived"]
    child = await agent.fork_session(root.id, label="c", context="inherit")
    assert (await agent.turn(child.id, "b")).text == "re: b"


async def test_a_tool_may_fork_the_session_it_runs_in(store):
    agent = Agent(store, adapter=Scripted(Play.calls(ToolCall("1", "branch")), "done"))
    root = await agent.create_session()

    async def branch(arguments):
        return (await agent.fork_session(root.id, label="branch")).id

    async def again(arguments):
        await agent.turn(root.id, "deadlock?")

    agent.configure(tools=[Tool(ToolSpec("branch"), branch), Tool(ToolSpec("again"), again)])
    turn = await agent.turn(root.id, "go")
    assert [node.label for node in await agent.store.list_all()] == ["Root", "branch"]
    assert turn.results[0].success
    agent.configure(adapter=Scripted(Play.calls(ToolCall("1", "again")), "done"))
    with anyio.fail_after(5):
        turn = await agent.turn(root.id, "go")
    assert "cannot start another turn" in turn.results[0].error


async def test_tools_of_two_sessions_may_fork_each_other_at_once(store):
    roots = {}

    async def branch(arguments):
        await anyio.sleep(0.01)
        other = next(r for r in roots.values() if r.id != current_run().session_id)
        return (await agent.fork_session(other.id, label="branch")).id

    model = Scripted(
        lambda request: (
            Play.text("ok")
            if request.messages[-1].role == "tool"
            else Play.calls(ToolCall("1", "branch"))
        ),
        repeat=True,
    )
    agent = Agent(store, adapter=model, tools=[Tool(ToolSpec("branch"), branch)])
    roots.update({name: await agent.create_session(label=name) for name in "ab"})
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for root in roots.values():
                group.start_soon(agent.turn, root.id, "go")
    assert len(await agent.list_sessions()) == 4


# ---- queues and engines ----


async def test_turns_of_one_session_follow_each_other_and_others_do_not_wait(store):
    running, most = {}, {}

    async def work(arguments):
        key = arguments["key"]
        running[key] = running.get(key, 0) + 1
        most[key] = max(most.get(key, 0), running[key])
        most["all"] = max(most.get("all", 0), sum(running.values()))
        await anyio.sleep(0.01)
        running[key] -= 1

    def play(request):
        if request.messages[-1].role == "tool":
            return Play.text("ok")
        return Play.calls(ToolCall("1", "work", {"key": request.messages[-1].text}))

    model = Scripted(play, repeat=True)
    agent = Agent(store, adapter=model, tools=[Tool(ToolSpec("work"), work)])
    roots = [await agent.create_session() for _ in range(3)]
    async with anyio.create_task_group() as group:
        for root in roots * 3:
            group.start_soon(agent.turn, root.id, root.id)
    assert [most[root.id] for root in roots] == [1, 1, 1]
    assert most["all"] == 3
    for root in roots:
        assert (await agent.get_session_metadata(root.id)).turn_count == 3


async def test_a_stream_holds_the_queue(agent):
    root = await agent.create_session(label="")
    order = []

    async def second():
        await agent.turn(root.id, "second")
        order.append("second")

    async with anyio.create_task_group() as group, agent.stream(root.id, "first") as stream:
        await anext(stream)
        group.start_soon(second)
        await anyio.wait_all_tasks_blocked()
        assert order == []
        await stream.result()
        order.append("first")
    assert order == ["first", "second"]
    assert await texts(agent, root.id) == ["first", "re: first", "second", "re: second"]


async def test_a_stream_given_up_frees_the_queue(agent):
    root = await agent.create_session()
    async with agent.stream(root.id, "first") as stream:
        await anext(stream)
    with anyio.fail_after(5):
        await agent.turn(root.id, "second")
    assert await texts(agent, root.id) == ["second", "re: second"]


class Building:
    def __init__(self):
        self.built = []

    async def __call__(self, session_id):
        await anyio.lowlevel.checkpoint()
        if session_id == "missing":
            raise SessionNotFound("no such session")
        self.built.append(session_id)
        return f"engine {len(self.built)}"


async def test_engines_are_shared_kept_while_held_and_dropped_when_idle():
    now, build = [0.0], Building()
    engines = Engines(build, idle_seconds=10, clock=lambda: now[0])
    async with anyio.create_task_group() as group:
        for holder in ("a", "b", "a"):
            group.start_soon(engines.attach, "s", holder)
    assert (build.built, engines.holders("s")) == (["s"], {"a", "b"})
    assert engines.detach("s", "a")
    assert not engines.detach("s", "a")
    now[0] = 100
    assert await engines.attach("s", "c") == "engine 1"
    engines.detach("s", "b")
    engines.detach("s", "c")
    now[0] = 109
    assert await engines.attach("s", "d") == "engine 1", "held again before its time"
    engines.detach("s", "d")
    now[0] = 119
    await engines.attach("t", "a")
    assert ("s" in engines, len(engines)) == (False, 1)


async def test_without_idle_time_an_engine_goes_with_its_last_holder():
    engines = Engines(Building(), idle_seconds=0)
    async with engines.hold("s"):
        assert "s" in engines
    assert "s" not in engines
    assert not engines.detach("s", "nobody")
    assert engines.holders("s") == frozenset()


async def test_an_unknown_session_builds_no_engine(agent):
    build = Building()
    engines = Engines(build)
    with pytest.raises(SessionNotFound):
        await engines.attach("missing", "a")
    assert (len(engines), build.built) == (0, [])
    for call in (
        agent.turn("missing", "a"),
        agent.attach("missing", "a"),
        agent.get_session_digest("missing"),
        agent.fork_session("missing", label="c"),
        agent.archive_session("missing"),
        agent.get_topology_node("missing"),
        agent.list_messages("missing"),
    ):
        with pytest.raises(SessionNotFound):
            await call


async def test_attach_and_detach_are_told(store):
    events = []
    agent = Agent(store, adapter=talking(), observers=[events.append])
    root = await agent.create_session()
    engine = await agent.attach(root.id, "tab")
    assert await agent.attach(root.id, "other") is engine
    assert await agent.detach(root.id, "tab")
    assert not await agent.detach(root.id, "tab")
    await agent.fork_session(root.id, label="c", session_id="kid")
    await agent.archive_session(root.id)
    kinds = [event.kind for event in events]
    assert kinds == [
        EventKind.SESSION_ENTER,
        EventKind.SESSION_ENTER,
        EventKind.SESSION_LEAVE,
        EventKind.SESSION_FORK,
        EventKind.SESSION_ARCHIVE,
    ]
    assert events[3].child_id == "kid"


async def test_the_configuration_can_change_while_engines_are_held(agent):
    root = await agent.create_session()
    await agent.attach(root.id, "tab")
    other = Scripted("other", repeat=True)
    agent.configure(adapter=other, tools=[Tool(ToolSpec("f"), lambda a: 1)], idle_seconds=1)
    assert (await agent.turn(root.id, "a")).text == "other"
    assert [spec.name for spec in other.requests[0].tools] == ["f"]


# ---- consolidation and digests ----


def counting():
    asked = []

    async def consolidate(memory, records):
        asked.append(len(records))
        return f"memory {len(asked)}"

    return asked, consolidate


async def test_consolidation_comes_on_the_nth_completed_turn(store):
    asked, consolidate = counting()
    defaults = SessionConfig(consolidate=consolidate)
    agent = Agent(store, adapter=talking(), defaults=defaults, consolidate_every=3)
    root = await agent.create_session()
    for turn in range(7):
        await agent.turn(root.id, str(turn))
    assert asked == [6, 12]
    assert (await agent.get_session_digest(root.id)).memory == "memory 2"
    assert await agent.consolidate_session(root.id) == "memory 3"


async def test_as_a_context_manager_the_agent_consolidates_in_the_background(store):
    gate, events = anyio.Event(), []

    async def consolidate(memory, records):
        await gate.wait()
        return "late memory"

    agent = Agent(
        store,
        adapter=talking(),
        defaults=SessionConfig(consolidate=consolidate),
        consolidate_every=1,
        observers=[events.append],
    )
    async with agent:
        root = await agent.create_session()
        assert (await agent.turn(root.id, "a")).text == "re: a"
        assert (await agent.get_session_digest(root.id)).memory is None
        gate.set()
    assert (await agent.get_session_digest(root.id)).memory == "late memory"
    assert EventKind.CONSOLIDATED in [event.kind for event in events]


async def test_a_failure_inside_the_agents_block_comes_out_as_it_is(store):
    ended = []

    async def consolidate(memory, records):
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    defaults = SessionConfig(consolidate=consolidate)
    agent = Agent(store, adapter=talking(), defaults=defaults, consolidate_every=1)
    with pytest.raises(ValueError, match="mine"):
        await _fail_inside(agent)
    assert ended == [True]


async def _fail_inside(agent):
    async with agent:
        root = await agent.create_session()
        await agent.turn(root.id, "a")
        await anyio.wait_all_tasks_blocked()
        raise ValueError("mine")


@pytest.mark.parametrize("in_background", [False, True])
async def test_a_failed_consolidation_is_an_event_and_not_the_turns(store, in_background):
    async def consolidate(memory, records):
        raise KeyError("no such thing")

    events = []
    agent = Agent(
        store,
        adapter=talking(),
        defaults=SessionConfig(consolidate=consolidate),
        consolidate_every=1,
        observers=[events.append],
    )
    root = await agent.create_session()
    if in_background:
        async with agent:
            assert (await agent.turn(root.id, "a")).text == "re: a"
    else:
        assert (await agent.turn(root.id, "a")).text == "re: a"
    errors = [event for event in events if event.kind is EventKind.ERROR]
    assert [type(event.error) for event in errors] == [KeyError]
    assert errors[0].source == "consolidate"


async def test_digests_gather_all_sessions_and_filter_by_status(agent):
    one = await agent.create_session(label="one")
    two = await agent.create_session(label="two")
    await agent.put_memory(one.id, "M1")
    await agent.put_insight(two.id, "I2")
    await agent.archive_session(one.id)
    digests = await agent.list_session_digests()
    assert [(d.label, d.memory, d.insight) for d in digests] == [
        ("one", "M1", None),
        ("two", None, "I2"),
    ]
    assert [d.id for d in await agent.list_session_digests("active")] == [two.id]
    assert [m.id for m in await agent.list_sessions("archived")] == [one.id]
    await agent.clear_insight(two.id)
    assert (await agent.get_session_digest(two.id)).insight is None


async def test_labels_and_references_can_be_changed(agent):
    one, two = await agent.create_session(), await agent.create_session()
    await agent.rename_session(one.id, "first")
    await agent.add_reference(one.id, two.id)
    node = await agent.get_topology_node(one.id)
    assert (node.label, node.refs) == ("first", (two.id,))


async def test_without_storage_every_method_says_so():
    agent = Agent(adapter=talking())
    calls = (
        agent.list_sessions,
        agent.list_roots,
        agent.get_topology,
        lambda: agent.get_session_metadata("x"),
        agent.list_session_digests,
        lambda: agent.list_messages("x"),
        lambda: agent.put_memory("x", "m"),
        lambda: agent.put_insight("x", "i"),
        lambda: agent.clear_insight("x"),
        agent.create_session,
        lambda: agent.fork_session("x", label="c"),
        lambda: agent.turn("x", "a"),
        lambda: agent.consolidate_session("x"),
    )
    for call in calls:
        with pytest.raises(NotConfigured, match="storage"):
            await call()


async def test_an_agent_refuses_a_model_that_cannot_stream(store):
    class Old:
        name = "old"
        max_context_tokens = None

    with pytest.raises(NotConfigured, match="stream"):
        Agent(store, adapter=Old())


async def test_records_carry_the_present_time_when_nobody_gives_a_clock(agent):
    before = datetime.now(UTC)
    root = await agent.create_session()
    await agent.turn(root.id, "Hello")
    for record in await agent.list_messages(root.id):
        assert before <= datetime.fromisoformat(record.timestamp) <= datetime.now(UTC)
