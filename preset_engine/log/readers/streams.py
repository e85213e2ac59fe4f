"""Events of streamed replies, one a line or behind `data:` of a server-sent event transcript.

OpenAI sends usage once in a last chunk, Responses in `response.completed`. Anthropic splits it: `message_start`
carries the prompt's figures, each `message_delta` the cumulative rest, so both are laid over each other and
the call stands when the message ends, when the next begins, or at the end of the file. Gemini sends
cumulative usage in every chunk; chunks of one reply share its id and count once.
"""

from __future__ import annotations

from dataclasses import replace

from preset_engine.log.call import Reading, Skip, SkipKind
from preset_engine.log.readers.fields import Body, envelope, identity, inner, objects, text
from preset_engine.log.readers.memory import Memory
from preset_engine.log.usage import parse_usage

_ENDINGS = ("response.completed", "response.incomplete", "response.failed", "response.done")
_ANTHROPIC = (
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "ping",
)


def read(value: Body, memory: Memory) -> list[Reading] | None:
    """One event of a stream."""
    kind = value.get("type")
    if kind in _ANTHROPIC:
        return _anthropic(value, memory)
    if isinstance(kind, str) and kind.startswith("response."):
        return _responses(value, kind)
    if value.get("object") == "chat.completion.chunk":
        return _chunk(value)
    if "usageMetadata" in value and _is_unfinished(value):
        return [_event()]
    return None


def _is_unfinished(value: Body) -> bool:
    """Whether this is a Gemini chunk before the last: its figures grow until a chunk has a finish reason."""
    candidates = objects(value.get("candidates"))
    is_open = bool(candidates) and not any(one.get("finishReason") for one in candidates)
    return is_open and "responseId" not in value


def finish(memory: Memory) -> list[Reading]:
    """The call of a message that no `message_stop` has ended."""
    body, memory.stream = memory.stream, None
    if body is None:
        return []
    around = envelope(body).within(memory.stream_envelope)
    reply_id = identity(text(body.get("id")))
    request_id = around.request_id or (f"reply:{reply_id}" if reply_id else None)
    named = replace(around, provider=around.provider or "anthropic", request_id=request_id)
    return [named.call("anthropic-stream", parse_usage(body.get("usage")))]


def _anthropic(value: Body, memory: Memory) -> list[Reading]:
    kind = value["type"]
    if kind == "message_start":
        ended = finish(memory)
        memory.stream = dict(inner(value, "message"))
        memory.stream_envelope = envelope(value)
        return [*ended, _event()]
    if kind == "message_delta" and memory.stream is not None:
        usage = {**inner(memory.stream, "usage")}
        usage.update(
            {name: figure for name, figure in inner(value, "usage").items() if figure is not None}
        )
        memory.stream["usage"] = usage
    if kind == "message_stop":
        return finish(memory) or [_event()]
    return [_event()]


def _responses(value: Body, kind: str) -> list[Reading]:
    body = inner(value, "response")
    found = parse_usage(body.get("usage"))
    if kind not in _ENDINGS or (found is None and kind != "response.failed"):
        return [_event()]
    around = envelope(body).within(envelope({k: v for k, v in value.items() if k != "type"}))
    reply_id = identity(text(body.get("id")))
    named = replace(
        around,
        provider=around.provider or "openai",
        request_id=around.request_id or (f"reply:{reply_id}" if reply_id else None),
    )
    return [named.call("openai-responses-stream", found)]


def _chunk(value: Body) -> list[Reading]:
    usage = value.get("usage")
    found = parse_usage(usage) if isinstance(usage, dict) else None
    if found is None:
        return [_event()]
    around = envelope(value)
    reply_id = identity(text(value.get("id")))
    named = replace(
        around,
        provider=around.provider or "openai",
        request_id=around.request_id or (f"reply:{reply_id}" if reply_id else None),
    )
    return [named.call("openai-stream", found)]


def _event() -> Skip:
    return Skip(SkipKind.NO_CALL, "a stream event without usage")
