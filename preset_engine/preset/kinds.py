"""Tells a preset from the many other JSON files of the field, and says what to do with those.

The name and the folder of a file say nothing: presets lie under "KoboldAI Settings", cards under "presets".
What counts are the keys. A preset has a `prompts` list whose elements have identifiers, or the keys of the
form before the prompt manager, or those of the native form.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from preset_engine.errors import UnreadableInput, WrongKind
from preset_engine.messages import JsonObject, JsonValue


class Form(StrEnum):
    """A form of a document that holds a preset."""

    NATIVE = "native"
    SILLYTAVERN = "sillytavern"
    OLD = "old"  # main_prompt, nsfw_prompt, jailbreak_prompt
    MANAGER_EXPORT = "manager_export"
    SETTINGS = "settings"
    PROMPT_LIST = "prompt_list"


@dataclass(frozen=True, slots=True)
class _Mark:
    """Keys that give a kind away; every key of one of the groups must be there."""

    kind: str
    what: str
    advice: str
    groups: tuple[tuple[str, ...], ...]


_USE_PRESET = "export the preset from the chat-completion settings and import that file"
_MARKS: tuple[_Mark, ...] = (
    _Mark(
        "prompt_entry",
        "one entry of a preset",
        _USE_PRESET,
        (("identifier", "content"), ("identifier", "marker")),
    ),
    _Mark(
        "character_card",
        "a character card",
        "give it as the card (--card), and import a chat-completion preset",
        (
            ("spec", "data"),
            ("name", "description", "first_mes"),
            ("char_name", "char_persona"),
            ("name", "first_mes", "mes_example"),
            ("data", "first_mes"),
        ),
    ),
    _Mark(
        "master_export",
        "an export of text-completion templates (instruct, context, system prompt)",
        _USE_PRESET,
        (("instruct", "context"), ("instruct", "sysprompt"), ("context", "sysprompt")),
    ),
    _Mark(
        "old_settings",
        "a settings file of an old SillyTavern",
        "export the preset from the application and import that file",
        (
            ("power_user", "main_api"),
            ("power_user", "username"),
            ("power_user", "temp_openai"),
            ("main_api", "username"),
        ),
    ),
    _Mark("quick_replies", "a quick-reply set", _USE_PRESET, (("qrList",), ("quickReplySlots",))),
    _Mark(
        "theme",
        "a theme of the user interface",
        _USE_PRESET,
        (("main_text_color",), ("blur_tint_color", "border_color")),
    ),
    _Mark(
        "regex_script",
        "a regex script",
        "give it as a regex script of the content, and import a chat-completion preset",
        (("findRegex",), ("scriptName", "replaceString")),
    ),
    _Mark(
        "instruct_template",
        "an instruct template for text completion",
        _USE_PRESET,
        (("input_sequence",), ("output_sequence",)),
    ),
    _Mark(
        "context_template",
        "a context template for text completion",
        _USE_PRESET,
        (("story_string",),),
    ),
    _Mark("novelai_preset", "a NovelAI preset", _USE_PRESET, (("presetVersion", "parameters"),)),
    _Mark(
        "risu_preset",
        "a RisuAI preset",
        _USE_PRESET,
        (("promptTemplate", "formatingOrder"), ("formatingOrder",), ("mainPrompt", "globalNote")),
    ),
    _Mark(
        "agnai_preset",
        "an Agnai preset",
        _USE_PRESET,
        (("gaslight",), ("kind", "memoryDepth"), ("useGaslight",)),
    ),
    _Mark(
        "world_book",
        "a world book (lorebook)",
        "give it as a world book (--world), and import a chat-completion preset",
        (("lorebookVersion",), ("entries",)),
    ),
    _Mark(
        "request_body",
        "a request to a model provider",
        _USE_PRESET,
        (("model", "messages"), ("model", "contents")),
    ),
    _Mark(
        "provider_reply",
        "a model provider's reply",
        _USE_PRESET,
        (("choices", "usage"), ("object", "choices")),
    ),
    _Mark(
        "chat",
        "a chat log",
        "give it as the chat (--chat), and import a chat-completion preset",
        (
            ("chat_metadata", "user_name"),
            ("chat_metadata", "character_name"),
            ("is_user", "mes"),
            ("user_name", "character_name"),
        ),
    ),
    _Mark(
        "group_chat",
        "a group of characters",
        _USE_PRESET,
        (("members", "chat_id"), ("members", "chats")),
    ),
    _Mark(
        "helper_script",
        "a script of the Tavern Helper extension",
        _USE_PRESET,
        (("type", "content", "button"), ("type", "buttons", "content")),
    ),
    _Mark(
        "comfy_workflow",
        "a ComfyUI workflow for images",
        _USE_PRESET,
        (("nodes", "links"), ("last_node_id",)),
    ),
    _Mark(
        "sampler_preset",
        "a sampler preset for KoboldAI or NovelAI",
        _USE_PRESET,
        (
            ("order", "repetition_penalty"),
            ("sampler_order",),
            ("rep_pen_slope",),
            ("tail_free_sampling",),
        ),
    ),
    _Mark(
        "text_completion_preset",
        "a text-completion preset",
        _USE_PRESET,
        (
            ("rep_pen",),
            ("temp", "top_p"),
            ("samplers",),
            ("sampler_priority",),
            ("temp", "top_k"),
            ("typical_p", "top_p"),
        ),
    ),
    _Mark(
        "reasoning_template",
        "a reasoning template",
        _USE_PRESET,
        (("prefix", "suffix", "separator"),),
    ),
    _Mark(
        "system_prompt",
        "a system prompt for text completion",
        _USE_PRESET,
        (("name", "content", "post_history"), ("name", "content")),
    ),
    _Mark(
        "error_reply",
        "a server's error message",
        "the download failed; download the file again",
        (("message", "documentation_url"), ("error",), ("message", "status"), ("detail",)),
    ),
    _Mark("json_schema", "a JSON Schema", _USE_PRESET, (("$schema", "properties"),)),
)
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
        message = f"this is a list of messages, not a preset: {_USE_PRESET}"
        raise WrongKind(message, "message_list")
    raise _wrong_kind(first, several=True)


def _wrong_kind(value: JsonObject, *, several: bool = False) -> WrongKind:
    for mark in _MARKS:
        if _matches(value, mark.kind):
            inside = "a list that starts with " if several else ""
            return WrongKind(
                f"this is {inside}{mark.what}, not a chat-completion preset: {mark.advice}",
                mark.kind,
            )
    keys = ", ".join(repr(key[:20]) for key in list(value)[:3])
    message = (
        f"this is JSON of an unknown kind (keys {keys}): a preset has 'prompts' and 'prompt_order'; "
        f"{_USE_PRESET}"
    )
    return WrongKind(message, "unknown")


_BY_KIND = {mark.kind: mark for mark in _MARKS}


def _matches(value: JsonObject, kind: str) -> bool:
    if kind == "character_card" and str(value.get("spec", "")).startswith("chara_card"):
        return True
    return any(all(key in value for key in group) for group in _BY_KIND[kind].groups)


def _any_mark(value: JsonObject) -> bool:
    return any(_matches(value, mark.kind) for mark in _MARKS)


def _simple(value: JsonValue) -> str:
    if isinstance(value, str):
        return "text"
    return "flag" if isinstance(value, bool) else "number"
