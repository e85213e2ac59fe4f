"""The same sessions over every embedded back end: what a reopened store knows, and two writers at once."""

import anyio
import pytest

from preset_engine import Agent, Session, open_storage
from preset_engine.errors import AdapterError, SessionChanged
from preset_engine.llm.request import ToolCall, ToolSpec
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.config import SessionConfig
from preset_engine.session.options import SessionSetup
from preset_engine.session.tools import Tool

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["files", "sqlite"])
def url(request, tmp_path):
    return f"{request.param}:{tmp_path / 'store'}"


async def test_a_reopened_store_goes_on_where_it_stopped(url):
    async def summarise(records):
        return f"{len(records)} records"

    store = await open_storage(url)
    plays = [Play.calls(ToolCall("1", "dice")), "six", Play.failure("no"), "seven"]
    agent = Agent(store, adapter=Scripted(*plays), tools=[Tool(ToolSpec("dice"), lambda a: 6)])
    root = await agent.create_session(label="Table", system_prompt="S", session_id="root")
    await agent.turn(root.id, "roll")
    await agent.put_insight(root.id, "I")
    await agent.put_memory(root.id, "M")
    with pytest.raises(AdapterError):
        await agent.turn(root.id, "again")
    await Session(store, root.id, adapter=Scripted("sieben")).swipe()
    await agent.put_insight(root.id, "I2")
    config = SessionConfig(fork_compress=summarise, skills=("x",))
    await agent.fork_session(
        root.id, label="c", context="compress", config=config, session_id="kid"
    )
    await store.close()

    store = await open_storage(url)
    model = Scripted("later")
    agent = Agent(store, adapter=model)
    records = await agent.list_messages("root")
    assert [r.content for r in records] == ["roll", "", "6", "sieben"]
    assert records[-1].alternatives == ("six", "sieben")
    digest = await agent.get_session_digest("root")
    assert (digest.memory, digest.insight) == ("M", "I2")
    assert (await agent.get_session_metadata("root")).turn_count == 1
    node = await agent.get_topology_node("kid")
    assert (node.parent_id, node.source_session_id) == ("root", "root")
    frozen = await store.get_config("kid")
    assert frozen.skills == ("x",)
    assert frozen.system_prompt == "S\n\n<parent_context>\n4 records\n</parent_context>"
    await agent.turn("root", "and now?")
    assert "I2" in [message.text for message in model.requests[0].messages]
    assert (await agent.get_session_digest("root")).insight is None
    await store.close()


async def test_writers_on_two_connections_lose_and_double_nothing(url):
    first, second = await open_storage(url), await open_storage(url)
    session = await Session.create(first, label="", session_id="shared")
    told = []

    async def write(store, name):
        model = Scripted(lambda request: Play.text(f"re {request.messages[-1].text}"), repeat=True)
        mine = Session(store, session.id, adapter=model, setup=SessionSetup(attempts=50))
        for number in range(4):
            try:
                await mine.send(f"{name}{number}")
                told.append(f"{name}{number}")
            except SessionChanged:
                continue

    async with anyio.create_task_group() as group:
        group.start_soon(write, first, "a")
        group.start_soon(write, second, "b")
    records = await session.messages()
    said = [record.content for record in records if record.role == "user"]
    assert sorted(said) == sorted(told)
    assert [r.content for r in records[1::2]] == [f"re {text}" for text in said], "none interleaved"
    assert (await session.meta()).turn_count == len(told)
    await first.close()
    await second.close()
