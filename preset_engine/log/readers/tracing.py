"""Exports of tracing tools: Langfuse observations, OpenTelemetry spans with the GenAI names.

Langfuse lists the observations of a trace twice (under the trace and beside it), so an observation counts once
by trace, id and start. Its `input` leaves the cached part out in most exports; where the stated total equals
input and output alone, it is inside. OpenTelemetry's `gen_ai.usage.input_tokens` includes the cached part.
"""

from __future__ import annotations

from preset_engine.log.call import Counts, Reading, Skip, SkipKind
from preset_engine.log.readers.fields import Body, Envelope, first_text, inner, objects, text
from preset_engine.log.readers.memory import Memory
from preset_engine.log.times import read_time
from preset_engine.log.usage import counts, first_count

_CACHED = (
    "input_cache_read",
    "input_cached_tokens",
    "cache_read_input_tokens",
    "input_cached",
    "cached_tokens",
)
_CACHED_FLAT = ("prompt_details.cache_read", "input_token_details.cache_read")
_WRITTEN = ("input_cache_creation", "cache_creation_input_tokens", "input_cache_write")


_NO_CALLS = ("invoke_agent", "create_agent", "invoke_workflow", "execute_tool", "embeddings")


def read(value: Body, memory: Memory) -> list[Reading] | None:
    """An observation, a span, or a document that holds them."""
    if "resourceSpans" in value or "scopeSpans" in value:
        return _spans(value)
    if "spanId" in value or ("attributes" in value and _attributes(value.get("attributes"))):
        return [_span(value, {})]
    if isinstance(value.get("trace"), dict) and isinstance(value.get("observations"), list):
        return _trace(value, memory)
    if "traceId" in value and "type" in value and "startTime" in value:
        return [_observation(value, memory)]
    return None


def _trace(value: Body, memory: Memory) -> list[Reading]:
    trace = inner(value, "trace")
    memory.session = text(trace.get("sessionId")) or text(trace.get("id"))
    listed = [*objects(value.get("observations")), *objects(trace.get("observations"))]
    return [_observation(item, memory) for item in listed]


def _observation(value: Body, memory: Memory) -> Reading:
    details = inner(value, "usageDetails")
    usage = inner(value, "usage")
    figures = details or usage or _old_figures(value)
    if value.get("type") not in ("GENERATION", "EMBEDDING") or not figures:
        return Skip(SkipKind.NO_CALL, "a span of a trace without usage")
    trace, start = text(value.get("traceId")), text(value.get("startTime"))
    around = Envelope(
        at_ms=read_time(value.get("startTime")),
        session=text(value.get("sessionId")) or memory.session or trace,
        caller=text(value.get("name")),
        model=text(value.get("model")),
        provider="langfuse",
        user=text(value.get("userId")),
        request_id=f"langfuse:{trace}:{text(value.get('id'))}:{start}",
        is_failed=value.get("level") == "ERROR",
    )
    return around.call("langfuse", _langfuse_counts(figures))


def _old_figures(value: Body) -> Body:
    names = {"input": "inputUsage", "output": "outputUsage", "total": "totalUsage"}
    found = {name: value[old] for name, old in names.items() if first_count(value, (old,))}
    return found or {
        name: value[old]
        for name, old in (("input", "promptTokens"), ("output", "completionTokens"))
        if old in value
    }


def _langfuse_counts(figures: Body) -> Counts:
    prompt = first_count(figures, ("input", "input_tokens", "prompt_tokens"))
    output = first_count(figures, ("output", "output_tokens", "completion_tokens"))
    total = first_count(figures, ("total", "total_tokens"))
    cached = next(
        (
            n
            for n in (first_count({"x": figures.get(f)}, ("x",)) for f in _CACHED_FLAT)
            if n is not None
        ),
        first_count(figures, _CACHED),
    )
    written = first_count(figures, _WRITTEN)
    is_inclusive = total is not None and total == (prompt or 0) + (output or 0)
    return counts(prompt, cached, written, output, total, is_inclusive=is_inclusive)


def _spans(value: Body) -> list[Reading]:
    readings: list[Reading] = []
    for resource in objects(value.get("resourceSpans")) or [value]:
        around = _attributes(inner(resource, "resource").get("attributes"))
        scopes = objects(resource.get("scopeSpans")) or objects(
            resource.get("instrumentationLibrarySpans")
        )
        for scope in scopes:
            readings += [_span(span, around) for span in objects(scope.get("spans"))]
    return readings


def _span(value: Body, resource: Body) -> Reading:
    given = _attributes(value.get("attributes"))
    prompt = first_count_flat(given, ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"))
    if prompt is None:
        return Skip(SkipKind.NO_CALL, "a span without token figures")
    if given.get("gen_ai.operation.name") in _NO_CALLS:
        return Skip(
            SkipKind.NO_CALL, "a span around calls (agent, tool, embeddings), with their totals"
        )
    found = counts(
        prompt,
        first_count_flat(
            given,
            (
                "gen_ai.usage.cache_read.input_tokens",
                "gen_ai.usage.cache_read_input_tokens",
                "gen_ai.usage.input_tokens.cached",
                "gen_ai.usage.cached_tokens",
            ),
        ),
        first_count_flat(
            given,
            (
                "gen_ai.usage.cache_creation.input_tokens",
                "gen_ai.usage.cache_creation_input_tokens",
            ),
        ),
        first_count_flat(given, ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")),
    )
    trace, span = (
        text(value.get("traceId") or value.get("trace_id")),
        text(value.get("spanId") or value.get("span_id")),
    )
    around = Envelope(
        at_ms=read_time(value.get("startTimeUnixNano") or value.get("start_time")),
        session=first_text(given, ("gen_ai.conversation.id", "session.id")) or trace,
        caller=first_text(given, ("gen_ai.agent.name",)) or text(resource.get("service.name")),
        model=first_text(given, ("gen_ai.request.model", "gen_ai.response.model")),
        provider=first_text(given, ("gen_ai.provider.name", "gen_ai.system")),
        user=first_text(given, ("enduser.id", "user.id")),
        request_id=f"span:{trace}:{span}" if trace and span else None,
        is_failed=given.get("error.type") is not None or _has_error(value),
    )
    return around.call("opentelemetry", found)


def _has_error(value: Body) -> bool:
    code = inner(value, "status").get("code")
    return code in (2, "STATUS_CODE_ERROR", "ERROR")


def _attributes(value: object) -> Body:
    """Attributes as a mapping; OTLP writes them as a list of keys and typed values."""
    if isinstance(value, dict):
        return value if any(str(name).startswith("gen_ai.") for name in value) else {}
    found: dict[str, object] = {}
    for item in objects(value):
        name, typed = text(item.get("key")), inner(item, "value")
        if name is not None and typed:
            found[name] = next(iter(typed.values()))
    return found


def first_count_flat(value: Body, names: tuple[str, ...]) -> int | None:
    """The first count among fields whose names hold dots themselves."""
    for name in names:
        found = first_count({"figure": value.get(name)}, ("figure",))
        if found is not None:
            return found
    return None
