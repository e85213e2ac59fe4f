"""SillyTavern chat-completion presets in, exact messages out, every piece explained.

The names below are the promise of the package; each is loaded when it is first asked for, so that
`import preset_engine` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # type checkers see the names where they live
    from preset_engine.compile.turn import CompiledTurn, compile_turn
    from preset_engine.content.content import Block, Content, Persona
    from preset_engine.context import Context
    from preset_engine.dialect import Dialect
    from preset_engine.errors import Note, PresetEngineError
    from preset_engine.macros.expand import expand
    from preset_engine.macros.registry import MacroRegistry, register_macro
    from preset_engine.messages import ChatMessage
    from preset_engine.preset.importer import Imported, load_preset
    from preset_engine.preset.model import Preset
    from preset_engine.session.agent import Agent
    from preset_engine.session.session import Session
    from preset_engine.storage.open import open_storage

_HOMES = {
    "Agent": "session.agent",
    "Block": "content.content",
    "ChatMessage": "messages",
    "CompiledTurn": "compile.turn",
    "Content": "content.content",
    "Context": "context",
    "Dialect": "dialect",
    "Imported": "preset.importer",
    "MacroRegistry": "macros.registry",
    "Note": "errors",
    "Persona": "content.content",
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
    "Block",
    "ChatMessage",
    "CompiledTurn",
    "Content",
    "Context",
    "Dialect",
    "Imported",
    "MacroRegistry",
    "Note",
    "Persona",
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
