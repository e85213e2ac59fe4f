"""Summaries in place of old records: when, how much, how often, and what they cover."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.errors import AdapterError, BadReply, StorageLost
from preset_engine.llm.request import ToolCall, Usage
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.compression import (
    Budget,
    Head,
    UsageBase,
    compress,
    cut,
    message_tokens,
    record_tokens,
    records_digest,
)
from preset_engine.session.frame import to_message
from preset_engine.session.meta import CompressionSnapshot
from preset_engine.session.options import SessionSetup
from preset_engine.session.prompt import PromptSetup
from preset_engine.session.record import SessionRecord
from preset_engine.session.refine import ask, compress_messages, compress_with, consolidate_with
from preset_engine.session.session import Session
from preset_engine.tokens import Estimate

pytestmark = pytest.mark.anyio

COUNTER = Estimate()


def chat(count, size=40):
    roles = ("user", "assistant")
    return tuple(
        SessionRecord(roles[place % 2], f"{place}:".ljust(size, "x"), number=place + 1)
        for place in range(count)
    )


class Counting:
    """A compress function that remembers what it was asked."""

    def __init__(self, summary="SUM"):
        self.asked = []
        self._summary = summary

    async def __call__(self, records):
        self.asked.append([record.content for record in records])
        return self._summary


async def run(records, window, *, fixed=0, known=None, base=None, function=None):
    function = function or Counting()
    budget = Budget(window, fixed, 0, base)
    head = Head(records, lambda some: [record_tokens(r, COUNTER) for r in some], records_digest)
    return await compress(head, budget, known, lambda: function, COUNTER), function


async def test_nothing_happens_below_the_threshold_which_is_inclusive():
    records = chat(4)  # 10 tokens each
    below, function = await run(records, 50.1)
    assert (below.start, function.asked) == (0, [])
    at, _ = await run(records, 50)
    assert at.summary == "SUM"


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=40),
    st.integers(1, 600),
    st.integers(0, 100),
    st.text(max_size=400),
)
async def test_the_summary_covers_exactly_what_is_not_sent(sizes, window, fixed, summary):
    records = tuple(
        SessionRecord("user" if place % 2 else "assistant", "x" * size, number=place + 1)
        for place, size in enumerate(sizes)
    )
    function = Counting(summary)
    found, _ = await run(records, window, fixed=fixed, function=function)
    if found.snapshot is None:
        assert function.asked == []
        assert found.start == 0
    else:
        assert function.asked[-1] == [record.content for record in records[: found.start]]
        assert found.snapshot.covered_count == found.start
        assert found.snapshot.digest == records_digest(records[: found.start])
        assert len(function.asked) <= 2


@given(st.lists(st.sampled_from(["user", "assistant", "group"]), max_size=20), st.integers(0, 300))
def test_a_cut_never_falls_inside_a_tool_group(kinds, room):
    records = []
    for kind in kinds:
        if kind == "group":
            call = ToolCall("a", "f", {"k": "v" * 30})
            records.append(SessionRecord("assistant", "", tool_calls=(call,)))
            records += [SessionRecord("tool", "r" * 50, tool_call_id="a")] * 2
        else:
            records.append(SessionRecord(kind, "x" * 40))
    sizes = [record_tokens(record, COUNTER) for record in records]
    start = cut(records, sizes, room)
    assert start == len(records) or records[start].role != "tool"
    assert start == 0 or sum(sizes[start:]) <= room


def test_a_cut_starts_with_a_user_record_where_one_is_left():
    records = chat(10)
    assert [cut(records, [10] * 10, room) for room in (100, 50, 45, 9)] == [0, 6, 6, 10]


def test_arguments_are_counted_and_counted_alike_in_records_and_messages():
    record = SessionRecord("assistant", "ab", tool_calls=(ToolCall("1", "f", {"n": "x" * 50}),))
    assert record_tokens(record, COUNTER) > 13
    assert record_tokens(record, COUNTER) == message_tokens([to_message(record)], COUNTER)


def test_wide_characters_can_be_counted_as_tokens():
    record = SessionRecord("user", "汉字" * 10)
    assert record_tokens(record, Estimate()) == 5
    assert record_tokens(record, Estimate(wide=True)) == 20


async def test_a_stale_summary_is_never_used():
    records = chat(12)
    stale = CompressionSnapshot("STALE", 4, records_digest(records[1:5]))
    found, _ = await run(records, 150, known=stale)
    assert found.summary == "SUM"
    unneeded, function = await run(records, 1000, known=stale)
    assert (unneeded.summary, function.asked) == ("", [])


async def test_a_fitting_summary_is_used_again_until_the_threshold():
    records = chat(12)
    kept = CompressionSnapshot("KEPT", 6, records_digest(records[:6]))
    found, function = await run(records, 100, known=kept)
    assert (found.start, found.summary, function.asked) == (6, "KEPT", [])
    again, function = await run(records, 70, known=kept)
    assert (again.summary, len(function.asked)) == ("SUM", 1)


async def test_a_reported_size_is_a_better_base_than_an_estimate():
    records = chat(10)
    low = UsageBase(input_tokens=20, through=8)
    high = UsageBase(input_tokens=200, through=8, estimated=40)
    assert (await run(records, 100, base=low))[0].start == 0
    assert (await run(records, 200, base=high))[0].start > 0, "five times what was estimated"


async def test_a_long_summary_makes_the_cut_deeper_once():
    function = Counting("s" * 280)  # 70 tokens, more than its allowance
    found, _ = await run(chat(10), 100, function=function)
    assert len(function.asked) == 2
    assert len(function.asked[1]) == found.start > len(function.asked[0])


async def test_a_preset_that_fills_the_window_does_not_cost_a_summary_every_turn():
    records, calls, known = chat(2), 0, None
    for _ in range(20):
        records = chat(len(records) + 2)
        found, function = await run(records, 1000, fixed=790, known=known)
        known, calls = found.snapshot, calls + len(function.asked)
        sent = 790 + sum(record_tokens(r, COUNTER) for r in records[found.start :])
        assert sent < 1000
    assert calls <= 5, "40 records of 10 tokens"


async def session_of(store, function, *plays, window=400, **fields):
    setup = SessionSetup(compress=function, prompt=PromptSetup(**fields))
    model = Scripted(*plays, max_context_tokens=window, repeat=True)
    return await Session.create(store, label="", adapter=model, setup=setup)


def reply(size=40):
    return Play.text("r" * size)


async def test_a_steady_chat_compresses_rarely_and_stays_inside_the_window(store):
    function = Counting()
    session = await session_of(store, function, reply())
    for turn in range(60):
        await session.send(f"{turn}".ljust(40, "u"))
    assert len(function.asked) <= 10, "120 records of 10 tokens in a window of 400"
    for request in session.adapter.requests:
        assert message_tokens(request.messages, COUNTER) < 400


async def test_the_summary_stands_behind_the_insight_and_before_the_records(store):
    session = await session_of(store, Counting(), reply(2000), reply(10))
    await session.put_system_prompt("S")
    await session.send("u")
    await session.put_insight("I")
    await session.send("v")
    messages = session.adapter.requests[-1].messages
    assert [message.text for message in messages] == ["S", "I", "SUM", "v"]
    assert await session.insight() is None


async def test_a_trim_or_an_edit_makes_a_new_summary(store):
    function = Counting()
    session = await session_of(store, function, *[reply(500)] * 4, reply(4))
    for turn in range(4):
        await session.send(f"u{turn}")
    made = len(function.asked)
    await session.send("again")
    assert len(function.asked) == made
    await session.edit(1, "edited")
    await session.send("once more")
    assert len(function.asked) == made + 1
    assert function.asked[-1][0] == "edited"
    await session.trim(3)
    await session.send("and again")
    assert session.adapter.requests[-1].messages[0].text == "rrrr", "no stale summary"


async def test_a_kept_summary_is_used_by_the_next_process(store):
    function = Counting()
    session = await session_of(store, function, reply(1500), reply(4))
    await session.send("u")
    await session.send("v")
    later = Session(store, session.id, adapter=session.adapter, setup=session.setup)
    await later.send("w")
    assert len(function.asked) == 1
    assert (await store.get_compression_cache(session.id)).summary == "SUM"


async def test_a_failed_call_does_not_cost_the_summary_again(store):
    function = Counting()
    session = await session_of(store, function, reply(1500), Play.failure("no"), reply(4))
    await session.send("u")
    with pytest.raises(AdapterError):
        await session.send("v")
    await session.send("v")
    assert len(function.asked) == 1


class NoCache:
    """A store that cannot give the kept summary."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def get_compression_cache(self, session_id):
        raise StorageLost("gone")


async def test_a_store_that_cannot_give_the_summary_does_not_fail_the_turn(store):
    session = await session_of(NoCache(store), Counting(), reply(1500), reply(4))
    await session.send("u")
    assert (await session.send("v")).text == "rrrr"


async def test_without_a_function_the_sessions_own_model_summarises(store):
    told = Play.chunks("r", usage=Usage(input_tokens=390))
    summary = Play.text("<think>x</think>brief")
    session = await session_of(store, None, told, summary, reply(4))
    await session.send("u")
    await session.send("v")
    task, answer = session.adapter.requests[1:]
    assert task.messages == compress_messages((await session.messages())[:2])
    assert task.tools is None
    assert answer.messages[0].text == "brief"


async def test_a_preview_makes_no_summary(store):
    function = Counting()
    session = await session_of(store, function, reply(1500))
    await session.send("u")
    prepared = await session.preview("v")
    assert prepared.request.messages[0].text == "[2 records would be summarised here]"
    assert (function.asked, session.adapter.calls) == ([], 1)
    assert await store.get_compression_cache(session.id) is None


async def test_a_failing_function_fails_the_turn_and_stores_nothing(store):
    async def fail(records):
        raise BadReply("no summary")

    session = await session_of(store, fail, reply(1500))
    await session.send("u")
    with pytest.raises(BadReply):
        await session.send("v")
    assert len(await session.messages()) == 2


async def test_usage_of_a_stream_is_the_base_of_the_next_estimate(store):
    function = Counting()
    told = Play.chunks("r", usage=Usage(input_tokens=390))
    session = await session_of(store, function, told)
    await session.send("u" * 40)
    await session.stream("v" * 40).result()
    assert function.asked, "the reported size is over the threshold though the estimate is not"


async def test_long_records_are_summarised_in_stretches():
    model = Scripted("first", "second", "third", max_context_tokens=40)
    text = await compress_with(model)(chat(8))
    assert text == "third"
    assert model.requests[1].messages[-1].text.startswith("对话记录:\nsystem: first\nuser: 3:") or (
        "system: first" in model.requests[1].messages[-1].text
    )
    sent = "\n".join(request.messages[-1].text for request in model.requests)
    assert all(sent.count(record.content) == 1 for record in chat(8))


async def test_an_empty_summary_is_refused():
    with pytest.raises(BadReply, match="empty"):
        await ask(Scripted("<think>only</think>"), ())


async def test_the_consolidating_function_sends_the_old_memory():
    model = Scripted("<think>x</think> new")
    assert await consolidate_with(model, role_context="R")("old", chat(2)) == "new"
    task, role, body = (message.text for message in model.requests[0].messages)
    assert role == "<role_context>\nR\n</role_context>"
    assert body.startswith("当前摘要:\nold\n\n对话记录:\nuser: 0:")
    assert task
