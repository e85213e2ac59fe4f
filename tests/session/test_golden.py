"""Every binding row of the session topics of `golden/seeds`, and the wanted behaviour of each known defect."""

import pytest

from preset_engine.errors import AdapterError, NotConfigured, ToolLoopLimit
from preset_engine.llm.request import ToolCall, ToolSpec
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.compression import records_digest
from preset_engine.session.config import (
    ForkProfile,
    PromptMode,
    SessionConfig,
    merge_config,
    template,
)
from preset_engine.session.engine import AgentTurn, Engine
from preset_engine.session.events import EventKind, Observers
from preset_engine.session.fork import resolve_context
from preset_engine.session.frame import Ask, AskKind, make_frame
from preset_engine.session.meta import CompressionSnapshot, SessionMeta
from preset_engine.session.prepared import Loaded
from preset_engine.session.prompt import PromptParts, PromptSetup, prepare
from preset_engine.session.refine import compress_messages, consolidate_messages, strip_thinking
from preset_engine.session.session import Session
from preset_engine.session.shared_memory import SharedMemory
from preset_engine.session.split_guard import SplitGuard, SplitStrategy
from preset_engine.session.tools import Tool, ToolOutput, union_by_name
from preset_engine.session.turn import TurnStream
from preset_engine.storage.open import open_storage
from tests import truth
from tests.session.script import play_script, read_records, show_message

pytestmark = pytest.mark.anyio


async def assemble(body):
    """One prompt of a row's state: its messages, and what the compress function was asked."""
    asked = []

    async def compress(records):
        asked.append([record.content for record in records])
        return body.get("summary", "SUMMARY")

    records = read_records(body.get("records"))
    state = {}
    if "last_prompt_tokens" in body:
        through = max(1, len(records) - 2)
        state["usage"] = {
            "input_tokens": body["last_prompt_tokens"],
            "records": through,
            "estimated": 0,
        }
    cache = body.get("compression_cache")
    snapshot = cache and CompressionSnapshot(
        cache["summary"],
        cache["compressed_count"],
        records_digest(records[: cache["compressed_count"]]),
    )
    loaded = Loaded(
        SessionMeta("s", body.get("label", "")),
        records,
        system_prompt=body.get("system_prompt"),
        insight=body.get("insight"),
        state=state,
        snapshot=snapshot,
    )
    parts = PromptParts(
        shared_memory=body.get("shared_memory_index", ""),
        window_tokens=body.get("max_context_tokens"),
        compress=lambda: compress,
    )
    frame = make_frame(Ask(AskKind.SEND, body["user"]), records, "")
    return await prepare(PromptSetup(), loaded, frame, parts), asked


@truth.seeds("stello.assemble")
async def test_assemble(row):
    prepared, asked = await assemble(row["input"])
    wanted = row["expected"]
    assert [show_message(m) for m in prepared.request.messages] == wanted["messages"]
    assert (prepared.compressed.snapshot is not None) == wanted["compressed"]
    assert asked == wanted["compress_calls"]
    assert bool(prepared.loaded.insight) == wanted["insight_consumed"]
    snapshot = prepared.compressed.snapshot
    shown = snapshot and {
        "summary": snapshot.summary,
        "compressed_count": snapshot.covered_count,
    }
    assert shown == wanted["cache"]


@truth.seeds("stello.compress_facts")
async def test_compress_facts(row):
    prepared, _ = await assemble(row["input"])
    wanted = row["expected"]
    messages = [show_message(m) for m in prepared.request.messages]
    systems = [m["content"] for m in messages if m["role"] == "system"]
    recent = messages[len(systems) : -1]
    assert (prepared.compressed.snapshot is not None) == wanted["compressed"]
    assert bool(prepared.loaded.insight) == wanted["insight_consumed"]
    assert systems == wanted["leading_systems"]
    assert messages[: len(systems)] == [m for m in messages if m["role"] == "system"]
    newest = [dict(r) for r in row["input"]["records"]][-len(recent) :] if recent else []
    assert (recent == newest) == wanted["recent_is_newest_part_of_history"]
    starts_with_tool = bool(recent) and recent[0]["role"] == "tool"
    assert starts_with_tool == wanted["recent_starts_with_tool_result"]
    assert messages[-1] == wanted["last"]


@truth.seeds("stello.think_strip")
def test_think_strip(row):
    assert strip_thinking(row["input"]["raw"]) == row["expected"]["text"]


@truth.seeds("stello.refine_prompt")
def test_refine_prompt(row):
    body = row["input"]
    options = {"prompt": body["prompt"], "role_context": body.get("role_context", "")}
    records = read_records(body["messages"])
    if body["kind"] == "compress":
        messages = compress_messages(records, **options)
    else:
        messages = consolidate_messages(body.get("current_memory"), records, **options)
    assert [show_message(m) for m in messages] == row["expected"]["messages"]


CODES = {"SessionArchivedError", "AbortError", "invalid_keep", "stream broke"}


@truth.seeds("stello.session_script")
async def test_session_script(row):
    steps = await play_script(row["input"]["ops"])
    wanted = row["expected"]["steps"]
    assert len(steps) == len(wanted)
    for op, step, facts in zip(row["input"]["ops"], steps, wanted, strict=True):
        names_own_error = facts.get("error") not in {None, *CODES, op.get("llm", {}).get("fail")}
        told = facts | ({"error": step["error"]} if names_own_error else {})
        assert {key: step.get(key) for key in told} == told
        assert ("prompt" in step) == ("prompt" in facts)
        assert step.get("tools") == facts.get("tools")


def config_of(body):
    skills = body.get("skills")
    return SessionConfig(
        system_prompt=body.get("systemPrompt"),
        skills=None if skills is None else tuple(skills),
        adapter=body.get("llm"),
    )


def profile_of(body):
    text = body.get("systemPromptTemplate")
    return ForkProfile(
        config_of(body),
        prompt_fn=None if text is None else template(text),
        mode=PromptMode(body.get("systemPromptMode", "prepend")),
    )


@truth.seeds("stello.merge_config")
def test_merge_config(row):
    body = row["input"]
    merged = merge_config(
        defaults=config_of(body["defaults"]) if "defaults" in body else None,
        parent=config_of(body["parent"]) if "parent" in body else None,
        profile=profile_of(body["profile"]) if "profile" in body else None,
        variables=body.get("profileVars"),
        fork=config_of(body["fork"]) if "fork" in body else None,
    )
    shown = {
        "systemPrompt": merged.system_prompt,
        "skills": None if merged.skills is None else list(merged.skills),
        "llm": merged.adapter,
    }
    assert shown == row["expected"]


@truth.seeds("stello.fork_compress")
async def test_fork_compress(row):
    body = row["input"]

    def giving(key):
        async def summarise(records):
            return body[key]

        return summarise if key in body else None

    config = SessionConfig(
        system_prompt=body.get("system_prompt"),
        adapter=Scripted(Play.text(body["llm"])) if "llm" in body else None,
        compress=giving("compress"),
        fork_compress=giving("fork_compress"),
    )
    named = body.get("context")
    context = (lambda records: records) if named == "function" else named
    records = read_records(body["parent_messages"])
    if "error" in row["expected"]:
        with pytest.raises(NotConfigured):
            await resolve_context(config, context, records)
        return
    plan = await resolve_context(config, context, records)
    assert {
        "system_prompt": plan.config.system_prompt,
        "forwarded_context": "function" if callable(plan.context) else plan.context,
        "summarised_by": plan.summarised_by,
    } == row["expected"]


class Item(dict):
    @property
    def name(self):
        return self["name"]


@truth.seeds("stello.tool_union")
def test_tool_union(row):
    base, override = (
        None if row["input"][key] is None else [Item(item) for item in row["input"][key]]
        for key in ("base", "override")
    )
    merged = union_by_name(base, override)
    assert (None if merged is None else list(merged)) == row["expected"]["tools"]


@truth.seeds("stello.split_guard")
def test_split_guard(row):
    limits = row["input"].get("strategy", {})
    guard = SplitGuard(
        SplitStrategy(
            limits.get("minTurns", 3), limits.get("cooldownTurns", 5), bool(limits.get("testMode"))
        )
    )
    turns, answers = {}, []
    for op in row["input"]["ops"]:
        if "set_turns" in op:
            turns[op["id"]] = op["set_turns"]
        elif "record" in op:
            guard.record(op["id"], op["record"])
        elif "update" in op:
            change = op["update"]
            guard.update(
                min_turns=change.get("minTurns"),
                cooldown_turns=change.get("cooldownTurns"),
                is_off=change.get("testMode"),
            )
        else:
            answers.append(guard.can_split(op["check"], turns.get(op["check"], 0)))
    assert answers == row["expected"]["can_split"]


@truth.seeds("stello.shared_memory_index")
def test_shared_memory_index(row):
    memory = SharedMemory()
    for op in row["input"]["ops"]:
        if op["op"] == "remove":
            memory.remove(op["slug"])
        else:
            memory.put(op["slug"], op["summary"], op.get("body", ""))
    assert list(memory.slugs) == row["expected"]["entries"]
    end = "</shared_memory_index>"
    block = memory.index().partition(end)[0] + end if memory.index() else None
    assert block == row["expected"]["first_line"]


@truth.seeds("stello.known_defect")
async def test_known_defect(row):
    """The found behaviour is the original's fault; what is checked here is what `wanted` says."""
    body = row["input"]
    if "ops" not in body:
        prepared, asked = await assemble(body)
        recent = [m.content for m in prepared.request.messages if m.role != "system"][:-1]
        assert asked[-1] + recent == [record["content"] for record in body["records"]]
        return
    again = {"op": "send", "user": "once more", "llm": {"content": "well"}}
    steps = await play_script([*body["ops"], again, again])
    put = {op["op"]: op["content"] for op in body["ops"] if op["op"].startswith("put_")}
    prompts = [(step, [m["content"] for m in step["prompt"]]) for step in steps if "prompt" in step]
    assert not any(put.get("put_memory") in texts for _, texts in prompts)
    if "put_insight" in put:
        held = ["error" in step for step, texts in prompts if put["put_insight"] in texts]
        assert held.count(False) == 1, "in exactly one successful prompt"
        assert held[-1] is False, "and in no prompt after that one"
        failed = [step for step in steps if "error" in step]
        assert all(step["insight"] == put["put_insight"] for step in failed)


@truth.seeds("stello.turn_runner")
async def test_turn_runner(row):
    body, wanted = row["input"], row["expected"]
    inputs, order = [], []

    def tool_of(name, facts):
        def run(arguments):
            ran = next(c for c in pending if c.name == name and c.arguments == arguments)
            pending.remove(ran)
            order.append(f"exec:{ran.id}")
            if "throw" in facts:
                raise RuntimeError(facts["throw"])
            is_error = not facts.get("success", True)
            return ToolOutput(facts.get("data"), facts.get("error"), is_error=is_error)

        return Tool(ToolSpec(name), run)

    pending, answered = [], []

    def observe(event):
        if event.kind is EventKind.MESSAGE:
            inputs.append(event.text)
        if event.kind is EventKind.TOOL_CALL:
            pending.append(event.call)
            order.append(f"call:{event.call.id}")
        if event.kind is EventKind.TOOL_RESULT:
            order.append(f"result:{event.result.call_id}")
            answered.append(event.result)
        if event.kind is EventKind.ROUND_START and event.round:
            inputs.append({"toolResults": [show_result(result) for result in answered]})
            answered.clear()

    def play_of(response):
        calls = [
            ToolCall(c["id"], c["name"], c.get("args", {})) for c in response.get("tool_calls", ())
        ]
        text = response.get("content")
        return Play.calls(*calls, text=text) if calls else Play.text(text)

    model = Scripted(*map(play_of, body["responses"]))
    session = await Session.create(await open_storage("memory:"), adapter=model)
    engine = Engine(
        session,
        tools=[tool_of(name, facts) for name, facts in body.get("tools", {}).items()],
        observers=Observers([observe]),
        max_tool_rounds=body.get("max_tool_rounds", 5),
    )
    shown = {}
    try:
        turn = await TurnStream(engine.steps(Ask(AskKind.SEND, body["user"])), AgentTurn).result()
        shown = {
            "final_content": turn.text,
            "tool_rounds": turn.tool_rounds,
            "tool_calls": len(turn.results),
        }
    except ToolLoopLimit:
        shown = {"error": "tool_loop_limit"}
    except AdapterError as error:
        shown = {"error": str(error)}
    assert shown | {"session_inputs": inputs, "order": order} == wanted


def show_result(result):
    return {
        "toolCallId": result.call_id,
        "toolName": result.name,
        "args": dict(result.arguments),
        "success": result.success,
        "data": result.data,
        "error": result.error,
    }
