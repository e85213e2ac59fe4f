r"""Anthropic's shape: system blocks apart, two roles, content always a list of parts.

Leading system messages become system blocks, later ones user messages; tool calls and results become parts;
neighbours of one role become one message with all their parts, no separators between them. Images may stand in
user messages only, so an assistant's image moves into the next user message. Rules: reference/sillytavern.md,
section 15.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from preset_engine.characters import JS_SPACE
from preset_engine.json_values import as_object
from preset_engine.messages import ChatMessage, JsonObject, JsonValue
from preset_engine.squash.names import NO_NAMES, Names, name_prefix
from preset_engine.squash.shaped import PLACEHOLDER

_INVISIBLE = "\u200b"  # the API refuses empty texts


@dataclass(frozen=True, slots=True)
class AnthropicShape:
    """A prompt in Anthropic's shape.

    Attributes:
        messages: objects with `role` (user or assistant) and `content` (a list of parts).
        system: system blocks, each a text part.
    """

    messages: list[JsonObject]
    system: list[JsonObject] = field(default_factory=list)


@dataclass(slots=True)
class _Turn:
    """A message under construction."""

    role: str
    parts: list[JsonObject]

    def to_json(self) -> JsonObject:
        return {"role": self.role, "content": list[JsonValue](self.parts)}


def to_anthropic(
    messages: Sequence[ChatMessage],
    *,
    names: Names = NO_NAMES,
    prefill: str = "",
    use_system_prompt: bool = True,
    use_tools: bool = True,
    placeholder: str = PLACEHOLDER,
) -> AnthropicShape:
    """Convert a message list.

    Args:
        messages: the list in OpenAI form.
        names: who takes part; for the prefixes of dialogue examples.
        prefill: the beginning of the reply, put at the end as an assistant message.
        use_system_prompt: lift leading system messages out; otherwise they become user messages.
        use_tools: keep tool parts; otherwise they become text.
        placeholder: user message for a list of system messages only.
    """
    leading = _count_leading(messages) if use_system_prompt else 0
    system = [_system_block(message, names) for message in messages[:leading]]
    rest: Sequence[ChatMessage] = messages[leading:]
    if use_system_prompt and not rest:
        rest = (ChatMessage("user", placeholder),)
    turns = _move_images([_turn(message, names) for message in rest])
    if prefill:
        turns.append(_Turn("assistant", [_text(prefill.rstrip(JS_SPACE))]))
    merged = _merge(turns)
    if not use_tools:
        for turn in merged:
            turn.parts = [_without_tools(part) for part in turn.parts]
    return AnthropicShape([turn.to_json() for turn in merged], system)


def _count_leading(messages: Sequence[ChatMessage]) -> int:
    for number, message in enumerate(messages):
        if message.role != "system":
            return number
    return len(messages)


def _system_block(message: ChatMessage, names: Names) -> JsonObject:
    """A system message as a block; parts and missing texts are handed on as SillyTavern does."""
    if message.content is None:
        return {"type": "text"}
    if isinstance(message.content, tuple):
        return {"type": "text", "text": list[JsonValue](message.content)}
    text = message.text
    return _text(name_prefix(message, text, names) + text)


def _turn(message: ChatMessage, names: Names) -> _Turn:
    if message.role == "system":
        return _Turn("user", _parts(message, name_prefix(message, message.text, names)))
    if message.role == "assistant" and message.tool_calls:
        return _Turn("assistant", [_tool_use(call) for call in message.tool_calls])
    if message.role == "tool":
        result: JsonObject = {
            "type": "tool_result",
            "tool_use_id": message.tool_call_id,
            "content": list[JsonValue](message.content)
            if isinstance(message.content, tuple)
            else message.content,
        }
        return _Turn("user", [result])
    return _Turn(message.role, _parts(message, f"{message.name}: " if message.name else ""))


def _parts(message: ChatMessage, prefix: str) -> list[JsonObject]:
    content = message.content
    if not isinstance(content, tuple):
        return [_text(prefix + (content or ""))]
    return [_part(part, prefix) for part in content]


def _part(part: JsonObject, prefix: str) -> JsonObject:
    if part.get("type") == "text":
        text = part.get("text")
        return {**part, "text": prefix + (text if isinstance(text, str) else "") or _INVISIBLE}
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else None
    if part.get("type") != "image_url" or not isinstance(url, str):
        return part
    return {"type": "image", "source": _image_source(url)}


def _image_source(url: str) -> JsonObject:
    head, _, data = url.partition(",")
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    kind = head.removeprefix("data:").split(";")[0]
    return {"type": "base64", "media_type": kind, "data": data}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _tool_use(call: JsonObject) -> JsonObject:
    told = as_object(call.get("function"))
    return {
        "type": "tool_use",
        "id": call.get("id"),
        "name": told.get("name"),
        "input": _arguments(told.get("arguments")),
    }


def _arguments(value: JsonValue) -> JsonValue:
    """Arguments as an object; a text that is no JSON is handed on under `arguments`."""
    if not isinstance(value, str):
        return value if value is not None else {}
    try:
        read: JsonValue = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return {"arguments": value} if value.strip() else {}
    return read


def _move_images(turns: list[_Turn]) -> list[_Turn]:
    """Take images out of assistant messages and put them into the next user message."""
    found = list(turns)
    number = 0
    while number < len(found):
        turn = found[number]
        images = [part for part in turn.parts if part.get("type") == "image"]
        if turn.role == "assistant" and images:
            turn.parts = [part for part in turn.parts if part.get("type") != "image"]
            target = next((later for later in found[number + 1 :] if later.role == "user"), None)
            if target is None:
                found.insert(number + 1, _Turn("user", images))
            else:
                target.parts = [*target.parts, *images]
        number += 1
    return found


def _merge(turns: list[_Turn]) -> list[_Turn]:
    merged: list[_Turn] = []
    for turn in turns:
        if merged and merged[-1].role == turn.role:
            merged[-1].parts = [*merged[-1].parts, *turn.parts]
        else:
            merged.append(turn)
    return merged


def _without_tools(part: JsonObject) -> JsonObject:
    if part.get("type") == "tool_use":
        return _text(json.dumps(part.get("input"), ensure_ascii=False, separators=(",", ":")))
    if part.get("type") == "tool_result":
        content = part.get("content")
        return _text(content if isinstance(content, str) else json.dumps(content))
    return part
