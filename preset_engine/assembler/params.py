"""Generation parameters as SillyTavern's page posts them (`frontend`) and as the model gets them (`backend`).

Both are in the form of SillyTavern's OpenAI-compatible source ("custom"), since that is what the dialect is
measured by; a provider adapter makes its own request from `Preset.generation`.
"""

from __future__ import annotations

from preset_engine.assembler.scene import Scene
from preset_engine.json_values import as_text
from preset_engine.messages import JsonObject
from preset_engine.preset.model import Generation

_NO_VARIANTS = ("quiet", "impersonate", "continue")


def request_params(scene: Scene) -> dict[str, JsonObject]:
    """The two parameter sets of a turn."""
    generation = scene.preset.generation
    frontend: JsonObject = {
        "type": scene.generation_type,
        "model": as_text(scene.setting("model")),
        **_sampling(generation),
        "max_tokens": 300 if generation.max_output_tokens is None else generation.max_output_tokens,
        "stream": bool(generation.stream) and scene.generation_type != "quiet",
        "chat_completion_source": "custom",
        "user_name": scene.user,
        "char_name": scene.char,
        "group_names": list(scene.view.group),
        "custom_prompt_post_processing": as_text(scene.setting("custom_prompt_post_processing")),
    }
    backend: JsonObject = {
        key: frontend[key]
        for key in (
            "model",
            "temperature",
            "max_tokens",
            "stream",
            "presence_penalty",
            "frequency_penalty",
            "top_p",
        )
    }
    for key, value in _extras(generation, scene.generation_type).items():
        frontend[key] = backend[key] = value
    return {"frontend": frontend, "backend": backend}


def _sampling(generation: Generation) -> JsonObject:
    """Sampling values; SillyTavern's defaults where the preset has none."""
    return {
        "temperature": _whole(generation.temperature, 1),
        "frequency_penalty": _whole(generation.frequency_penalty, 0),
        "presence_penalty": _whole(generation.presence_penalty, 0),
        "top_p": _whole(generation.top_p, 1),
    }


def _extras(generation: Generation, generation_type: str) -> JsonObject:
    found: JsonObject = {}
    if generation.seed is not None and generation.seed >= 0:
        found["seed"] = generation.seed
    if generation.variants and generation.variants > 1 and generation_type not in _NO_VARIANTS:
        found["n"] = generation.variants
    return found


def _whole(value: float | None, default: int) -> int | float:
    """A number as JSON prints it: without a fraction where it has none."""
    if value is None:
        return default
    return int(value) if float(value).is_integer() else value
