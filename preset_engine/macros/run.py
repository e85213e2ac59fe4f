"""The state of an expansion: what one assembly collects, and what one call may cost.

`Ledger` lives as long as an assembly (one prompt): variables change in it, unknown macros are counted, the
random source goes on. `Run` is one call: its text, the values given for it, the card fields it has read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from preset_engine.errors import ExpansionTooLarge, MacroTooDeep, Note
from preset_engine.macros.engine import Engine
from preset_engine.macros.hashing import cyrb53
from preset_engine.macros.limits import Limits
from preset_engine.macros.registry import Handler, Macro, MacroRegistry, Volatility
from preset_engine.macros.variables import Store
from preset_engine.macros.view import MacroView

Resolver = Callable[["Run", str, int], str]


@dataclass(slots=True)
class Unknown:
    """A name that is no macro: how it was written first, how often, and where first."""

    name: str
    count: int
    place: str


class Plain(NamedTuple):
    """What a call without arguments needs: the function, and whether its result is volatile."""

    handler: Handler
    is_volatile: bool


@dataclass(slots=True)
class Ledger:
    """What one assembly knows and collects.

    Attributes:
        view: what macros may read.
        engine: which rules expand.
        registry: the macros.
        limits: bounds of each call.
        draw: the random source.
        unknown: names that are no macros, by lower-case name.
        notes: remarks of the native dialect.
        tainted: variables whose value may differ on the next turn (store name and variable name).
        settled: variables set during this assembly to something that does not.
    """

    view: MacroView
    engine: Engine
    registry: MacroRegistry
    limits: Limits
    draw: Callable[[], float]
    unknown: dict[str, Unknown] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    tainted: set[tuple[str, str]] = field(default_factory=set)
    settled: set[tuple[str, str]] = field(default_factory=set)
    _plain: dict[str, Plain | None] = field(default_factory=dict)
    _found: dict[str, Macro | None] = field(default_factory=dict)

    def find(self, name: str) -> Macro | None:
        """The macro of this name under this engine; remembered by name."""
        if name not in self._found:
            self._found[name] = self.registry.find(name, self.engine)
        return self._found[name]

    def plain(self, name: str) -> Plain | None:
        """The macro of this name if it can be called without arguments; remembered by name."""
        if name in self._plain:
            return self._plain[name]
        macro = self.find(name)
        found = None
        if macro is not None and macro.handler is not None and macro.accepts(0):
            found = Plain(macro.handler, self.is_volatile(macro))
        self._plain[name] = found
        return found

    def count_unknown(self, name: str, place: str) -> None:
        """One more use of a name that is no macro."""
        seen = self.unknown.setdefault(name.lower(), Unknown(name, 0, place))
        seen.count += 1

    def store(self, scope: str) -> Store:
        """The variables of a scope: `local` or `global`."""
        variables = self.view.variables
        return variables.shared if scope == "global" else variables.local

    def is_volatile(self, macro: Macro) -> bool:
        """Whether a macro's result may differ on the next turn under this engine."""
        if macro.volatility is Volatility.counter:
            return self.engine is not Engine.native
        return macro.volatility is not Volatility.never


@dataclass(slots=True)
class Cost:
    """What a call has used up so far; nested calls share it."""

    limits: Limits
    steps: int = 0
    work: int = 0
    depth: int = 0
    at: int = 0
    is_volatile: bool = False

    def charge(self, size: int) -> None:
        """Count one evaluated macro whose result has `size` characters.

        Raises:
            ExpansionTooLarge: steps, one result or all results together are over their limit.
        """
        self.steps += 1
        self.work += size
        limits = self.limits
        if size > limits.output_chars:
            raise ExpansionTooLarge(f"the text grows beyond {limits.output_chars} characters")
        if self.steps > limits.steps:
            raise ExpansionTooLarge(f"more than {limits.steps} macros are evaluated")
        if self.work > limits.work_chars:
            raise ExpansionTooLarge(f"macros produce more than {limits.work_chars} characters")

    def spend(self, work: int) -> None:
        """Count work that shows in no result: dice, lists taken apart.

        Raises:
            ExpansionTooLarge: all work together is over its limit.
        """
        self.work += work
        if self.work > self.limits.work_chars:
            message = f"macros work through more than {self.limits.work_chars} characters"
            raise ExpansionTooLarge(message)

    def enter(self) -> None:
        """One level down.

        Raises:
            MacroTooDeep: beyond the limit.
        """
        self.depth += 1
        if self.depth > self.limits.depth:
            raise MacroTooDeep(f"macros are nested more than {self.limits.depth} levels deep")

    def leave(self) -> None:
        """One level up."""
        self.depth -= 1


@dataclass(slots=True)
class Run:
    """One expansion.

    Attributes:
        ledger: the assembly it belongs to.
        source: the whole text as given; `pick` is seeded with its hash.
        resolve: expands a further text within this run, given the place it stands at.
        place: where the text comes from, for errors and counts.
        cost: what has been used up.
        extra: macros of this call only, lower-case name to value.
        original: what `{{original}}` stands for; None outside overrides and after its first use.
        has_original: whether it was given at all.
        has_card: card macros are filled; without them they are empty.
    """

    ledger: Ledger
    source: str
    resolve: Resolver
    place: str
    cost: Cost
    extra: Mapping[str, str] = field(default_factory=dict)
    original: str | None = None
    has_original: bool = False
    has_card: bool = True
    _fields: dict[str, str] = field(default_factory=dict)
    _hash: int | None = None

    def source_hash(self) -> int:
        """The 53-bit hash of the whole text."""
        if self._hash is None:
            self._hash = cyrb53(self.source)
        return self._hash

    def take_original(self) -> str:
        """The value of `{{original}}`, once; then empty."""
        value, self.original = self.original or "", None
        return value

    def card_text(self, name: str, raw: str) -> str:
        """A card field, expanded without card macros; the second reading in one call is the first."""
        if not self.has_card:
            return ""
        held = self._fields.get(name)
        if held is None:
            held = self._fields[name] = self.aside(raw)
        return held

    def aside(self, text: str) -> str:
        """A text expanded as a whole of its own, without card macros, at this call's cost."""
        if not text:
            return ""
        inner = Run(self.ledger, text, self.resolve, self.place, self.cost, has_card=False)
        return self.resolve(inner, text, 0)
