"""The keys that give the other JSON files of the field away, and what to do with each.

The order matters: the first kind that fits is named.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KindMark:
    """Keys that give a kind away; every key of one of the groups must be there."""

    kind: str
    what: str
    advice: str
    groups: tuple[tuple[str, ...], ...]


USE_PRESET = "export the preset from the chat-completion settings and import that file"
KIND_MARKS: tuple[KindMark, ...] = (
    KindMark(
        "prompt_entry",
        "one entry of a preset",
        USE_PRESET,
        (("identifier", "content"), ("identifier", "marker")),
    ),
    KindMark(
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
    KindMark(
        "master_export",
        "an export of text-completion templates (instruct, context, system prompt)",
        USE_PRESET,
        (("instruct", "context"), ("instruct", "sysprompt"), ("context", "sysprompt")),
    ),
    KindMark(
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
    KindMark("quick_replies", "a quick-reply set", USE_PRESET, (("qrList",), ("quickReplySlots",))),
    KindMark(
        "theme",
        "a theme of the user interface",
        USE_PRESET,
        (("main_text_color",), ("blur_tint_color", "border_color")),
    ),
    KindMark(
        "regex_script",
        "a regex script",
        "give it as a regex script of the content, and import a chat-completion preset",
        (("findRegex",), ("scriptName", "replaceString")),
    ),
    KindMark(
        "instruct_template",
        "an instruct template for text completion",
        USE_PRESET,
        (("input_sequence",), ("output_sequence",)),
    ),
    KindMark(
        "context_template",
        "a context template for text completion",
        USE_PRESET,
        (("story_string",),),
    ),
    KindMark("novelai_preset", "a NovelAI preset", USE_PRESET, (("presetVersion", "parameters"),)),
    KindMark(
        "risu_preset",
        "a RisuAI preset",
        USE_PRESET,
        (("promptTemplate", "formatingOrder"), ("formatingOrder",), ("mainPrompt", "globalNote")),
    ),
    KindMark(
        "agnai_preset",
        "an Agnai preset",
        USE_PRESET,
        (("gaslight",), ("kind", "memoryDepth"), ("useGaslight",)),
    ),
    KindMark(
        "world_book",
        "a world book (lorebook)",
        "give it as a world book (--world), and import a chat-completion preset",
        (("lorebookVersion",), ("entries",)),
    ),
    KindMark(
        "request_body",
        "a request to a model provider",
        USE_PRESET,
        (("model", "messages"), ("model", "contents")),
    ),
    KindMark(
        "provider_reply",
        "a model provider's reply",
        USE_PRESET,
        (("choices", "usage"), ("object", "choices")),
    ),
    KindMark(
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
    KindMark(
        "group_chat",
        "a group of characters",
        USE_PRESET,
        (("members", "chat_id"), ("members", "chats")),
    ),
    KindMark(
        "helper_script",
        "a script of the Tavern Helper extension",
        USE_PRESET,
        (("type", "content", "button"), ("type", "buttons", "content")),
    ),
    KindMark(
        "comfy_workflow",
        "a ComfyUI workflow for images",
        USE_PRESET,
        (("nodes", "links"), ("last_node_id",)),
    ),
    KindMark(
        "sampler_preset",
        "a sampler preset for KoboldAI or NovelAI",
        USE_PRESET,
        (
            ("order", "repetition_penalty"),
            ("sampler_order",),
            ("rep_pen_slope",),
            ("tail_free_sampling",),
        ),
    ),
    KindMark(
        "text_completion_preset",
        "a text-completion preset",
        USE_PRESET,
        (
            ("rep_pen",),
            ("temp", "top_p"),
            ("samplers",),
            ("sampler_priority",),
            ("temp", "top_k"),
            ("typical_p", "top_p"),
        ),
    ),
    KindMark(
        "reasoning_template",
        "a reasoning template",
        USE_PRESET,
        (("prefix", "suffix", "separator"),),
    ),
    KindMark(
        "system_prompt",
        "a system prompt for text completion",
        USE_PRESET,
        (("name", "content", "post_history"), ("name", "content")),
    ),
    KindMark(
        "error_reply",
        "a server's error message",
        "the download failed; download the file again",
        (("message", "documentation_url"), ("error",), ("message", "status"), ("detail",)),
    ),
    KindMark("json_schema", "a JSON Schema", USE_PRESET, (("$schema", "properties"),)),
)
