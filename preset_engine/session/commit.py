"""Storing a turn: everything that one successful call changes, in one transaction (design decision 8).

User record, tool records, reply, the insight's end, variables, the engine's state, a new summary, the turn count:
all or nothing. The version that the prompt was made from is checked in the same step; where another writer was
first, `SessionChanged` says so and nothing is stored. The insight is cleared only if it is still the text that
the prompt held: one that was put meanwhile waits for the next prompt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from preset_engine.dialect import Dialect
from preset_engine.errors import BadReply
from preset_engine.llm.request import ToolCall, Usage
from preset_engine.llm.stream import Reply
from preset_engine.messages import JsonObject, JsonValue, Role
from preset_engine.session.meta import SessionMeta
from preset_engine.session.prepared import Prepared, write_base
from preset_engine.session.protocols import SessionStorage, TurnCommit
from preset_engine.session.record import SessionRecord
from preset_engine.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One stored call.

    Attributes:
        reply: what the model said.
        records: the records that the call added or changed, as they are stored.
        meta: the session's meta after the commit.
        prepared: what was sent, with its plan and notes.
    """

    reply: Reply
    records: tuple[SessionRecord, ...]
    meta: SessionMeta
    prepared: Prepared

    @property
    def text(self) -> str | None:
        """The reply's text; None when the model said that there is none."""
        return self.reply.text

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that wait for results."""
        return self.reply.tool_calls

    @property
    def usage(self) -> Usage:
        """What the provider counted."""
        return self.reply.usage


async def commit(
    storage: SessionStorage, prepared: Prepared, reply: Reply, now: str, counter: TokenCounter
) -> TurnResult:
    """Store the call.

    Args:
        storage: where the session lives.
        prepared: what was sent.
        reply: what came back.
        now: the reply's time stamp.
        counter: counts tokens for the estimate of the next prompt.

    Raises:
        SessionChanged: another writer was first.
        SessionArchived: the session was archived meanwhile.
        BadReply: a swipe or continuation asked for tools, which an existing record cannot hold.
        StorageError: the back end failed; nothing is half stored.
    """
    frame = prepared.frame
    state, completed = _next_state(prepared, reply, counter)
    if frame.target is not None:
        changed = _changed(prepared, frame.target, reply, now)
        return await _commit_change(storage, prepared, reply, changed, state)
    answer = SessionRecord(
        Role.ASSISTANT.value, reply.text or "", tool_calls=reply.tool_calls, timestamp=now
    )
    turn = TurnCommit(
        records=(*frame.added, answer),
        expected_version=prepared.loaded.meta.version,
        consumed_insight=prepared.insight,
        completed_turns=completed,
        variables=_variables(prepared),
        state=state,
        compression=prepared.compressed.snapshot if prepared.compressed.is_new else None,
    )
    session_id = prepared.loaded.meta.id
    if frame.keep_through is None:
        done = await storage.commit_turn(session_id, turn)
        return TurnResult(reply, done.records, done.meta, prepared)
    keep_through = frame.keep_through

    async def rewrite(inside: SessionStorage) -> TurnResult:
        await inside.remove_records_after(session_id, keep_through, turn.expected_version)
        done = await inside.commit_turn(session_id, replace(turn, expected_version=None))
        return TurnResult(reply, done.records, done.meta, prepared)

    return await storage.transaction(rewrite)


def _changed(prepared: Prepared, target: SessionRecord, reply: Reply, now: str) -> SessionRecord:
    """The reply's record after a swipe or a continuation."""
    if reply.tool_calls:
        raise BadReply(
            "the model asked for a tool where text was wanted; nothing was stored, regenerate instead"
        )
    text = reply.text or ""
    if prepared.frame.generation_type == "swipe":
        return replace(target.with_alternative(text), timestamp=now)
    old = target.content
    longer = text if old and text.startswith(old) else old + text
    texts = target.alternatives
    if texts:
        texts = (*texts[: target.chosen], longer, *texts[target.chosen + 1 :])
    return replace(target, content=longer, alternatives=texts)


async def _commit_change(
    storage: SessionStorage,
    prepared: Prepared,
    reply: Reply,
    changed: SessionRecord,
    state: JsonObject,
) -> TurnResult:
    """Replace a record where a call changed one; the rest of the turn's effects in the same step."""
    loaded, variables = prepared.loaded, _variables(prepared)
    session_id = loaded.meta.id

    async def rewrite(inside: SessionStorage) -> TurnResult:
        await inside.replace_record(session_id, changed, loaded.meta.version)
        done = await inside.commit_turn(
            session_id,
            TurnCommit(
                consumed_insight=prepared.insight,
                completed_turns=0,
                variables=variables,
                state=state,
                compression=prepared.compressed.snapshot if prepared.compressed.is_new else None,
            ),
        )
        return TurnResult(reply, (changed,), done.meta, prepared)

    return await storage.transaction(rewrite)


def _next_state(prepared: Prepared, reply: Reply, counter: TokenCounter) -> tuple[JsonObject, int]:
    """The engine's state after the call, and how many user turns it completed.

    A regenerated turn that was complete already is not counted again, even when its new reply first asks
    for tools: the state remembers that it was counted.
    """
    loaded, frame = prepared.loaded, prepared.frame
    state: dict[str, JsonValue] = dict(loaded.state)
    base = write_base(prepared, reply.usage.input_tokens, counter)
    state.pop("usage", None)
    if base:
        state["usage"] = base
    if prepared.window_first:
        state["window_first"] = prepared.window_first
    was_counted = bool(state.pop("is_counted", False)) and not _starts_turn(prepared)
    if frame.keep_through is not None and loaded.records[-1:]:
        last = loaded.records[-1]
        was_counted = last.role == Role.ASSISTANT.value and not last.tool_calls
    if reply.tool_calls and was_counted:
        state["is_counted"] = True
    return state, 0 if reply.tool_calls or was_counted else 1


def _starts_turn(prepared: Prepared) -> bool:
    return any(record.role == Role.USER.value for record in prepared.frame.added)


def _variables(prepared: Prepared) -> JsonObject | None:
    """The chat's variables after the macros of this prompt; None where they did not change.

    Only the dialect sillytavern keeps variables; the native one forgets them (design section 3).
    """
    if prepared.dialect is not Dialect.sillytavern:
        return None
    local = dict(prepared.compiled.variables.get("local", {}))
    return None if local == prepared.loaded.variables else local
