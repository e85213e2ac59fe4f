"""What happens to the chat before a prompt is made: greeting, regeneration, bias, the new message.

The order of these steps is SillyTavern's (reference, section 3, steps 1 to 6 and 9), since each runs macros
that may set variables.
"""

from __future__ import annotations

import re
from dataclasses import replace

from preset_engine.assembler.scene import BOX_STAYS, Scene
from preset_engine.characters import JS_SPACE
from preset_engine.json_values import as_object, as_text
from preset_engine.messages import ChatRecord

_BIAS = re.compile(r"\{\{\s*bias\s+(?:\"([^\"]*)\"|'([^']*)')\s*\}\}")


def open_chat(scene: Scene) -> str:
    """Bring the chat into the state that a prompt is made from.

    Returns:
        The bias: text the reply is to begin with, empty when there is none.
    """
    _greet(scene)
    drop_reply(scene)
    typed = "" if scene.generation_type in BOX_STAYS else scene.content.turn
    bias, has_helper = _bias(scene, typed)
    if has_helper:
        typed = _without_macros(typed).strip(JS_SPACE)
    if has_helper and not typed:
        scene.chat.append(ChatRecord("System", " ", is_hidden=True))
    else:
        _send(scene, typed)
    return bias


def drop_reply(scene: Scene) -> None:
    """Before a regeneration the newest reply leaves the chat."""
    if scene.generation_type == "regenerate" and len(scene.chat) and not scene.chat[-1].is_user:
        scene.chat.drop_last()


def refresh_first(scene: Scene) -> None:
    """Run the macros of the first message once more and keep the result, whoever wrote it."""
    if len(scene.chat):
        _expand_first(scene, scene.chat[0])


def _greet(scene: Scene) -> None:
    if not len(scene.chat):
        text = next((text for text in scene.card.fields.greetings if text), "")
        if not text:
            return
        scene.chat.append(ChatRecord(scene.char, text))
    first = scene.chat[0]
    if not first.is_user and not first.is_hidden:
        _expand_first(scene, first)


def _expand_first(scene: Scene, record: ChatRecord) -> None:
    text = scene.expand(record.text, "history[0]")
    if text != record.text:
        scene.chat.replace(0, replace(record, text=text))


def _bias(scene: Scene, typed: str) -> tuple[str, bool]:
    """The bias of this generation, and whether the typed text gave it."""
    if scene.generation_type in ("impersonate", "continue"):
        return "", False
    found = [double or single for double, single in _BIAS.findall(typed)]
    if found:
        text = " " + " ".join(found)
        scene.expand(
            text, "bias"
        )  # SillyTavern runs it once for the message and once for the prompt
        return scene.expand(text, "bias"), True
    text = "" if typed else _stored_bias(scene)
    return scene.expand(text or as_text(scene.user_switch("user_prompt_bias")), "bias"), False


def _without_macros(text: str) -> str:
    """The text without every stretch from `{{` to the next `}}`."""
    kept: list[str] = []
    place = 0
    while (start := text.find("{{", place)) >= 0 and (end := text.find("}}", start + 2)) >= 0:
        kept.append(text[place:start])
        place = end + 2
    return "".join((*kept, text[place:]))


def _stored_bias(scene: Scene) -> str:
    """The bias kept with the latest message of the user or the system."""
    last = len(scene.chat) - 1
    for number in range(last, -1, -1):
        record = scene.chat[number]
        details = as_object(record.extra.get("extra"))
        if scene.generation_type == "swipe" and number == last:
            continue
        if record.is_user or record.is_hidden or details.get("type") == "narrator":
            text = as_text(details.get("bias"))
            return text if text.strip(JS_SPACE) else ""
    return ""


def _send(scene: Scene, typed: str) -> None:
    """Put the new message into the chat; an empty box sends `send_if_empty` in a normal generation."""
    text = typed
    if not text and scene.generation_type == "normal":
        text = scene.settings.send_if_empty.strip(JS_SPACE)
    if text:
        scene.chat.append(ChatRecord(scene.user, scene.expand(text, "turn"), is_user=True))
