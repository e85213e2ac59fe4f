"""Token figures of a usage object, told apart by their field names alone.

Providers differ in two things: the names, and whether the prompt's count includes what came from the cache.

    OpenAI chat, DeepSeek, Mistral   prompt_tokens            includes cached
    OpenAI Responses, Codex          input_tokens             includes cached (details or cached_input_tokens)
    Anthropic, Bedrock               input_tokens/inputTokens excludes reads and writes
    Gemini                           promptTokenCount         includes cached; no cached count means 0
    Cohere                           tokens.input_tokens      includes cached

Where several fields tell the cached count, the nested OpenAI details win over DeepSeek's hit and miss fields
(the rule of the writing-agent seed). A prompt count below the cached count cannot include it, so the cached
part is added and the call is marked. The SQL in `cache/report.py` states the same rules for the shapes it
reads itself; a test holds both together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from preset_engine.log.call import Counts

MAX_COUNT = 10**12  # no call has so many tokens, and a million such lines can still be summed
Body: TypeAlias = Mapping[str, object]

_PROMPT = ("prompt_tokens", "promptTokens")
_INPUT = ("input_tokens", "inputTokens", "prompt_eval_count")
_OUTPUT = (
    "completion_tokens",
    "completionTokens",
    "output_tokens",
    "outputTokens",
    "tokens.output_tokens",
    "eval_count",
)
_TOTAL = ("total_tokens", "totalTokens", "totalTokenCount")
_DETAILS = (
    "prompt_tokens_details",
    "promptTokensDetails",
    "input_tokens_details",
    "inputTokensDetails",
    "input_token_details",
    "inputTokenDetails",
)
_DETAIL_CACHED = ("cached_tokens", "cachedTokens", "cache_read", "cacheReadTokens")
_DETAIL_WRITTEN = (
    "cache_write_tokens",
    "cache_creation_tokens",
    "cache_creation",
    "cacheWriteTokens",
)
_CACHED = (
    "prompt_cache_hit_tokens",
    "promptCacheHitTokens",
    "num_cached_tokens",
    "cached_tokens",
    "cachedTokens",
    "cached_input_tokens",
    "cachedInputTokens",
)
_READ = (
    "cache_read_input_tokens",
    "cacheReadInputTokens",
    "cacheReadInputTokenCount",
    "cacheReadTokens",
)
_WRITTEN = (
    "cache_creation_input_tokens",
    "cacheCreationInputTokens",
    "cacheWriteInputTokens",
    "cacheWriteInputTokenCount",
    "cacheCreationTokens",
    "cache_write_tokens",
)
_MISSED = ("prompt_cache_miss_tokens", "promptCacheMissTokens", "cacheMissTokens")


def whole(value: object) -> int | None:
    """A count: a whole number from 0 to `MAX_COUNT`, written as number or text; anything else is None."""
    if type(value) is int:  # the usual case, and no bool
        return value if 0 <= value <= MAX_COUNT else None
    if isinstance(value, str):
        return (
            whole(int(value)) if len(value) < 19 and value.isascii() and value.isdigit() else None
        )
    if isinstance(value, float):
        return int(value) if 0 <= value <= MAX_COUNT and value.is_integer() else None
    return None


def first_count(body: Body, names: tuple[str, ...]) -> int | None:
    """The first count among these fields; a name with a dot goes one object deeper."""
    for name in names:
        value = body.get(name)
        if value is None and "." in name:
            outer, _, inner = name.partition(".")
            holder = body.get(outer)
            value = holder.get(inner) if isinstance(holder, dict) else None
        number = None if value is None else whole(value)
        if number is not None:
            return number
    return None


def counts(
    prompt: int | None,
    cached: int | None,
    written: int | None = None,
    output: int | None = None,
    total: int | None = None,
    *,
    missed: int | None = None,
    is_inclusive: bool = True,
) -> Counts:
    """Counts with the prompt's whole size; `is_inclusive` tells whether `prompt` holds the cached part already."""
    is_corrected = False
    whole_prompt = prompt
    if prompt is not None and not is_inclusive:
        whole_prompt = prompt + (cached or 0) + (written or 0)
    elif prompt is not None and cached is not None and cached > prompt:
        whole_prompt, is_corrected = prompt + cached, True
    if total is None and whole_prompt is not None:
        total = whole_prompt + (output or 0)
    return Counts(whole_prompt, cached, written, output, total, missed, is_corrected)


def parse_usage(value: object) -> Counts | None:
    """The figures of a usage object of any known provider; None when it states neither prompt nor total."""
    if not isinstance(value, dict):
        return None
    for family in (_gemini, _chat, _cohere, _input):
        found = family(value)
        if found is not None:
            return found
    total = first_count(value, _TOTAL)
    if not total:
        return None
    return Counts(None, output_tokens=first_count(value, _OUTPUT), total_tokens=total)


def _gemini(body: Body) -> Counts | None:
    prompt = first_count(body, ("promptTokenCount", "prompt_token_count"))
    if prompt is None:
        return None
    parts = [
        first_count(body, names)
        for names in (
            ("candidatesTokenCount", "candidates_token_count"),
            ("thoughtsTokenCount", "thoughts_token_count"),
        )
    ]
    cached = first_count(body, ("cachedContentTokenCount", "cached_content_token_count")) or 0
    output = sum(part or 0 for part in parts)
    return counts(prompt, cached, None, output, first_count(body, _TOTAL))


def _chat(body: Body) -> Counts | None:
    prompt = first_count(body, _PROMPT)
    if prompt is None:
        return None
    missed = first_count(body, _MISSED)
    cached = _first(_detail(body, _DETAIL_CACHED), first_count(body, _CACHED + _READ))
    if cached is None and missed is not None and missed <= prompt:
        cached = prompt - missed
    written = _first(_detail(body, _DETAIL_WRITTEN), first_count(body, _WRITTEN))
    total = first_count(body, _TOTAL)
    return counts(prompt, cached, written, first_count(body, _OUTPUT), total, missed=missed)


def _cohere(body: Body) -> Counts | None:
    prompt = first_count(body, ("tokens.input_tokens",))
    if prompt is None:
        return None
    return counts(prompt, first_count(body, _CACHED), None, first_count(body, _OUTPUT))


def _input(body: Body) -> Counts | None:
    prompt = first_count(body, _INPUT)
    if prompt is None:
        return None
    output, total = first_count(body, _OUTPUT), first_count(body, _TOTAL)
    flat = _first(_detail(body, _DETAIL_CACHED), first_count(body, _CACHED))
    if flat is not None or _has_details(body):
        return counts(prompt, flat, _detail(body, _DETAIL_WRITTEN), output, total)
    read, written = first_count(body, _READ), first_count(body, _WRITTEN)
    if read is None and written is not None:
        read = 0
    is_inclusive = total is not None and total == prompt + (output or 0)
    return counts(prompt, read, written, output, total, is_inclusive=is_inclusive)


def _has_details(body: Body) -> bool:
    return any(isinstance(body.get(name), dict) for name in _DETAILS)


def _detail(body: Body, names: tuple[str, ...]) -> int | None:
    for name in _DETAILS:
        details = body.get(name)
        if isinstance(details, dict):
            found = first_count(details, names)
            if found is not None:
                return found
    return None


def _first(one: int | None, other: int | None) -> int | None:
    return one if one is not None else other
