"""Logs of gateways: LiteLLM's spend log and standard payload, new-api and one-api, OpenRouter's generations."""

from __future__ import annotations

import json
from dataclasses import replace

from preset_engine.log.call import Reading, Skip, SkipKind
from preset_engine.log.readers.fields import Body, Envelope, envelope, first_text, inner, text
from preset_engine.log.readers.memory import Memory
from preset_engine.log.times import read_time
from preset_engine.log.usage import counts, first_count, parse_usage


def read(value: Body, memory: Memory) -> list[Reading] | None:
    """A line of one of these gateways."""
    del memory
    return _litellm(value) or _new_api(value) or _openrouter(value)


def _litellm(value: Body) -> list[Reading] | None:
    if "call_type" not in value or "prompt_tokens" not in value:
        return None
    metadata = value.get("metadata")
    if isinstance(metadata, str):
        metadata = _parsed(metadata)
    usage = inner(metadata if isinstance(metadata, dict) else {}, "usage_object")
    response = inner(value, "response", "usage")
    found = parse_usage(usage) or parse_usage(response) or parse_usage(value)
    around = envelope(value)
    named = replace(
        around,
        session=first_text(value, ("session_id", "trace_id")),
        user=first_text(value, ("end_user", "user")),
        request_id=around.request_id or _prefixed("litellm", value.get("id")),
    )
    return [named.call("litellm", found)]


def _new_api(value: Body) -> list[Reading] | None:
    if "model_name" not in value or "prompt_tokens" not in value or "quota" not in value:
        return None
    if value.get("type", 2) not in (2, 5):  # 2: use of a model, 5: its failure
        return [Skip(SkipKind.NO_CALL, "a gateway line about something else than a model call")]
    other = value.get("other")
    extra = _parsed(other) if isinstance(other, str) else other if isinstance(other, dict) else {}
    found = counts(
        first_count(value, ("prompt_tokens",)),
        first_count(extra, ("cache_tokens",)),
        first_count(extra, ("cache_creation_tokens",)),
        first_count(value, ("completion_tokens",)),
        is_inclusive=extra.get("claude") is not True,
    )
    around = Envelope(
        at_ms=read_time(value.get("created_at")),
        caller=text(value.get("token_name")),
        model=text(value.get("model_name")),
        provider="new-api",
        user=text(value.get("username")),
        request_id=text(value.get("request_id")) or _prefixed("new-api", value.get("id")),
        is_failed=value.get("type") == 5,
    )
    return [around.call("new-api", found)]


def _openrouter(value: Body) -> list[Reading] | None:
    body = (
        value
        if "native_tokens_prompt" in value or "tokens_cached" in value
        else inner(value, "data")
    )
    prompt = first_count(body, ("native_tokens_prompt", "tokens_prompt"))
    if prompt is None or not ("native_tokens_prompt" in body or "tokens_cached" in body):
        return None
    found = counts(
        prompt,
        first_count(body, ("native_tokens_cached", "tokens_cached")),
        None,
        first_count(body, ("native_tokens_completion", "tokens_completion")),
    )
    around = Envelope(
        at_ms=read_time(body.get("created_at")),
        session=text(body.get("session_id")),
        caller=text(body.get("app_name")),
        model=first_text(body, ("model", "model_permaslug")),
        provider="openrouter",
        user=first_text(body, ("external_user", "user")),
        request_id=_prefixed("openrouter", body.get("id") or body.get("generation_id")),
        is_failed=bool(body.get("cancelled")) and not prompt,
    )
    return [around.call("openrouter-generation", found)]


def _parsed(value: str) -> Body:
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _prefixed(gateway: str, value: object) -> str | None:
    found = text(value)
    return None if found is None else f"{gateway}:{found}"
