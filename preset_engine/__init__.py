"""SillyTavern chat-completion presets in, exact messages out, every piece explained.

The names below are the promise of the package; each is loaded when it is first asked for, so that
`import preset_engine` stays quick.
"""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "Agent": "session.agent",
    "ChatMessage": "messages",
    "CompiledTurn": "compile.turn",
    "Content": "content.content",
    "Context": "context",
    "Dialect": "dialect",
    "Imported": "preset.importer",
    "MacroRegistry": "macros.registry",
    "Note": "errors",
    "Preset": "preset.model",
    "PresetEngineError": "errors",
    "Session": "session.session",
    "compile_turn": "compile.turn",
    "expand": "macros.expand",
    "load_preset": "preset.importer",
    "open_storage": "storage.open",
    "register_macro": "macros.registry",
}

__all__ = [
    "Agent",
    "ChatMessage",
    "CompiledTurn",
    "Content",
    "Context",
    "Dialect",
    "Imported",
    "MacroRegistry",
    "Note",
    "Preset",
    "PresetEngineError",
    "Session",
    "compile_turn",
    "expand",
    "load_preset",
    "open_storage",
    "register_macro",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        message = f"module 'preset_engine' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"preset_engine.{home}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
