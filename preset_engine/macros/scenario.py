"""Reads a scenario file (the capture format) as what macros may see.

Only the parts that macros read are taken: names, card, persona, chat, variables, clock, limits. A scenario is
an outside file, so anything of a wrong type is read as absent.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from preset_engine.context import FIXED_NOW, Context
from preset_engine.errors import UnreadableInput
from preset_engine.json_values import as_list, as_object, as_text
from preset_engine.macros.dates import read_stamp
from preset_engine.macros.js_numbers import to_float
from preset_engine.macros.view import CardFields, MacroView, Variables
from preset_engine.messages import ChatRecord, JsonObject, JsonValue

_CHAT_HASH = 20250314  # what every capture is fixed to
_MODEL = "golden-model"


def read_scenario(body: Mapping[str, JsonValue]) -> MacroView:
    """The view of a scenario before its generation.

    Raises:
        UnreadableInput: it names a time zone that does not exist.
    """
    inputs = as_object(body.get("inputs"))
    settings = as_object(inputs.get("settings"))
    data = as_object(as_object(inputs.get("card")).get("data"))
    persona = as_object(inputs.get("persona"))
    metadata = as_object(settings.get("chat_metadata"))
    chat_hash = metadata.get("chat_id_hash")
    return MacroView(
        user=as_text(persona.get("name"), "User"),
        char=as_text(data.get("name"), "Assistant"),
        persona=as_text(persona.get("description")).strip(),
        card=_card(data),
        chat=tuple(_record(as_object(item)) for item in as_list(inputs.get("chat"))),
        variables=Variables(
            dict(as_object(metadata.get("variables"))),
            dict(as_object(settings.get("global_variables"))),
        ),
        context=_context(body, settings),
        chat_hash=chat_hash if isinstance(chat_hash, int) else _CHAT_HASH,
        settings=_settings(as_object(inputs.get("preset")), settings),
        outlets={key: as_text(text) for key, text in as_object(settings.get("outlets")).items()},
        generation_type=as_text(settings.get("generation_type"), "normal"),
    )


def with_options(view: MacroView, options: Mapping[str, JsonValue]) -> MacroView:
    """The same view with fresh variables, to which a table row's options add."""
    local = {**view.variables.local, **as_object(options.get("local"))}
    shared = {**view.variables.shared, **as_object(options.get("global"))}
    return replace(view, variables=Variables(local, shared))


def _card(data: JsonObject) -> CardFields:
    extensions = as_object(data.get("extensions"))
    greetings = [data.get("first_mes"), *as_list(data.get("alternate_greetings"))]
    return CardFields(
        description=as_text(data.get("description")).strip(),
        personality=as_text(data.get("personality")).strip(),
        scenario=as_text(data.get("scenario")).strip(),
        examples=as_text(data.get("mes_example")).strip(),
        system_prompt=as_text(data.get("system_prompt")).strip(),
        post_history=as_text(data.get("post_history_instructions")).strip(),
        depth_prompt=as_text(as_object(extensions.get("depth_prompt")).get("prompt")).strip(),
        creator_notes=as_text(data.get("creator_notes")).strip(),
        version=as_text(data.get("character_version")),
        greetings=tuple(as_text(item).strip() for item in greetings),
    )


def _record(item: JsonObject) -> ChatRecord:
    swipe, sent = item.get("swipe_id"), item.get("send_date", "2025-03-14T09:00:00Z")
    return ChatRecord(
        name=as_text(item.get("name")),
        text=as_text(item.get("mes")),
        is_user=item.get("is_user") is True,
        is_hidden=item.get("is_system") is True,
        swipes=tuple(as_text(text) for text in as_list(item.get("swipes"))),
        swipe_index=swipe if isinstance(swipe, int) else 0,
        sent_at=sent if isinstance(sent, str | int | float) else None,
    )


def _context(body: Mapping[str, JsonValue], settings: JsonObject) -> Context:
    zone = _zone(as_text(body.get("timezone"), "UTC"))
    stamp = body.get("now")
    moment = read_stamp(stamp, zone) if isinstance(stamp, str | int | float) else None
    now = (moment or FIXED_NOW).astimezone(zone)
    fixed = settings.get("random_source")

    def clock() -> datetime:
        return now

    if isinstance(fixed, int | float):
        number = to_float(fixed)
        return Context(clock=clock, random=lambda: number)
    return Context(clock=clock, random=random.Random(0).random)


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        message = f"scenario: there is no time zone {name!r}; use a name such as 'Europe/Berlin'"
        raise UnreadableInput(message) from None


def _settings(preset: JsonObject, settings: JsonObject) -> JsonObject:
    user = as_object(settings.get("power_user"))
    return {
        "max_context": preset.get("openai_max_context", 4095),
        "max_response": preset.get("openai_max_tokens", 300),
        "model": settings.get("model", _MODEL),
        "input_text": settings.get("input_text", ""),
        "prefer_character_prompt": user.get("prefer_character_prompt", True),
        "prefer_character_jailbreak": user.get("prefer_character_jailbreak", True),
    }
