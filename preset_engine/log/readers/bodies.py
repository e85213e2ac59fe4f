"""Provider replies, alone, inside wrappers, or flat beside an application's own fields.

A reply is told by its usage object; who made it, by the fields around. A wrapper is any object that holds a
reply a few levels down (`response`, `response.body`, `result.message`, …), as object or as JSON text: what it
says of time, session and caller goes before what the reply says.
"""

from __future__ import annotations

import json
from dataclasses import replace

from preset_engine.log.call import Call, Reading, Skip, SkipKind
from preset_engine.log.readers.fields import (
    Body,
    Envelope,
    envelope,
    first_text,
    identity,
    inner,
    text,
)
from preset_engine.log.readers.memory import Memory
from preset_engine.log.usage import parse_usage

_USAGE = ("usage", "usageMetadata", "usage_metadata", "token_usage", "tokenUsage", "usage_object")
_INSIDE = (
    "response",
    "response_body",
    "responseBody",
    "body",
    "outputBodyJson",
    "result",
    "message",
    "completion",
    "reply",
    "output",
    "data",
    "payload",
    "raw_response",
    "llm_output",
    "response_metadata",
)
_DEEPEST = 4
_NOTHING = Envelope()


def read(value: Body, memory: Memory) -> list[Reading] | None:
    """A reply with usage, a wrapper of one, or a flat usage line."""
    found = _find(value, _NOTHING, 0)
    if isinstance(found, Call) and found.session is None and memory.session is not None:
        found = replace(found, session=memory.session)
    return None if found is None else [found]


def read_failure(value: Body) -> list[Reading] | None:
    """An error body, a failed line, or a reply that states no usage."""
    if value.get("error") and not _looks_like_reply(value):
        return [replace(_around(value), is_failed=True).call("error-body", None)]
    around = _around(value)
    if around.is_failed and (around.model or around.request_id):
        return [around.call("usage-line", None)]
    if _looks_like_reply(value) or "usage" in value:
        return [around.call("reply-without-usage", None)]
    for name in ("response", "body", "result"):
        body = _open(value.get(name))
        if body is not None and _looks_like_reply(body):
            return [_around(body).within(around).call("reply-without-usage", None)]
    return None


def _find(value: Body, outer: Envelope, depth: int) -> Reading | None:
    around = _around(value) if outer is _NOTHING else _around(value).within(outer)
    usage = next((value[name] for name in _USAGE if isinstance(value.get(name), dict)), None)
    found = parse_usage(usage) or parse_usage(_flat(value))
    if found is not None:
        if _is_embedding(value):
            return Skip(SkipKind.NO_CALL, "an embeddings reply: embeddings have no prompt cache")
        is_router = _is_openrouter(value)
        provider = "openrouter" if is_router else around.provider or _provider(value, usage)
        named = around if provider == around.provider else replace(around, provider=provider)
        return named.call(_shape(value, usage, depth), found)
    if depth >= _DEEPEST:
        return None
    for name in _INSIDE:
        body = _open(value.get(name))
        if body is not None:
            deeper = _find(body, around, depth + 1)
            if deeper is not None:
                return deeper
    return None


def _around(value: Body) -> Envelope:
    around = envelope(value)
    model = around.model or text(inner(value, "request").get("model"))
    request_id = around.request_id
    reply_id = first_text(value, ("id", "responseId")) if _looks_like_reply(value) else None
    if request_id is None and identity(reply_id) is not None:
        request_id = f"reply:{reply_id}"
    if (model, request_id) == (around.model, around.request_id):
        return around
    return replace(around, model=model, request_id=request_id)


def _looks_like_reply(value: Body) -> bool:
    kind = (value.get("object"), value.get("type"))
    return (
        "choices" in value
        or "candidates" in value
        or kind[0] in ("response", "chat.completion.chunk")
        or kind[1] == "message"
    )


def _is_openrouter(value: Body) -> bool:
    """OpenRouter's replies name the upstream in `provider` and begin their id with `gen-`."""
    reply_id = value.get("id")
    return _looks_like_reply(value) and isinstance(reply_id, str) and reply_id.startswith("gen-")


def _flat(value: Body) -> Body | None:
    """Usage figures that lie in the line itself, as in the seed's usage log and in LiteLLM's."""
    names = ("prompt_tokens", "promptTokens", "input_tokens", "inputTokens", "promptTokenCount")
    return value if any(name in value for name in names) else None


def _open(value: object) -> Body | None:
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return None
        return parsed if isinstance(parsed, dict) else None
    return None


def _is_embedding(value: Body) -> bool:
    data = value.get("data")
    first = data[0] if isinstance(data, list) and data else None
    return isinstance(first, dict) and first.get("object") == "embedding"


def _provider(value: Body, usage: object) -> str | None:
    found = usage if isinstance(usage, dict) else value
    if "usageMetadata" in value or "promptTokenCount" in found:
        return "gemini"
    if "stopReason" in value and "inputTokens" in found:
        return "bedrock"
    if isinstance(found.get("tokens"), dict) and "billed_units" in found:
        return "cohere"
    if "cache_creation_input_tokens" in found and "input_tokens" in found:
        return "anthropic"
    if "prompt_cache_hit_tokens" in found:
        return "deepseek"
    return "openai" if _looks_like_reply(value) else None


_SHAPES = {
    "gemini": "gemini-reply",
    "bedrock": "bedrock-reply",
    "cohere": "cohere-reply",
    "anthropic": "anthropic-reply",
}


def _shape(value: Body, usage: object, depth: int) -> str:
    if depth:
        return "wrapper"
    provider = _provider(value, usage)
    if provider in _SHAPES and not _has_own_fields(value):
        return _SHAPES[provider]
    if value.get("object") == "response":
        return "openai-responses"
    if "choices" in value:
        return "openrouter-reply" if _is_openrouter(value) else "openai-chat"
    return "usage-line"


def _has_own_fields(value: Body) -> bool:
    return any(name in value for name in ("request_id", "session_id", "ts", "caller"))
