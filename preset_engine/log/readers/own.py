"""Our own log line and request line."""

from __future__ import annotations

from preset_engine.log.call import Reading, Skip, SkipKind
from preset_engine.log.readers.fields import Body, Envelope, identity, text
from preset_engine.log.readers.memory import Memory
from preset_engine.log.times import read_time
from preset_engine.log.usage import counts, whole

SHAPE = "preset-engine"


def read(value: Body, memory: Memory) -> list[Reading] | None:
    """A line whose `schema` is ours."""
    del memory
    schema = value.get("schema")
    if not isinstance(schema, str) or not schema.startswith("preset-engine."):
        return None
    if not schema.startswith("preset-engine.call/"):
        return [
            Skip(SkipKind.NO_CALL, "a request line of preset-engine: what happened, without usage")
        ]
    around = Envelope(
        at_ms=read_time(value.get("timestamp")),
        session=text(value.get("gen_ai.conversation.id")),
        caller=text(value.get("preset_engine.caller")),
        model=text(value.get("gen_ai.request.model")),
        provider=text(value.get("gen_ai.provider.name")),
        preset=text(value.get("preset_engine.preset.name")),
        user=text(value.get("enduser.id")),
        request_id=identity(text(value.get("preset_engine.request.id"))),
        is_failed=value.get("error.type") is not None,
    )
    found = counts(
        _figure(value, "input_tokens"),
        _figure(value, "cache_read.input_tokens"),
        _figure(value, "cache_creation.input_tokens"),
        _figure(value, "output_tokens"),
    )
    return [around.call(SHAPE, found)]


def _figure(value: Body, name: str) -> int | None:
    return whole(value.get(f"gen_ai.usage.{name}"))
