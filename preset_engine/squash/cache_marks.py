"""Prompt-cache marks at a depth, in Anthropic's shape and in OpenAI's.

The list is walked from its end. Trailing assistant messages (a prefill) do not count, then switches of the
speaker do, from 0: the first message of switch `depth` and the first of switch `depth + 2` get a mark on
their last part, so that the next turn finds the second one where this turn wrote the first
(reference/sillytavern.md, section 15)::

    depth 0    S  u1*  a1  u2*
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from preset_engine.json_values import as_text
from preset_engine.messages import JsonObject, JsonValue

DEFAULT_TTL = "5m"


def mark_places(roles: Sequence[str], depth: int) -> list[int]:
    """Numbers of the messages that get a mark, from the end to the start; at most two."""
    if depth < 0:
        return []
    firsts = dict(_switches(roles))
    return [firsts[number] for number in (depth, depth + 2) if number in firsts]


def _switches(roles: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Switch number and the message it begins with, from the end.

    System messages are no switch, but an assistant message in front of one is no prefill any more.
    """
    last = len(roles) - 1
    while last >= 0 and roles[last] == "assistant":
        last -= 1
    switch, previous = -1, ""
    for number in range(last, -1, -1):
        role = roles[number]
        if role not in ("system", previous):
            switch += 1
            previous = role
            yield switch, number


def mark_messages(
    messages: Sequence[JsonObject], depth: int, ttl: str = DEFAULT_TTL
) -> list[JsonObject]:
    """The messages with their cache marks; unmarked ones are the same objects, nothing is changed in place.

    Works on Anthropic messages and on OpenAI messages alike; a text content becomes a list of one part.

    Args:
        messages: objects with `role` and `content`.
        depth: how many switches of the speaker lie behind the first mark; negative sets none.
        ttl: lifetime of the cache, as the provider writes it (`5m`, `1h`).
    """
    marked = list(messages)
    for number in mark_places([str(message.get("role")) for message in messages], depth):
        marked[number] = _with_mark(messages[number], ttl)
    return marked


def _with_mark(message: JsonObject, ttl: str) -> JsonObject:
    content = message.get("content")
    plain: list[JsonValue] = [{"type": "text", "text": as_text(content)}]
    parts = content if isinstance(content, list) else plain
    last = parts[-1] if parts else None
    if not isinstance(last, dict):
        return message  # there is no part that could carry the mark
    mark: JsonObject = {"type": "ephemeral", "ttl": ttl}
    return {**message, "content": [*parts[:-1], {**last, "cache_control": mark}]}
