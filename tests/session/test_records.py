"""Swipes, edits, continuing, regenerating, trimming: records changed as a SillyTavern user knows it."""

import pytest

from preset_engine.errors import AdapterError, BadReply, SessionError
from preset_engine.llm.request import ToolCall
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.record import RecordQuery
from preset_engine.session.session import Session
from preset_engine.session.tools import ToolResult

pytestmark = pytest.mark.anyio

DICE = ToolCall("c1", "dice", {})


@pytest.fixture
async def session(store):
    session = await Session.create(store, label="", adapter=Scripted("one"))
    await session.send("go")
    session.adapter = Scripted()
    return session


async def texts(session):
    return [record.content for record in await session.messages()]


def prompt(session):
    return [message.text for message in session.adapter.requests[-1].messages]


async def test_a_swipe_adds_an_alternative_and_chooses_it(session):
    session.adapter.add(["two", "three"])
    await session.swipe()
    result = await session.swipe()
    assert prompt(session) == ["go"], "the reply itself is not shown"
    reply = (await session.messages())[1]
    assert (reply.content, reply.alternatives, reply.chosen) == (
        "three",
        ("one", "two", "three"),
        2,
    )
    assert result.records == (reply,)
    assert (await session.meta()).turn_count == 1


async def test_an_alternative_can_be_chosen_edited_and_written_by_hand(session):
    await session.add_alternative(2, "by hand")
    await session.choose_alternative(2, 0)
    await session.edit(2, "one!")
    reply = (await session.messages())[1]
    assert (reply.content, reply.alternatives) == ("one!", ("one!", "by hand"))
    assert reply.edited_at is not None
    session.adapter.add(["next"])
    await session.send("on")
    assert prompt(session) == ["go", "one!", "on"]


async def test_impossible_choices_are_refused(session):
    with pytest.raises(SessionError, match="alternatives"):
        await session.choose_alternative(2, 5)
    with pytest.raises(SessionError, match="no record 9"):
        await session.edit(9, "x")
    with pytest.raises(SessionError, match="no reply"):
        await session.add_alternative(1, "x")


async def test_a_failed_swipe_changes_nothing(session):
    session.adapter.add([Play.chunks("tw").broken(1)])
    before = await session.messages()
    with pytest.raises(AdapterError):
        await session.swipe()
    assert await session.messages() == before


async def test_a_swipe_that_asks_for_tools_is_refused_and_stores_nothing(session):
    session.adapter.add([Play.calls(DICE)])
    before = await session.messages()
    with pytest.raises(BadReply, match="regenerate"):
        await session.swipe()
    assert await session.messages() == before


async def test_continuing_joins_the_reply(session):
    session.adapter.add([" and more", "one and more, again"])
    await session.continue_reply()
    assert prompt(session) == ["go", "one"]
    assert await texts(session) == ["go", "one and more"]
    await session.continue_reply()
    assert await texts(session) == ["go", "one and more, again"], (
        "a repeated beginning is not doubled"
    )


async def test_continuing_keeps_the_other_alternatives(session):
    session.adapter.add(["two", "!"])
    await session.swipe()
    await session.continue_reply()
    assert (await session.messages())[1].alternatives == ("one", "two!")


async def test_regenerating_answers_the_last_message_anew(session):
    session.adapter.add(["other"])
    await session.regenerate()
    assert prompt(session) == ["go"]
    assert await texts(session) == ["go", "other"]
    assert (await session.meta()).turn_count == 1


async def test_regenerating_a_message_without_an_answer_completes_its_turn(session):
    await session.remove_after(1)
    session.adapter.add(["answer"])
    await session.regenerate()
    assert await texts(session) == ["go", "answer"]


async def test_a_failed_regeneration_keeps_the_old_answer(session):
    session.adapter.add([Play.failure("no")])
    with pytest.raises(AdapterError):
        await session.regenerate()
    assert await texts(session) == ["go", "one"]


async def test_a_regenerated_turn_that_takes_tools_is_counted_once(session):
    session.adapter.add([Play.calls(DICE), "six", "next"])
    await session.regenerate()
    await session.send_results([ToolResult("c1", "dice", data=6)])
    assert await texts(session) == ["go", "", "6", "six"]
    assert (await session.meta()).turn_count == 1
    await session.send("on")
    assert (await session.meta()).turn_count == 2


async def test_a_swipe_behind_a_tool_loop_shows_the_loop(session):
    session.adapter.add([Play.calls(DICE), "six", "a six"])
    await session.send("roll")
    await session.send_results([ToolResult("c1", "dice", data=6)])
    await session.swipe()
    assert prompt(session) == ["go", "one", "roll", "", "6"]
    assert (await session.messages())[-1].alternatives == ("six", "a six")


async def test_an_opening_line_cannot_be_swiped_but_takes_written_alternatives(store):
    session = await Session.create(store, opening="Welcome.", adapter=Scripted("x"))
    with pytest.raises(SessionError, match="no user message"):
        await session.swipe()
    with pytest.raises(SessionError, match="no user message"):
        await session.regenerate()
    await session.add_alternative(1, "Come in.")
    assert await texts(session) == ["Come in."]


async def test_nothing_but_a_reply_can_be_swiped_or_continued(session):
    await session.remove_after(1)
    for call in (session.swipe, session.continue_reply):
        with pytest.raises(SessionError, match="no reply"):
            await call()


async def test_trimming_keeps_the_newest(session):
    session.adapter.add(["two"])
    await session.send("on")
    assert await session.trim(9) == 0
    assert await session.trim(3) == 1
    assert await texts(session) == ["one", "on", "two"]
    assert await session.trim(0) == 3
    with pytest.raises(SessionError, match="-1"):
        await session.trim(-1)


async def test_listing_filters_by_role_first(session):
    session.adapter.add(["two"])
    await session.send("on")
    query = RecordQuery(role="assistant", offset=1, limit=1)
    assert [record.content for record in await session.messages(query)] == ["two"]


async def test_an_insight_is_used_up_by_a_swipe_too(session):
    session.adapter.add(["two", "three"])
    await session.put_insight("I")
    await session.swipe()
    assert prompt(session) == ["I", "go"]
    assert await session.insight() is None
