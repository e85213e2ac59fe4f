"""Generation parameters: from the file's names to the native ones, and to what one model takes.

Two directions (seeds reference 3.12): `read_generation` and `normalize_generation` read what a file says, with
texts as numbers and wrong kinds left out; `request_sampling` gives the fields that are sent to a chat endpoint
for a model, since reasoning models take none and newer ones name the output limit differently.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields, replace

from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.model import Generation
from preset_engine.preset.notebook import Notebook, shown

DEFAULT_TEMPERATURE = 0.2
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

NATIVE_NAMES: dict[str, str] = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "topA": "top_a",
    "minP": "min_p",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    "repetitionPenalty": "repetition_penalty",
    "maxContextTokens": "max_context_tokens",
    "maxOutputTokens": "max_output_tokens",
    "stream": "stream",
    "verbosity": "verbosity",
    "seed": "seed",
    "variants": "variants",
}
"""Native key to the attribute of `Generation`. The effort is not among them: presets no longer decide it."""

SILLYTAVERN_NAMES: dict[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "top_a": "top_a",
    "min_p": "min_p",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "repetition_penalty": "repetition_penalty",
    "openai_max_context": "max_context_tokens",
    "openai_max_tokens": "max_output_tokens",
    "stream_openai": "stream",
    "verbosity": "verbosity",
    "seed": "seed",
    "n": "variants",
}
"""SillyTavern key to the attribute of `Generation`."""

OLD_NAMES: dict[str, str] = {
    "temp_openai": "temperature",
    "top_p_openai": "top_p",
    "top_k_openai": "top_k",
    "freq_pen_openai": "frequency_penalty",
    "pres_pen_openai": "presence_penalty",
}
"""Names of settings files before the presets; read where the present name is missing."""

_WHOLE = frozenset(("max_context_tokens", "max_output_tokens", "seed", "variants"))
_WORDS = frozenset(("verbosity",))
_RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "top_a": (0, 1),
    "min_p": (0, 1),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
    "top_k": (0, math.inf),
    "max_context_tokens": (1, math.inf),
    "max_output_tokens": (1, math.inf),
    "variants": (1, math.inf),
}


def read_generation(document: Mapping[str, JsonValue], notes: Notebook) -> Generation:
    """The parameters of a SillyTavern document under native names; what is odd becomes a note."""
    values: dict[str, JsonValue] = {}
    for key, attribute in (*SILLYTAVERN_NAMES.items(), *OLD_NAMES.items()):
        if key not in document or attribute in values:
            continue
        path = f"$.{key}"
        if key in OLD_NAMES:
            notes.add(
                "parameter-old-name", f"{key} is an old name; it is read as {attribute}", path
            )
        values[attribute] = _noted(attribute, key, document[key], notes, path)
    if document.get("reasoning_effort") not in (None, "", "auto"):
        notes.add(
            "effort-not-read",
            "reasoning_effort is kept but not read: the effort is the caller's choice",
            "$.reasoning_effort",
        )
    if not values:
        notes.add(
            "parameters-missing",
            "the file has no generation parameters; the model's defaults apply",
        )
    return _generation(values)


def normalize_generation(value: JsonValue) -> Generation:
    """The parameters of a native `generation` object of any shape: texts become numbers, blanks vanish."""
    if not isinstance(value, dict):
        return Generation()
    values = {
        attribute: _read(attribute, value[key])
        for key, attribute in NATIVE_NAMES.items()
        if key in value
    }
    return _generation(values)


def generation_to_json(generation: Generation) -> JsonObject:
    """The parameters that are set, under native names, in the order of the format."""
    return {
        key: value
        for key, attribute in NATIVE_NAMES.items()
        if (value := getattr(generation, attribute)) is not None
    }


def merge_generation(base: Generation, change: Generation) -> Generation:
    """`base` with every value that `change` sets."""
    changed = {
        field.name: value
        for field in fields(change)
        if (value := getattr(change, field.name)) is not None
    }
    return replace(base, **changed)


def _generation(values: Mapping[str, JsonValue]) -> Generation:
    kept = {key: value for key, value in values.items() if value is not None}
    return Generation(**kept)  # type: ignore[arg-type]  # _read gives each attribute its own type


def _read(attribute: str, value: JsonValue) -> JsonValue:
    """A value in the attribute's type; None when it says nothing."""
    if attribute == "stream":
        return value if isinstance(value, bool) else None
    if attribute in _WORDS:
        return (value.strip() or None) if isinstance(value, str) else None
    number = _number(value)
    if number is None:
        return None
    if attribute in _WHOLE:
        return int(number)
    return number


def _number(value: JsonValue) -> int | float | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        text = value.strip()
        try:
            value = int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else float(text)
        except ValueError:
            return None
    if isinstance(value, int):
        return value if abs(value) < 10**20 else None
    if not isinstance(value, float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def _noted(attribute: str, key: str, value: JsonValue, notes: Notebook, path: str) -> JsonValue:
    if value is None:
        notes.add("parameter-null", f"{key} is null; it is read as not set", path)
        return None
    if isinstance(value, str) and attribute not in _WORDS:
        return _noted_text(attribute, key, value, notes, path)
    read = _read(attribute, value)
    if _is_negative_seed(attribute, read):
        notes.add("seed-unset", f"{key} is {shown(value)}, which means no fixed seed", path)
        return None
    if read is None and value != "":
        notes.add(
            "parameter-unreadable",
            f"{key} is {shown(value)} and cannot be read; it is not set",
            path,
        )
        return None
    if isinstance(value, bool) and attribute != "stream":
        notes.add("parameter-text", f"{key} is {shown(value)}; it is read as {read}", path)
    _note_range(attribute, key, read, notes, path)
    if isinstance(value, float) and isinstance(read, int) and attribute in _WHOLE:
        notes.add("parameter-not-whole", f"{key} is {shown(value)}; it is read as {read}", path)
    return read


def _noted_text(attribute: str, key: str, value: str, notes: Notebook, path: str) -> JsonValue:
    text = value.strip()
    if not text:
        notes.add("parameter-empty", f"{key} is an empty text; it is read as not set", path)
        return None
    read = _read(attribute, re.sub(r"^([+-]?\d+),(\d+)$", r"\1.\2", text))
    if read is None:
        notes.add("parameter-unreadable", f"{key} is a text and no number; it is not set", path)
        return None
    if _is_negative_seed(attribute, read):
        notes.add("seed-unset", f"{key} is {shown(text)}, which means no fixed seed", path)
        return None
    notes.add("parameter-text", f"{key} is the text {shown(text)}; it is read as {read}", path)
    _note_range(attribute, key, read, notes, path)
    return read


def _is_negative_seed(attribute: str, value: JsonValue) -> bool:
    return attribute == "seed" and isinstance(value, (int, float)) and value < 0


def _note_range(attribute: str, key: str, value: JsonValue, notes: Notebook, path: str) -> None:
    if attribute not in _RANGES or not isinstance(value, (int, float)):
        return
    low, high = _RANGES[attribute]
    if attribute == "top_k" and value == -1:
        notes.add("parameter-off", f"{key} is -1, which means off", path)
    elif not low <= value <= high:
        notes.add(
            "parameter-range",
            f"{key} is {value}, outside {low} to {high}; most models refuse it",
            path,
        )


def effort_to_send(value: JsonValue) -> str | None:
    """The reasoning effort that goes into a request: "min" means minimal; auto and unknown words send none."""
    if not isinstance(value, str):
        return None
    word = value.strip().lower()
    if word == "min":
        return "minimal"
    return word if word in EFFORTS else None


def takes_sampling(model: str) -> bool:
    """Whether a model takes temperature and its kin; reasoning models do not."""
    name = _bare(model)
    if re.match(r"gpt-5", name):
        return "chat" in name
    return not re.match(r"o[134]|kimi-k2\.5|deepseek-reasoner|grok-3-mini", name)


def request_sampling(model: str, generation: Generation) -> JsonObject:
    """The sampling fields of a chat request for a model (without effort and verbosity).

    A missing temperature is 0.2; `top_p` goes out above 0 only; `top_k`, `min_p` and the repetition penalty never
    do, since plain chat endpoints refuse them.
    """
    body: JsonObject = {}
    if takes_sampling(model):
        given = generation.temperature
        body["temperature"] = DEFAULT_TEMPERATURE if given is None else given
        if generation.top_p is not None and generation.top_p > 0:
            body["top_p"] = generation.top_p
        if generation.frequency_penalty is not None:
            body["frequency_penalty"] = generation.frequency_penalty
        if generation.presence_penalty is not None:
            body["presence_penalty"] = generation.presence_penalty
    if generation.max_output_tokens is not None and generation.max_output_tokens > 0:
        body[_limit_name(model)] = generation.max_output_tokens
    if generation.seed is not None and generation.seed >= 0:
        body["seed"] = generation.seed
    return body


def request_extras(model: str, generation: Generation) -> JsonObject:
    """Effort and verbosity of a chat request: verbosity for gpt-5 only."""
    body: JsonObject = {}
    effort = effort_to_send(generation.reasoning_effort)
    if effort is not None:
        body["reasoning_effort"] = effort
    if generation.verbosity and _bare(model).startswith("gpt-5"):
        body["verbosity"] = generation.verbosity
    return body


def _limit_name(model: str) -> str:
    name = _bare(model)
    is_new = re.match(r"o\d|gpt-5", name) is not None
    return "max_completion_tokens" if is_new else "max_tokens"


def _bare(model: str) -> str:
    """The model's name without the vendor in front."""
    return model.strip().lower().rsplit("/", 1)[-1]
