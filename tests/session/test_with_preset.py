"""Sessions whose prompts a preset orders, in both dialects, and the fault reports about sessions."""

import pytest

from preset_engine import Agent, Content, Dialect, load_preset
from preset_engine.llm.request import ToolCall
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.options import SessionSetup
from preset_engine.session.prompt import PromptSetup
from preset_engine.session.session import Session
from preset_engine.session.tools import ToolResult
from preset_engine.storage.open import open_storage
from tests import truth

pytestmark = pytest.mark.anyio

CALL = ToolCall("c1", "dice")


def entry(identifier, content="", **fields):
    marker = {"marker": True} if not content else {"role": "system", "content": content}
    return {"identifier": identifier, "name": identifier, "system_prompt": True, **marker, **fields}


def preset_of(*entries, **settings):
    order = [{"identifier": one["identifier"], "enabled": True} for one in entries]
    body = {
        "new_chat_prompt": "",
        "prompts": list(entries),
        "prompt_order": [{"character_id": 100001, "order": order}],
    }
    return load_preset({**body, **settings}).preset


PLAIN = preset_of(
    entry("main", "You are {{char}}."), entry("chatHistory"), entry("jailbreak", "Stay in scene.")
)


async def start(store, *plays, preset=PLAIN, dialect=Dialect.native, window=None, **options):
    prompt = PromptSetup(preset=preset, dialect=dialect, content=Content(char="Mira", user="Noa"))
    setup = SessionSetup(prompt=prompt, **options)
    model = Scripted(*plays, max_context_tokens=window)
    return await Session.create(store, label="", adapter=model, setup=setup)


def sent(session, number=-1):
    return [(message.role, message.text) for message in session.adapter.requests[number].messages]


async def test_the_slots_find_their_holes(store):
    session = await start(store, "1", "2")
    await session.put_system_prompt("SYS")
    await session.send("a")
    await session.put_insight("INS")
    await session.send("b", task="TASK")
    head, *_, last = sent(session)
    assert head[0] == "system"
    assert head[1].index("You are Mira.") < head[1].index("SYS")
    assert last[0] == "user"
    places = [last[1].index(text) for text in ("INS", "b", "Stay in scene.", "TASK")]
    assert places == sorted(places)
    assert sent(session)[1:3] == [("user", "a"), ("assistant", "1")]
    assert await session.insight() is None


async def test_a_request_says_that_a_preset_ordered_it_and_carries_its_generation(store):
    preset = preset_of(
        entry("main", "x"), entry("chatHistory"), temperature=0.5, openai_max_tokens=77
    )
    session = await start(store, "1", preset=preset)
    await session.send("a")
    request = session.adapter.requests[0]
    assert request.has_preset
    assert (request.generation.temperature, request.generation.max_output_tokens) == (0.5, 77)


async def test_the_tool_loop_follows_the_frame_unchanged(store):
    session = await start(store, Play.calls(CALL), "done")
    await session.send("roll")
    await session.send_results([ToolResult("c1", "dice", data=6)])
    first, second = (request.messages for request in session.adapter.requests)
    assert second[: len(first)] == first
    assert [message.role for message in second[len(first) :]] == ["assistant", "tool"]


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_swipe_and_a_regeneration_are_asked_as_the_turn_was(store, dialect):
    session = await start(store, "1", "2", "3", "4", dialect=dialect)
    await session.send("a")
    await session.send("b")
    await session.swipe()
    await session.regenerate()
    assert sent(session, 1) == sent(session, 2) == sent(session, 3)


async def test_sillytavern_keeps_the_tool_loop_in_the_chat(store):
    session = await start(store, Play.calls(CALL), "done", dialect=Dialect.sillytavern)
    await session.send("roll")
    await session.send_results([ToolResult("c1", "dice", data=6)])
    roles = [role for role, _ in sent(session)]
    assert roles == ["system", "user", "assistant", "tool", "system"]
    assert sent(session)[-1] == ("system", "Stay in scene.")


async def test_continuing_shows_the_reply_last_or_asks_for_more(store):
    bare = (entry("main", "x"), entry("chatHistory"))
    session = await start(store, "one", " more", preset=preset_of(*bare, continue_prefill=True))
    await session.send("a")
    await session.continue_reply()
    assert sent(session)[-1][1].startswith("one")
    nudged = await start(store, "one", " more", preset=preset_of(*bare))
    await nudged.send("a")
    await nudged.continue_reply()
    assert sent(nudged)[-2] == ("assistant", "one")


async def test_an_insight_without_a_place_is_not_used_up(store):
    session = await start(store, "1", dialect=Dialect.sillytavern)
    await session.put_insight("a")
    await session.send("a")
    assert await session.insight() == "a"


async def test_sillytavern_keeps_variables_and_native_forgets_them(store):
    counting = preset_of(entry("main", "{{incvar::n}}"), entry("chatHistory"))
    session = await start(store, "1", "2", preset=counting, dialect=Dialect.sillytavern)
    await session.send("a")
    await session.send("b")
    assert [sent(session, turn)[0][1] for turn in (0, 1)] == ["1", "2"]
    assert await store.get_variables(session.id) != {}
    native = await start(
        store, "1", preset=preset_of(entry("main", "{{setvar::n::5}}x"), entry("chatHistory"))
    )
    await native.send("a")
    assert await store.get_variables(native.id) == {}


async def test_a_failed_call_keeps_the_variables(store):
    counting = preset_of(entry("main", "{{incvar::n}}"), entry("chatHistory"))
    session = await start(store, Play.abort(), "1", preset=counting, dialect=Dialect.sillytavern)
    with pytest.raises(Exception, match="abort"):
        await session.send("a")
    assert await store.get_variables(session.id) == {}


CARD = {
    "name": "Mira",
    "first_mes": "Hello {{user}}, I am {{char}}.",
    "alternate_greetings": ["Oh, {{user}}!", ""],
}


@pytest.mark.parametrize("dialect", Dialect)
async def test_a_cards_greeting_is_the_first_record_and_its_alternates_are_swipes(store, dialect):
    prompt = PromptSetup(PLAIN, Content(card=CARD, user="Noa"), dialect)
    options = {"label": "", "adapter": Scripted("1", "2"), "setup": SessionSetup(prompt=prompt)}
    session = await Session.create(store, **options)
    first = (await session.messages())[0]
    assert (first.role, first.content) == ("assistant", "Hello Noa, I am Mira.")
    assert first.alternatives == ("Hello Noa, I am Mira.", "Oh, Noa!")
    await session.choose_alternative(1, 1)
    await session.send("a")
    await session.send("b")
    for turn in (0, 1):
        assert ("assistant", "Oh, Noa!") in sent(session, turn)
    assert "Hello" not in str(sent(session))
    quiet = await Session.create(store, opening="", **options)
    assert await quiet.messages() == []
    agent = Agent(store, adapter=Scripted("1"), prompt=prompt)
    root = await agent.create_session(opening="Given.")
    assert [record.content for record in await agent.list_messages(root.id)] == ["Given."]


@pytest.mark.parametrize("dialect", Dialect)
async def test_the_summary_leads_the_history(store, dialect):
    async def summarise(records):
        return "SUMMARY"

    long = Play.text("r" * 1500)
    session = await start(store, long, "2", window=400, dialect=dialect, compress=summarise)
    await session.send("a")
    await session.send("b")
    texts = [text for _, text in sent(session)]
    assert "SUMMARY" in texts
    assert texts.index("SUMMARY") == 1
    assert not any("rrr" in text for text in texts)


async def test_the_preset_counts_towards_the_window(store):
    asked = []

    async def summarise(records):
        asked.append(len(records))
        return "S"

    heavy = preset_of(entry("main", "p" * 1300), entry("chatHistory"))
    session = await start(store, "r" * 40, "2", preset=heavy, window=400, compress=summarise)
    await session.send("a")
    await session.send("b")
    assert asked == [2], "325 tokens of preset leave no room for the history"


@truth.cases("session")
async def test_session_cases(row):
    body = row["input"]
    store = await open_storage("memory:")
    names = body.get("macros", {})
    prompt = PromptSetup(
        preset=load_preset(body["preset"]).preset,
        dialect=Dialect(body.get("dialect", "sillytavern")),
        content=Content(char=names.get("char", ""), user=names.get("user", "")),
    )
    model = Scripted(*(f"reply {turn}" for turn in range(body["turns"])))
    session = await Session.create(
        store,
        label="",
        session_id=body.get("chat_id"),
        adapter=model,
        setup=SessionSetup(prompt=prompt),
    )
    for turn in range(body["turns"]):
        await session.send(f"message {turn}")
    firsts = [sent(session, turn)[0] for turn in range(body["turns"])]
    if row["expected"].get("all_equal"):
        assert len(set(firsts)) == 1
        assert "{{" not in firsts[0][1]
