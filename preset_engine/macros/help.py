"""The macro list for people: what `docs/macros.md` and `preset-engine expand --list` print."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from preset_engine.macros.engine import Engine
from preset_engine.macros.registry import Macro, MacroRegistry, default_registry
from preset_engine.messages import JsonObject

_TITLES = {
    "names": "Names",
    "card": "Card and persona",
    "chat": "Chat",
    "clock": "Time",
    "chance": "Chance",
    "variables": "Variables",
    "flow": "Conditions, comments, trimming",
    "words": "Texts",
    "state": "Generation",
    "templates": "Templates and bundled extensions",
    "foreign": "Other people's extensions",
    "user": "Registered by the application",
}


def macros_of(engine: Engine | None = None, registry: MacroRegistry | None = None) -> list[Macro]:
    """The macros of an engine (of any, without one), in the order of their subjects."""
    every = list(registry or default_registry())
    return [macro for macro in every if engine is None or macro.names(engine)]


def describe(macro: Macro, engine: Engine | None = None) -> JsonObject:
    """A macro as a JSON object: names, form, arguments, meaning, example, volatility, engines."""
    names = macro.names(engine) if engine is not None else (macro.name, *macro.aliases)
    return {
        "name": names[0],
        "aliases": list(names[1:]),
        "form": macro.form,
        "arguments": [
            {
                "name": parameter.name,
                "meaning": parameter.meaning,
                "optional": parameter.is_optional,
                "integer": parameter.is_integer,
            }
            for parameter in macro.parameters
        ],
        "list": macro.takes_list,
        "meaning": macro.meaning,
        "example": macro.example,
        "volatility": macro.volatility.value,
        "engines": [each.value for each in Engine if macro.names(each)],
        "subject": macro.subject,
        "owner": macro.owner,
    }


def macro_tables(registry: MacroRegistry | None = None) -> str:
    """The list in Markdown, one table a subject."""
    return "\n".join(_lines(list(registry or default_registry()))) + "\n"


def _lines(macros: list[Macro]) -> Iterator[str]:
    for subject, group in groupby(macros, key=lambda macro: macro.subject):
        yield f"### {_TITLES.get(subject, subject)}"
        yield ""
        yield "| macro | other names | meaning | example | changes by | engines |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for macro in group:
            cells = (
                _code(macro.form),
                ", ".join(_code(alias) for alias in macro.aliases),
                _cell(macro.meaning + _arguments(macro)),
                _code(macro.example),
                macro.volatility.value,
                _engines(macro),
            )
            yield "| " + " | ".join(cells) + " |"
        yield ""


def _arguments(macro: Macro) -> str:
    told = [f"{item.name}: {item.meaning}" for item in macro.parameters]
    return f" ({'; '.join(told)})" if told else ""


def _engines(macro: Macro) -> str:
    shown = []
    for engine in Engine:
        names = macro.names(engine)
        if names:
            only = engine is Engine.legacy and macro.legacy_names
            shown.append(
                f"{engine} ({', '.join(_code(name) for name in names)})" if only else engine
            )
    return ", ".join(shown)


def _code(text: str) -> str:
    return f"`{_cell(text)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "⏎")
