"""Brings the SillyTavern forms of a preset to one: a document with `prompts` and `prompt_order`.

A settings file gives its active preset, a prompt-manager export and a bare list are wrapped, and the form before
the prompt manager gets the three prompts that SillyTavern itself makes of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from preset_engine.errors import WrongKind
from preset_engine.json_values import as_object, as_text
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.builtin import CURRENT_ORDER_ID, DEFAULT_PROMPTS
from preset_engine.preset.entries import read_entries
from preset_engine.preset.kinds import Form
from preset_engine.preset.model import PromptEntry, PromptOrder
from preset_engine.preset.notebook import Notebook
from preset_engine.preset.orders import read_orders

OLD_TEXTS = {"main": "main_prompt", "nsfw": "nsfw_prompt", "jailbreak": "jailbreak_prompt"}
"""Built-in entry to the key that held its text before the prompt manager."""


@dataclass(frozen=True, slots=True)
class Body:
    """What a SillyTavern document says about its prompts.

    Attributes:
        document: the document to keep; the exporter gives it back.
        name: a name that stands outside the document, or "".
        prompts: the entries.
        orders: the order lists.
    """

    document: JsonObject
    name: str
    prompts: tuple[PromptEntry, ...]
    orders: tuple[PromptOrder, ...]


def read_body(value: JsonValue, form: Form, notes: Notebook) -> Body:
    """The prompts of a SillyTavern document of any form but the native one."""
    document, name = _unwrap(value, form, notes)
    prompts = _prompts(document, notes)
    orders = read_orders(document.get("prompt_order"), notes)
    is_old = any(isinstance(document.get(key), str) for key in OLD_TEXTS.values())
    if is_old:
        prompts = _migrate(document, prompts, notes)
    elif not prompts:
        notes.add(
            "prompts-missing",
            "the file has no prompts; SillyTavern's built-in ones stand in",
            "$.prompts",
        )
        prompts = DEFAULT_PROMPTS
    if not orders and not is_old:
        notes.add(
            "order-missing",
            "the file has no order list; SillyTavern's default order is used",
            "$.prompt_order",
        )
    return Body(document, name, prompts, orders)


def _unwrap(value: JsonValue, form: Form, notes: Notebook) -> tuple[JsonObject, str]:
    if form is Form.PROMPT_LIST and isinstance(value, list):
        notes.add(
            "bare-prompt-list", "the file is a bare list of prompts; an order list is missing"
        )
        return {"prompts": value}, ""
    if not isinstance(value, dict):  # tell_form lets only objects through for the other forms
        message = "this is no object and no preset: import a chat-completion preset instead"
        raise WrongKind(message, "unknown")
    if form is Form.SETTINGS:
        return _active_preset(value, notes)
    if form is Form.MANAGER_EXPORT:
        return _manager_export(value, notes), ""
    return value, ""


def _active_preset(value: JsonObject, notes: Notebook) -> tuple[JsonObject, str]:
    settings = value.get("oai_settings")
    document = dict(settings) if isinstance(settings, dict) else {}
    name = document.get("preset_settings_openai") or value.get("preset_settings_openai")
    label = as_text(name)
    notes.add(
        "settings-file",
        "the file is a settings.json; the chat-completion preset that was active in it is taken",
        "$.oai_settings",
    )
    return document, label


def _manager_export(value: JsonObject, notes: Notebook) -> JsonObject:
    inner = as_object(value.get("data"))
    order = inner.get("prompt_order")
    wrapped: JsonValue = order
    if isinstance(order, list) and not any(
        isinstance(item, dict) and "order" in item for item in order
    ):
        wrapped = [{"character_id": int(CURRENT_ORDER_ID), "order": order}] if order else []
    notes.add(
        "manager-export",
        "the file is an export of the prompt manager: prompts and order without settings",
    )
    document: JsonObject = {"prompts": inner.get("prompts")}
    if wrapped:
        document["prompt_order"] = wrapped
    return document


def _prompts(document: JsonObject, notes: Notebook) -> tuple[PromptEntry, ...]:
    return read_entries(document.get("prompts"), notes)


def _migrate(
    document: JsonObject, prompts: tuple[PromptEntry, ...], notes: Notebook
) -> tuple[PromptEntry, ...]:
    notes.add(
        "old-form",
        "the file has the form before the prompt manager; its main, NSFW and jailbreak prompts become entries",
        "$.main_prompt",
    )
    texts: dict[str, str] = {}
    for identifier, key in OLD_TEXTS.items():
        text = document.get(key)
        if isinstance(text, str):
            texts[identifier] = text
    return tuple(
        replace(
            entry,
            content=texts[entry.identifier],
            place=f"$.{OLD_TEXTS[entry.identifier]}",
            saved={},
        )
        if entry.identifier in texts
        else entry
        for entry in prompts or DEFAULT_PROMPTS
    )
