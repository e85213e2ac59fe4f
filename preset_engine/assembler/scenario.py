"""A scenario, the one-document form of everything a turn needs, read into values.

The format is that of the captured scenarios: `inputs` (preset, card, persona, chat, typed text, settings),
`macro_engine`, `now`, `timezone`; `dialect` is ours. Reading is pure: no file is opened here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from preset_engine.content.content import Content, Persona
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.errors import UnreadableInput
from preset_engine.history.chat_file import read_record
from preset_engine.json_values import as_object, as_objects
from preset_engine.macros.js_numbers import to_float
from preset_engine.messages import ChatMessage, ChatRecord, JsonObject, JsonValue

CHAT_HASH = 20250314
_MODEL = "golden-model"
_SENT_AT = "2025-03-14T09:00:00.000Z"  # of saved messages that carry no date


@dataclass(frozen=True, slots=True)
class Scenario:
    """One turn's inputs.

    Attributes:
        name: the scenario's name, for the answer.
        preset: the preset's JSON.
        content: what fills it.
        dialect: whose rules hold.
        clock: the frozen present, or None for the context's own.
        random: what every random draw returns, or None.
    """

    name: str
    preset: JsonObject | None
    content: Content
    dialect: Dialect
    clock: datetime | None
    random: float | None

    def context(self, live: Context) -> Context:
        """A context with the scenario's clock and random number."""
        changes: dict[str, object] = {}
        if self.clock is not None:
            clock = self.clock
            changes["clock"] = lambda: clock
        if self.random is not None:
            drawn = self.random
            changes["random"] = lambda: drawn
        return replace(live, **changes)  # type: ignore[arg-type]  # names and types match the fields


def read_scenario(body: JsonValue) -> Scenario:
    """Read one scenario.

    Raises:
        UnreadableInput: it is no object, or a part of it has another form.
        InputRefused: there is no such dialect.
    """
    if not isinstance(body, dict):
        raise UnreadableInput("a scenario is a JSON object with `inputs`; this is something else")
    inputs = body.get("inputs")
    if not isinstance(inputs, dict):
        raise UnreadableInput("the scenario has no `inputs` object")
    preset, dialect = inputs.get("preset"), body.get("dialect")
    settings = _settings(body, inputs)
    drawn = settings.get("random_source")
    return Scenario(
        name=str(body.get("name") or ""),
        preset=preset if isinstance(preset, dict) else None,
        content=_content(inputs, settings),
        dialect=Dialect.sillytavern if dialect is None else Dialect.read(str(dialect)),
        clock=_clock(body.get("now"), body.get("timezone")),
        random=to_float(drawn) if isinstance(drawn, int | float) else None,
    )


def _settings(body: JsonObject, inputs: JsonObject) -> JsonObject:
    settings: JsonObject = {
        "model": _MODEL,
        "chat_hash": CHAT_HASH,
        "custom_prompt_post_processing": "",
        **as_object(inputs.get("settings")),
        "macro_engine": body.get("macro_engine") or "new",
    }
    if isinstance(inputs.get("group"), dict):
        settings["group"] = inputs["group"]
    return settings


def _content(inputs: JsonObject, settings: JsonObject) -> Content:
    metadata = as_object(settings.get("chat_metadata"))
    card, persona = inputs.get("card"), inputs.get("persona")
    return Content(
        history=_history(inputs.get("chat")),
        turn=str(inputs.get("user_message") or ""),
        persona=Persona.from_json(persona) if isinstance(persona, dict) else None,
        card=card if isinstance(card, dict) else None,
        world_books=as_objects(inputs.get("world_books")),
        regex_scripts=as_objects(settings.get("regex_scripts")),
        variables=as_object(metadata.get("variables")),
        global_variables=as_object(settings.get("global_variables")),
        generation_type=str(settings.get("generation_type") or "normal"),
        settings=settings,
    )


def _history(chat: JsonValue) -> tuple[ChatMessage, ...] | tuple[ChatRecord, ...]:
    lines = as_objects(chat)
    if lines and all("role" in line and "mes" not in line for line in lines):
        return tuple(ChatMessage.from_json(line) for line in lines)
    return tuple(read_record({"send_date": _SENT_AT, **line}) for line in lines)


def _clock(now: JsonValue, zone: JsonValue) -> datetime | None:
    if not isinstance(now, str) or not now:
        return None
    try:
        time = datetime.fromisoformat(now)
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        return time.astimezone(ZoneInfo(str(zone))) if zone else time
    except (ValueError, ZoneInfoNotFoundError, OSError) as error:
        message = f"`now` or `timezone` cannot be read: {error}"
        raise UnreadableInput(message) from None
