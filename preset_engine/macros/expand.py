"""`Expander`: the door to the macro language; one object an assembly.

    expander = Expander(view, engine=Engine.new)
    expander.expand("Hello {{user}}", place="$.prompts[3]")

Texts of one assembly go through one expander, in the order in which they are said: variables set by one are
seen by the next, unknown macros are counted once. A text without braces, old tags or escapes costs one
scan and comes back as the same object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from preset_engine.errors import MacroError, Note, Weight
from preset_engine.macros import evaluate, legacy, native, steps
from preset_engine.macros.engine import Engine
from preset_engine.macros.limits import DEFAULT_LIMITS, Limits
from preset_engine.macros.registry import MacroRegistry, default_registry
from preset_engine.macros.run import Cost, Ledger, Run, Unknown
from preset_engine.macros.view import MacroView

_RESOLVERS = {
    Engine.new: evaluate.resolve,
    Engine.legacy: legacy.resolve,
    Engine.native: native.resolve,
}
_NO_EXTRA: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Expansion:
    """An expanded text, and whether it may differ on the next turn of the same chat."""

    text: str
    volatile: bool = False


class Expander:
    """Expands the texts of one assembly.

    Attributes:
        last_volatile: whether the text expanded last evaluated something volatile (clock, chance, the
            newest message, counters, variables that hold such values).
    """

    def __init__(
        self,
        view: MacroView,
        *,
        engine: Engine = Engine.new,
        registry: MacroRegistry | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.last_volatile = False
        self._ledger = Ledger(
            view, engine, registry or default_registry(), limits, view.context.draws()
        )
        self._resolve = _RESOLVERS[engine]
        self._always_runs = engine is Engine.legacy and legacy.card_has_effects(view)

    @property
    def engine(self) -> Engine:
        """The rules in use."""
        return self._ledger.engine

    @property
    def view(self) -> MacroView:
        """What macros read; its variables change."""
        return self._ledger.view

    @property
    def unknown(self) -> dict[str, Unknown]:
        """Names that are no macros, by lower-case name, with count and first place."""
        return self._ledger.unknown

    def expand(
        self,
        text: str,
        *,
        place: str = "",
        original: str | None = None,
        extra: Mapping[str, str] | None = None,
        card_macros: bool = True,
    ) -> str:
        """The text with its macros replaced.

        Args:
            text: the text as its author wrote it.
            place: where it comes from, for errors and counts (`$.prompts[3]`).
            original: what `{{original}}` stands for, once.
            extra: macros of this call only.
            card_macros: fill card fields; without them they are empty (legacy: stay as text).

        Raises:
            ExpansionTooLarge: the result, a variable or the number of steps outgrew its limit.
            MacroTooDeep: macros are nested beyond the limit.
        """
        self.last_volatile = False
        if not (self._always_runs and card_macros) and not has_macros(text, self.engine):
            return text
        values = {name.lower(): value for name, value in extra.items()} if extra else _NO_EXTRA
        run = Run(
            self._ledger,
            text,
            self._resolve,
            place,
            Cost(self._ledger.limits),
            values,
            original,
            original is not None,
            card_macros,
        )
        try:
            result = self._resolve(run, text, 0)
        except MacroError as error:
            return self._refuse(error, run)
        self.last_volatile = run.cost.is_volatile
        return result

    def expand_traced(
        self,
        text: str,
        *,
        place: str = "",
        original: str | None = None,
        extra: Mapping[str, str] | None = None,
        card_macros: bool = True,
    ) -> Expansion:
        """As `expand`, with the word whether the result is volatile."""
        value = self.expand(
            text, place=place, original=original, extra=extra, card_macros=card_macros
        )
        return Expansion(value, self.last_volatile)

    def notes(self) -> tuple[Note, ...]:
        """What a reader should know: macros left as text, one note a name, and limits met."""
        found = [_unknown_note(item, self._ledger.registry) for item in self.unknown.values()]
        return (*found, *self._ledger.notes)

    def _refuse(self, error: MacroError, run: Run) -> str:
        where = run.place or "text"
        message = f"{where}, character {run.cost.at}: {error}; shorten the macro or raise the limit"
        if self.engine is not Engine.native:
            raise type(error)(message) from None
        advice = (
            "The text was kept as written. Look for variables or macros that contain themselves."
        )
        self._ledger.notes.append(Note("macro-limit", message, run.place, advice))
        return run.source


def has_macros(text: str, engine: Engine) -> bool:
    """Whether expansion could change the text; one scan for texts without any sign of a macro."""
    if "{{" in text:
        return True
    match engine:
        case Engine.new:
            is_tagged = "<" in text and steps.TAG.search(text) is not None
            return is_tagged or _has_escapes(text) or steps.ELSE_MARK in text
        case Engine.legacy:
            return "<" in text and steps.TAG.search(text) is not None
        case Engine.native:
            return _has_escapes(text) or native.has_directives(text)


def _has_escapes(text: str) -> bool:
    return "\\" in text and steps.ESCAPED.search(text) is not None


def _unknown_note(item: Unknown, registry: MacroRegistry) -> Note:
    macro = registry.find(item.name)
    shown = re.sub(r"\s+", " ", item.name)[:60]
    if macro is not None and macro.owner:
        message = f"macro {{{{{shown}}}}} is supplied by {macro.owner} and stays as text"
    else:
        message = f"{{{{{shown}}}}} is no macro here and stays as text"
    return Note("unknown-macro", message, item.place, weight=Weight.INFO, count=item.count)


def expand(
    text: str,
    view: MacroView | None = None,
    *,
    engine: Engine = Engine.new,
    user: str | None = None,
    char: str | None = None,
) -> str:
    """Expand one text: `expand("Hi {{user}}", user="Noa")`.

    Args:
        text: the text.
        view: what macros may read; defaults to an empty one.
        engine: which rules.
        user: the user's name in place of the view's.
        char: the character's name in place of the view's.
    """
    view = view or MacroView()
    if user is not None:
        view = replace(view, user=user)
    if char is not None:
        view = replace(view, char=char)
    return Expander(view, engine=engine).expand(text)
