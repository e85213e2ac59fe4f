"""The registry: every macro with its names, arguments, meaning, example and volatility.

Built-in macros register when the package is first used; users add their own::

    @register_macro("weather", meaning="Today's weather.", example="{{weather}}", volatile=True)
    def weather(call: Invocation) -> str:
        return "rain"

`docs/macros.md` and `preset-engine expand --list` are printed from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from preset_engine.errors import MacroError, MacroNameTaken
from preset_engine.macros.engine import Engine

if TYPE_CHECKING:
    from preset_engine.macros.invocation import Invocation

Handler: TypeAlias = "Callable[[Invocation], str]"

_NAME = re.compile(r"[a-zA-Z][A-Za-z0-9_-]*")
_SUBJECTS = (
    "names", "card", "chat", "clock", "chance", "variables", "flow", "words", "state", "templates", "foreign",
)  # fmt: skip


class Volatility(StrEnum):
    """Why a macro's result may differ on the next turn of the same chat."""

    never = "never"
    clock = "clock"
    chance = "chance"
    chat = "chat"
    counter = "counter"
    user = "user"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One positional argument: its name, what it means, whether it may be left out or must be whole."""

    name: str
    meaning: str
    is_optional: bool = False
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro's definition.

    Attributes:
        name: as printed; matched without regard to case.
        meaning: one sentence.
        example: a use.
        handler: computes the text; None where only an extension of SillyTavern could.
        parameters: positional arguments, optional ones last.
        aliases: further names.
        takes_list: any number of arguments.
        volatility: why the result may change from turn to turn.
        engines: where it exists.
        subject: the group it is printed under.
        is_delayed: gets its arguments unexpanded (`if`).
        hides_arguments: what its arguments hold never shows in its result (`setvar`).
        owner: the extension that supplies it, for macros this engine cannot answer.
        legacy_names: its names in the legacy engine, where those are fewer.
        least: arguments it needs at least.
        has_integers: one of its arguments must be a whole number.
    """

    name: str
    meaning: str
    example: str
    handler: Handler | None
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    takes_list: bool = False
    volatility: Volatility = Volatility.never
    engines: frozenset[Engine] = frozenset({Engine.new, Engine.legacy})
    subject: str = "user"
    is_delayed: bool = False
    hides_arguments: bool = False
    owner: str = ""
    legacy_names: tuple[str, ...] = ()
    least: int = field(init=False)
    has_integers: bool = field(init=False)

    def __post_init__(self) -> None:
        least = sum(not parameter.is_optional for parameter in self.parameters)
        object.__setattr__(self, "least", least)
        has_integers = any(parameter.is_integer for parameter in self.parameters)
        object.__setattr__(self, "has_integers", has_integers)

    def names(self, engine: Engine) -> tuple[str, ...]:
        """All names under an engine; none where it does not exist."""
        if engine not in self.engines:
            return ()
        every = (self.name, *self.aliases)
        return self.legacy_names or every if engine is Engine.legacy else every

    def accepts(self, count: int) -> bool:
        """Whether this number of arguments is right."""
        return self.least <= count and (self.takes_list or count <= len(self.parameters))

    def takes_block(self, count: int) -> bool:
        """Whether a block may stand for one more argument."""
        return not self.takes_list and self.accepts(count + 1)

    @property
    def form(self) -> str:
        """How it is written: `{{setvar::name::value}}`."""
        parts = [f"{item.name}?" if item.is_optional else item.name for item in self.parameters]
        parts += ["item", "item", "…"] if self.takes_list else []
        head = "// " if self.name == "//" else self.name
        return "{{" + (head + "".join(parts) if head == "// " else "::".join([head, *parts])) + "}}"


@dataclass(slots=True)
class MacroRegistry:
    """Macros by name. `default_registry()` holds the built-in ones; `copy` it to add some for one use only."""

    _macros: dict[str, Macro] = field(default_factory=dict)
    _by_name: dict[str, Macro] = field(default_factory=dict)

    def add(self, macro: Macro) -> None:
        """Register a macro.

        Raises:
            MacroNameTaken: the name or an alias is in use.
            MacroError: a name cannot be written inside braces.
        """
        names = [macro.name, *macro.aliases]
        for name in names:
            if name != "//" and not _NAME.fullmatch(name):
                message = (
                    f"macro name {name!r} is no letter followed by letters, digits, '_' or '-'"
                )
                raise MacroError(message)
            if name.lower() in self._by_name:
                taken = self._by_name[name.lower()].name
                message = f"macro {name!r} is in use by {taken!r}; choose another name"
                raise MacroNameTaken(message)
        self._macros[macro.name] = macro
        self._by_name.update((name.lower(), macro) for name in names)

    def remove(self, name: str) -> None:
        """Forget a macro and its aliases; unknown names are ignored."""
        macro = self._by_name.get(name.lower())
        if macro is not None:
            del self._macros[macro.name]
            self._by_name = {key: held for key, held in self._by_name.items() if held is not macro}

    def find(self, name: str, engine: Engine | None = None) -> Macro | None:
        """The macro of this name or alias, in any engine or in the one given."""
        key = name.lower()
        macro = self._by_name.get(key)
        if macro is None or engine is None or (engine in macro.engines and not macro.legacy_names):
            return macro
        return macro if key in map(str.lower, macro.names(engine)) else None

    def copy(self) -> MacroRegistry:
        """A registry with the same macros that can change on its own."""
        return MacroRegistry(dict(self._macros), dict(self._by_name))

    def __iter__(self) -> Iterator[Macro]:
        return iter(self._macros.values())

    def macro(
        self,
        name: str,
        *,
        meaning: str,
        example: str = "",
        parameters: Iterable[Parameter] = (),
        aliases: Iterable[str] = (),
        takes_list: bool = False,
        volatile: bool = False,
        engines: Iterable[Engine] = tuple(Engine),
    ) -> Callable[[Handler], Handler]:
        """Decorator that registers a function as a macro; see `register_macro`."""

        def decorate(handler: Handler) -> Handler:
            self.add(
                Macro(
                    name=name,
                    meaning=meaning,
                    example=example or "{{" + name + "}}",
                    handler=handler,
                    parameters=tuple(parameters),
                    aliases=tuple(aliases),
                    takes_list=takes_list,
                    volatility=Volatility.user if volatile else Volatility.never,
                    engines=frozenset(engines),
                )
            )
            return handler

        return decorate


@cache
def default_registry() -> MacroRegistry:
    """The registry that holds the built-in macros and what `register_macro` adds."""
    registry = MacroRegistry()
    for subject in _SUBJECTS:
        for macro in import_module(f"preset_engine.macros.builtin.{subject}").MACROS:
            registry.add(macro)
    return registry


def register_macro(
    name: str,
    *,
    meaning: str,
    example: str = "",
    parameters: Iterable[Parameter] = (),
    aliases: Iterable[str] = (),
    takes_list: bool = False,
    volatile: bool = False,
) -> Callable[[Handler], Handler]:
    """Register a function as a macro of all three engines.

    The function gets an `Invocation` and returns text. In the legacy engine a macro has no arguments.

    Args:
        name: letters, digits, `_` and `-`, a letter first; case does not count.
        meaning: one sentence for the printed list.
        example: a use, for the printed list.
        parameters: positional arguments; a call with a wrong number stays as text.
        aliases: further names.
        takes_list: any number of arguments instead.
        volatile: the result may differ on the next turn; the cache tools ask.

    Raises:
        MacroNameTaken: the name or an alias is in use.
    """
    return default_registry().macro(
        name,
        meaning=meaning,
        example=example,
        parameters=parameters,
        aliases=aliases,
        takes_list=takes_list,
        volatile=volatile,
    )
