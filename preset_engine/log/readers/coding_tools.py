"""Transcripts of coding tools: Claude Code, Codex, Gemini CLI, opencode.

Claude Code writes a streamed message as several lines with one message id: it counts once, with its last and
largest figures. Codex writes the last call's usage and the session's running total side by side: only the
former is a call, and an event whose total has not grown repeats one.
"""

from __future__ import annotations

from preset_engine.log.call import Reading, Skip, SkipKind
from preset_engine.log.readers.fields import Body, Envelope, identity, inner, objects, text
from preset_engine.log.readers.memory import Memory
from preset_engine.log.times import read_time
from preset_engine.log.usage import counts, first_count, parse_usage


def read(value: Body, memory: Memory) -> list[Reading] | None:
    """A line or document of one of these tools."""
    for tool in (_claude_code, _codex, _gemini_cli, _opencode):
        found = tool(value, memory)
        if found is not None:
            return found
    return None


_CLAUDE_TURNS = (
    "user",
    "system",
    "summary",
    "progress",
    "file-history-snapshot",
    "queue-operation",
)


def _claude_code(value: Body, memory: Memory) -> list[Reading] | None:
    message = value.get("message")
    if value.get("type") in _CLAUDE_TURNS and (
        "uuid" in value or "sessionId" in value or "leafUuid" in value
    ):
        return [Skip(SkipKind.NO_CALL, "a transcript line that is no model call")]
    if not isinstance(message, dict) or "timestamp" not in value:
        return None
    is_old = "inputTokens" in value
    if not is_old and not ("usage" in message and ("sessionId" in value or "requestId" in value)):
        return None
    found = parse_usage(value if is_old else message.get("usage"))
    model = text(message.get("model"))
    if model == "<synthetic>":
        return [Skip(SkipKind.NO_CALL, "a message that the tool made itself")]
    parts = [identity(text(message.get("id"))), identity(text(value.get("requestId")))]
    known = [part for part in parts if part]
    around = Envelope(
        at_ms=read_time(value.get("timestamp")),
        session=text(value.get("sessionId")) or memory.session,
        caller="claude-code",
        model=model,
        provider="anthropic",
        request_id="claude-code:" + ":".join(known) if known else None,
        is_failed=bool(value.get("isApiErrorMessage")),
    )
    return [around.call("claude-code", found)]


def _codex(value: Body, memory: Memory) -> list[Reading] | None:
    kind, payload = value.get("type"), inner(value, "payload")
    if kind == "session_meta":
        memory.session = text(payload.get("id")) or memory.session
    if kind == "turn_context":
        memory.model = text(payload.get("model")) or memory.model
    if kind in ("session_meta", "turn_context", "response_item", "compacted"):
        return [Skip(SkipKind.NO_CALL, "a transcript line that is no model call")]
    if kind != "event_msg":
        return None
    info = inner(payload, "info")
    last, total = inner(info, "last_token_usage"), inner(info, "total_token_usage")
    if payload.get("type") != "token_count" or not last:
        return [Skip(SkipKind.NO_CALL, "a transcript line that is no model call")]
    if total and total == memory.last_total:
        return [Skip(SkipKind.NO_CALL, "a usage event that repeats the one before")]
    memory.last_total = total
    around = Envelope(
        at_ms=read_time(value.get("timestamp")),
        session=memory.session,
        caller="codex",
        model=text(info.get("model")) or memory.model,
        provider="openai",
    )
    found = counts(
        first_count(last, ("input_tokens",)),
        first_count(last, ("cached_input_tokens",)),
        None,
        first_count(last, ("output_tokens",)),
        first_count(last, ("total_tokens",)),
    )
    return [around.call("codex", found)]


def _gemini_cli(value: Body, memory: Memory) -> list[Reading] | None:
    if isinstance(value.get("messages"), list) and "sessionId" in value:
        memory.session = text(value.get("sessionId"))
        found = [_gemini_message(item, memory) for item in objects(value.get("messages"))]
        return [item or _no_call() for item in found]
    if "sessionId" in value and "projectHash" in value:
        memory.session = text(value.get("sessionId"))
        return [_no_call()]
    one = _gemini_message(value, memory)
    return None if one is None else [one]


def _gemini_message(value: Body, memory: Memory) -> Reading | None:
    tokens = inner(value, "tokens")
    if value.get("type") != "gemini" or "input" not in tokens:
        return None
    output = sum(first_count(tokens, (name,)) or 0 for name in ("output", "thoughts", "tool"))
    message = identity(text(value.get("id")))
    session = text(value.get("sessionId")) or memory.session
    around = Envelope(
        at_ms=read_time(value.get("timestamp")),
        session=session,
        caller="gemini-cli",
        model=text(value.get("model")),
        provider="gemini",
        request_id=f"gemini-cli:{session}:{message}" if message else None,
    )
    found = counts(
        first_count(tokens, ("input",)),
        first_count(tokens, ("cached",)),
        None,
        output,
        first_count(tokens, ("total",)),
    )
    return around.call("gemini-cli", found)


def _opencode(value: Body, memory: Memory) -> list[Reading] | None:
    if "sessionID" not in value and "sessionID" in inner(
        value, "info"
    ):  # an exported session's entry
        return _opencode(inner(value, "info"), memory)
    tokens = inner(value, "tokens")
    if "sessionID" not in value or "role" not in value:
        return None
    if "input" not in tokens:
        return [_no_call()]
    message = identity(text(value.get("id")))
    around = Envelope(
        at_ms=read_time(inner(value, "time").get("created")),
        session=text(value.get("sessionID")),
        caller="opencode",
        model=text(value.get("modelID")),
        provider=text(value.get("providerID")),
        request_id=f"opencode:{message}" if message else None,
        is_failed=bool(value.get("error")),
    )
    output = sum(first_count(tokens, (name,)) or 0 for name in ("output", "reasoning"))
    found = counts(
        first_count(tokens, ("input",)),
        first_count(tokens, ("cache.read",)),
        first_count(tokens, ("cache.write",)),
        output,
        is_inclusive=False,
    )
    return [around.call("opencode", found)]


def _no_call() -> Skip:
    return Skip(SkipKind.NO_CALL, "a transcript line that is no model call")
