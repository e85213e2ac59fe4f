"""Plays the rows of `stello.session_script`: each operation on a real session over the memory back end."""

import json

from preset_engine.errors import AdapterError, ModelAborted, SessionArchived, SessionError
from preset_engine.llm.abort import Abort
from preset_engine.llm.request import Delta, ToolCall, ToolCallDelta, ToolSpec
from preset_engine.llm.scripted import Play, Scripted
from preset_engine.session.config import ForkContext
from preset_engine.session.options import SessionSetup
from preset_engine.session.record import SessionRecord
from preset_engine.session.session import DEFAULT_LABEL, Session
from preset_engine.session.tools import Tool, ToolResult
from preset_engine.storage.open import open_storage

PICKERS = {
    "last2": lambda records: records[-2:],
    "users": lambda records: [r for r in records if r.role == "user"],
    "all": lambda records: records,
    "none": lambda records: [],
}


def read_calls(values):
    return tuple(ToolCall(c["id"], c["name"], c.get("input", {})) for c in values or ())


def read_records(values, start=1):
    return tuple(
        SessionRecord(
            value["role"],
            value.get("content") or "",
            tool_calls=read_calls(value.get("toolCalls")),
            tool_call_id=value.get("toolCallId"),
            number=number,
        )
        for number, value in enumerate(values or (), start)
    )


def show_calls(calls):
    return [{"id": c.id, "name": c.name, "input": dict(c.arguments)} for c in calls]


def show_record(record):
    shown = {"role": record.role, "content": record.content}
    if record.tool_calls:
        shown["toolCalls"] = show_calls(record.tool_calls)
    if record.tool_call_id is not None:
        shown["toolCallId"] = record.tool_call_id
    return shown


def show_message(message):
    shown = {"role": message.role, "content": message.content}
    if message.tool_calls:
        shown["toolCalls"] = [
            {
                "id": call["id"],
                "name": call["function"]["name"],
                "input": json.loads(call["function"]["arguments"]),
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        shown["toolCallId"] = message.tool_call_id
    return shown


def read_result(value):
    return ToolResult(
        value["toolCallId"],
        value["toolName"],
        value.get("args") or {},
        success=value["success"],
        data=value.get("data"),
        error=value.get("error"),
    )


def play_of(llm):
    if llm.get("abort"):
        return Play.abort()
    if "fail" in llm:
        return Play(error=AdapterError(llm["fail"]), fail_after=0)
    if llm.get("tool_calls"):
        return Play.calls(*read_calls(llm["tool_calls"]), text=llm.get("content"))
    return Play.text(llm.get("content"))


def delta_of(chunk):
    if isinstance(chunk, str):
        return Delta(text=chunk)
    pieces = tuple(
        ToolCallDelta(d["index"], d.get("id"), d.get("name"), d.get("input", ""))
        for d in chunk.get("toolCallDeltas", ())
    )
    return Delta(text=chunk.get("delta", ""), tool_calls=pieces)


def stream_play(op):
    steps = tuple(delta_of(chunk) for chunk in op["chunks"])
    if "fail_after" in op:
        return Play(steps, error=AdapterError("stream broke"), fail_after=op["fail_after"])
    if "abort_after" in op:
        return Play(steps, error=ModelAborted("aborted"), fail_after=op["abort_after"])
    return Play(steps)


def abort_of(op):
    abort = Abort()
    if op.get("pre_aborted") or op.get("aborted"):
        abort.abort()
    return abort


def code_of(error):
    if isinstance(error, SessionArchived):
        return "SessionArchivedError"
    if isinstance(error, ModelAborted):
        return "AbortError"
    if isinstance(error, SessionError) and "keep" in str(error):
        return "invalid_keep"
    return str(error)


class Player:
    def __init__(self):
        self.model = Scripted()
        self.session = None
        self.chunks = None

    def _script(self, play):
        self.model = self.session.adapter = Scripted(play)

    async def play(self, op):
        step = {"op": op["op"]}
        self.model, self.chunks = Scripted(), None
        try:
            step.update(await getattr(self, f"_{op['op']}")(op) or {})
        except (SessionError, AdapterError) as error:
            step["error"] = code_of(error)
            step["chunks"] = self.chunks
        if self.model.calls:
            request = self.model.requests[-1]
            step["prompt"] = [show_message(message) for message in request.messages]
            if request.tools:
                step["tools"] = [tool.name for tool in request.tools]
        step["records"] = [show_record(r) for r in await self.session.messages()]
        step["insight"] = await self.session.insight()
        step["memory"] = await self.session.memory()
        meta = await self.session.meta()
        return step | {"status": meta.status.value, "label": meta.label}

    async def _create(self, op):
        async def consolidate(memory, records):
            return f"memory({memory or 'none'};{len(records)})"

        storage = await open_storage("memory:")
        self.session = await Session.create(
            storage,
            label=op.get("label", DEFAULT_LABEL),
            system_prompt=op.get("system_prompt"),
            adapter=self.model,
            tools=self._tools(op),
            setup=SessionSetup(consolidate=consolidate),
        )

    def _tools(self, op):
        if "tools" not in op:
            return None
        return [Tool(ToolSpec(name), lambda arguments: None) for name in op["tools"]]

    async def _send(self, op):
        self._script(play_of(op["llm"]))
        result = await self.session.send(op["user"], abort=abort_of(op))
        return {"result": {"content": result.text, "tool_calls": show_calls(result.tool_calls)}}

    async def _tool_results(self, op):
        self._script(play_of(op["llm"]))
        result = await self.session.send_results([read_result(v) for v in op["results"]])
        return {"result": {"content": result.text, "tool_calls": show_calls(result.tool_calls)}}

    async def _stream(self, op):
        self._script(stream_play(op))
        self.chunks = []
        stream = self.session.stream(op["user"], abort=abort_of(op))
        async for text in stream:
            self.chunks.append(text)
        result = await stream.result()
        shown = {"content": result.text, "tool_calls": show_calls(result.tool_calls)}
        return {"chunks": self.chunks, "result": shown}

    async def _put_insight(self, op):
        await self.session.put_insight(op["content"])

    async def _clear_insight(self, op):
        await self.session.clear_insight()

    async def _put_memory(self, op):
        await self.session.put_memory(op["content"])

    async def _set_system_prompt(self, op):
        await self.session.put_system_prompt(op["content"])

    async def _archive(self, op):
        await self.session.archive()

    async def _update_label(self, op):
        await self.session.rename(op["label"])

    async def _consolidate(self, op):
        await self.session.consolidate()

    async def _trim(self, op):
        await self.session.trim(op["keep"])

    async def _set_tools(self, op):
        self.session.tools = self._tools(op)

    async def _fork(self, op):
        context = PICKERS[op["context_fn"]] if "context_fn" in op else op.get("context", "none")
        child = await self.session.fork(
            session_id=op.get("id"),
            label=op["label"],
            system_prompt=op.get("system_prompt"),
            context=ForkContext(context) if isinstance(context, str) else context,
            opening=op.get("prompt"),
        )
        return {
            "child": {
                "records": [show_record(r) for r in await child.messages()],
                "system_prompt": await child.system_prompt(),
                "insight": await child.insight(),
                "memory": await child.memory(),
                "label": (await child.meta()).label,
            }
        }


async def play_script(ops):
    player = Player()
    return [await player.play(op) for op in ops]
