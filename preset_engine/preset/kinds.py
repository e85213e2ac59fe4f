"""Tells a preset from the many other JSON files of the field, and says what to do with those.

The name and the folder of a file say nothing: presets lie under "KoboldAI Settings", cards under "presets".
What counts are the keys. A preset has a `prompts` list whose elements have identifiers, or the keys of the
form before the prompt manager, or those of the native form.
"""

from __future__ import annotations

from enum import StrEnum

from preset_engine.errors import UnreadableInput, WrongKind
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.kind_marks import KIND_MARKS, USE_PRESET


class Form(StrEnum):
    """A form of a document that holds a preset."""

    NATIVE = "native"
    SILLYTAVERN = "sillytavern"
    OLD = "old"  # main_prompt, nsfw_prompt, jailbreak_prompt
    MANAGER_EXPORT = "manager_export"
    SETTINGS = "settings"
    PROMPT_LIST = "prompt_list"


_OLD_KEYS = ("main_prompt", "nsfw_prompt", "jailbreak_prompt", "nsfw_toggle")
_CHAT_KEYS = frozenset(
    [
        "openai_max_context",
        "openai_max_tokens",
        "stream_openai",
        "chat_completion_source",
        "openai_model",
        "prompt_order",
        "squash_system_messages",
        "impersonation_prompt",
        "new_chat_prompt",
        "continue_nudge_prompt",
        "wi_format",
        "bias_preset_selected",
        "assistant_prefill",
        "names_behavior",
        "send_if_empty",
        "max_context_unlocked",
    ]
)


def tell_form(value: JsonValue) -> Form:
    """The form of a document that holds a preset.

    Raises:
        WrongKind: another kind of file; its name and what to do are in the message.
        UnreadableInput: no object at all.
    """
    if isinstance(value, list):
        return _form_of_list(value)
    if not isinstance(value, dict):
        what = "null" if value is None else f"a bare {_simple(value)}"
        message = f"the file holds {what} and no preset; ask for the file again"
        raise UnreadableInput(message)
    if not value:
        message = "the file holds an empty object and no preset; ask for the file again"
        raise UnreadableInput(message)
    form = _form_of_object(value)
    if form is not None:
        return form
    raise _wrong_kind(value)


def name_kind(value: JsonValue) -> tuple[str, str]:
    """What a JSON value is: a slug and words (``("world_book", "a world book (lorebook)")``); empty when unknown.

    It is for readers of other files, which refuse what is known to be something else.
    """
    try:
        tell_form(value)
    except UnreadableInput:
        return "", ""
    except WrongKind as error:
        if error.kind == "unknown":
            return "", ""
        mark = _BY_KIND.get(error.kind)
        return error.kind, mark.what if mark else "a list of messages"
    return "preset", "a chat-completion preset"


def unwrap(value: JsonValue) -> tuple[JsonValue, str]:
    """The preset inside a list of one document or under a key of its own, with its path; else the value itself."""
    inner: JsonValue = None
    path = "$"
    if isinstance(value, list) and len(value) == 1:
        inner, path = value[0], "$[0]"
    elif isinstance(value, dict) and len(value) <= 3 and "prompts" not in value:
        for key in ("preset", "data", "settings"):
            if isinstance(value.get(key), dict):
                inner, path = value[key], f"$.{key}"
                break
    is_preset = (
        isinstance(inner, dict)
        and isinstance(inner.get("prompts"), list)
        and "prompt_order" in inner
    )
    return (inner, path) if is_preset else (value, "$")


def _form_of_object(value: JsonObject) -> Form | None:
    if isinstance(value.get("oai_settings"), dict):
        return Form.SETTINGS
    data = value.get("data")
    if "version" in value and isinstance(data, dict) and isinstance(data.get("prompts"), list):
        return Form.MANAGER_EXPORT
    if _is_native(value):
        return Form.NATIVE
    if _matches(value, "old_settings") or _matches(value, "character_card"):
        return None
    if _has_prompts(value):
        return Form.SILLYTAVERN
    if any(isinstance(value.get(key), str) for key in _OLD_KEYS[:3]):
        return Form.OLD
    if len(_CHAT_KEYS & value.keys()) >= 2:
        return Form.SILLYTAVERN
    return None


def _is_native(value: JsonObject) -> bool:
    if "promptOrder" in value or "messagePolicy" in value:
        return True
    prompts = value.get("prompts")
    if not isinstance(prompts, list) or "prompt_order" in value:
        return False
    objects = [item for item in prompts if isinstance(item, dict)]
    return bool(objects) and all("id" in item and "identifier" not in item for item in objects)


def _has_prompts(value: JsonObject) -> bool:
    prompts = value.get("prompts")
    if isinstance(prompts, dict):
        prompts = list(prompts.values())
    if isinstance(prompts, list):
        if any(
            isinstance(item, dict) and ("identifier" in item or "content" in item)
            for item in prompts
        ):
            return True
        return "prompt_order" in value or (not prompts and not _any_mark(value))
    return "prompt_order" in value


def _form_of_list(value: list[JsonValue]) -> Form:
    objects = [item for item in value if isinstance(item, dict)]
    if not objects:
        message = "the file holds a list without objects and no preset; ask for the file again"
        raise UnreadableInput(message)
    if all("identifier" in item for item in objects):
        return Form.PROMPT_LIST
    first = objects[0]
    if "key" in first and "content" in first:
        message = (
            "this is a world book (a bare list of entries): give it as a world book (--world), "
            "and import a chat-completion preset"
        )
        raise WrongKind(message, "world_book")
    if "role" in first and "content" in first:
        message = f"this is a list of messages, not a preset: {USE_PRESET}"
        raise WrongKind(message, "message_list")
    raise _wrong_kind(first, several=True)


def _wrong_kind(value: JsonObject, *, several: bool = False) -> WrongKind:
    for mark in KIND_MARKS:
        if _matches(value, mark.kind):
            inside = "a list that starts with " if several else ""
            return WrongKind(
                f"this is {inside}{mark.what}, not a chat-completion preset: {mark.advice}",
                mark.kind,
            )
    keys = ", ".join(repr(key[:20]) for key in list(value)[:3])
    message = (
        f"this is JSON of an unknown kind (keys {keys}): a preset has 'prompts' and 'prompt_order'; "
        f"{USE_PRESET}"
    )
    return WrongKind(message, "unknown")


_BY_KIND = {mark.kind: mark for mark in KIND_MARKS}


def _matches(value: JsonObject, kind: str) -> bool:
    if kind == "character_card" and str(value.get("spec", "")).startswith("chara_card"):
        return True
    return any(all(key in value for key in group) for group in _BY_KIND[kind].groups)


def _any_mark(value: JsonObject) -> bool:
    return any(_matches(value, mark.kind) for mark in KIND_MARKS)


def _simple(value: JsonValue) -> str:
    if isinstance(value, str):
        return "text"
    return "flag" if isinstance(value, bool) else "number"
