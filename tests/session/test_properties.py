"""What holds after any script of sends, failures, aborts, tool rounds, swipes and writes by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preset_engine.errors import PresetEngineError
from preset_engine.history.tool_groups import keep_whole_groups
from preset_engine.llm.request import ToolCall
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.options import SessionSetup
from preset_engine.session.session import Session
from preset_engine.session.tools import ToolResult
from preset_engine.storage.open import open_storage

pytestmark = pytest.mark.anyio

ENDINGS = st.sampled_from(["ok", "tools", "fail", "break", "abort", "bad"])
CALLS = st.tuples(
    st.sampled_from(["send", "stream", "results", "swipe", "continue", "regenerate"]), ENDINGS
)
WRITES = st.tuples(
    st.sampled_from(["insight", "memory", "rename", "trim", "edit"]), st.integers(0, 5)
)
SCRIPTS = st.lists(CALLS | WRITES, min_size=1, max_size=25)


def play(ending, number):
    text = Play.chunks(f"reply {number} ", "and its end")
    match ending:
        case "ok":
            return text
        case "tools":
            calls = [ToolCall(f"c{number}.{place}", "dice") for place in range(1 + number % 2)]
            return Play.calls(*calls)
        case "fail":
            return Play.failure("no")
        case "break":
            return text.broken(1)
        case "abort":
            return Play.abort()
        case _:
            from preset_engine.llm.request import Delta, ToolCallDelta

            return Play((Delta("x"), Delta(tool_calls=(ToolCallDelta(0, arguments="{"),))))


class World:
    """A session and what must be true of it."""

    def __init__(self, session):
        self.session = session
        self.turns = 0
        self.was_counted = False
        self.successes = []
        self.memories, self.insights = [], []

    async def state(self):
        records = await self.session.messages()
        meta = await self.session.meta()
        return records, meta, await self.session.insight()

    async def call(self, kind, ending, number):
        session = self.session
        session.adapter = model = Scripted(play(ending, number), max_context_tokens=150)
        before = await self.state()
        records = before[0]
        try:
            match kind:
                case "send":
                    await session.send(f"user {number}")
                case "stream":
                    await session.stream(f"user {number}").result()
                case "results":
                    calls = records[-1].tool_calls if records else ()
                    if not calls:
                        return
                    await session.send_results([ToolResult(c.id, c.name, data=6) for c in calls])
                case "swipe":
                    await session.swipe()
                case "continue":
                    await session.continue_reply()
                case _:
                    await session.regenerate()
        except PresetEngineError:
            assert await self.state() == before, "a failed call changes nothing"
        else:
            assert ending in ("ok", "tools")
            self.successes.extend(model.requests)
            self.count(kind, ending, records)
        for request in model.requests:
            assert keep_whole_groups(request.messages) == request.messages

    def count(self, kind, ending, records):
        if kind in ("swipe", "continue") or ending == "tools":
            self.was_counted = kind == "regenerate" and self.is_complete(records)
            return
        again = kind == "regenerate" and self.is_complete(records)
        again = again or (kind == "results" and self.was_counted)
        self.was_counted = False
        self.turns += not again

    @staticmethod
    def is_complete(records):
        return bool(records) and records[-1].role == "assistant" and not records[-1].tool_calls

    async def write(self, kind, value, number):
        session = self.session
        records = await session.messages()
        match kind:
            case "insight":
                self.insights.append(f"INSIGHT-{number}-")
                await session.put_insight(self.insights[-1])
            case "memory":
                self.memories.append(f"MEMORY-{number}-")
                await session.put_memory(self.memories[-1])
            case "rename":
                await session.rename(f"label {number}")
            case "trim":
                await session.trim(value)
            case _ if records:
                await session.edit(records[value % len(records)].number, f"edited {number}")

    def check(self):
        prompts = [str([m.text for m in request.messages]) for request in self.successes]
        for memory in self.memories:
            assert not any(memory in prompt for prompt in prompts)
        for insight in self.insights:
            assert sum(insight in prompt for prompt in prompts) <= 1


@settings(max_examples=80)
@given(SCRIPTS)
async def test_the_invariants_hold_after_any_script(script):
    async def summarise(records):
        return f"summary of {len(records)}"

    store = await open_storage("memory:")
    session = await Session.create(store, setup=SessionSetup(compress=summarise))
    world = World(session)
    for number, (kind, value) in enumerate(script):
        if isinstance(value, str):
            await world.call(kind, value, number)
        else:
            await world.write(kind, value, number)
    world.check()
    records, _, insight = await world.state()
    assert [record.number for record in records] == sorted({record.number for record in records})
    last = world.insights[-1] if world.insights else None
    was_sent = any(last in str(r.messages) for r in world.successes) if last else True
    assert insight == (None if was_sent else last)
    assert await session.memory() == (world.memories[-1] if world.memories else None)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["ok", "tools", "fail"]), min_size=1, max_size=20))
async def test_turns_are_counted_once(endings):
    store = await open_storage("memory:")
    world = World(await Session.create(store))
    for number, ending in enumerate(endings):
        open_calls = (await world.state())[0][-1:]
        is_open = bool(open_calls) and bool(open_calls[0].tool_calls)
        await world.call("results" if is_open else "send", ending, number)
    assert (await world.session.meta()).turn_count == world.turns


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=6))
async def test_what_is_said_is_stored_and_sent_unchanged(messages):
    store = await open_storage("memory:")
    model = Scripted("ok", repeat=True)
    session = await Session.create(store, label="", adapter=model)
    for text in messages:
        await session.send(text)
    stored = [record.content for record in await session.messages() if record.role == "user"]
    assert stored == [text.replace("\x00", "\ufffd") for text in messages]
    assert model.requests[-1].messages[-1].text == stored[-1]
