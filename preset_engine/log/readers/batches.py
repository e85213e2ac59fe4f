"""Results of batch jobs: OpenAI's output lines, Anthropic's result lines."""

from __future__ import annotations

from dataclasses import replace

from preset_engine.log.call import Call, Reading
from preset_engine.log.readers import bodies
from preset_engine.log.readers.fields import Body, Envelope, inner, text
from preset_engine.log.readers.memory import Memory


def read(value: Body, memory: Memory) -> list[Reading] | None:
    """A line with `custom_id` and the reply, or a failure where there is none."""
    if text(value.get("custom_id")) is None or not ("response" in value or "result" in value):
        return None
    body = inner(value, "response", "body") or inner(value, "result", "message")
    status = inner(value, "response").get("status_code")
    is_failed = bool(value.get("error")) or (isinstance(status, int) and status >= 400)
    if is_failed or not body:
        return [Envelope(is_failed=True).call("batch", None)]
    found = bodies.read(body, memory) or bodies.read_failure(body) or []
    return [replace(one, shape="batch") if isinstance(one, Call) else one for one in found]
