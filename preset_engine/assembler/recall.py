"""An expander that remembers: the same text in the same state gives the same result without being run again.

A preset's entries are expanded every turn, and most of them depend on names and on variables that the entries
before them have set. Such a text is remembered with the variables it read and wrote; when it comes again and
those it reads are what they were, its writes are done anew and its result is given. Texts that read the clock,
chance or the chat are never remembered, nor those that hold unknown macros (which are counted).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar, cast

from preset_engine.assembler.watched import WatchedVariables
from preset_engine.macros.engine import Engine
from preset_engine.macros.expand import Expander
from preset_engine.macros.view import MacroView

_VOICES = 8
_TEXTS = 4096
_LONGEST = 65_536
_WORKS = 64

_T = TypeVar("_T")

VariableKey: TypeAlias = "tuple[str, str]"


@dataclass(frozen=True, slots=True)
class _Read:
    """A variable that a text read: its value, and whether this assembly had settled it."""

    key: VariableKey
    value: object
    was_settled: bool


@dataclass(frozen=True, slots=True)
class Known:
    """What texts gave: the result of one, the variables they read from outside and those they left."""

    result: str
    reads: tuple[_Read, ...]
    writes: tuple[tuple[VariableKey, object], ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered for one set of names, card and settings.

    Attributes:
        texts: what a text gave, with card macros or without.
        works: what a larger piece of work gave that only expands texts, by its name and what it was given.
    """

    texts: dict[tuple[str, bool], Known] = field(default_factory=dict)
    works: dict[Hashable, tuple[Known, object]] = field(default_factory=dict)


_voices: dict[tuple[object, ...], Memory] = {}


class RecallingExpander(Expander):
    """An `Expander` over watched variables that remembers texts for the same names, card and settings.

    Args:
        view: what macros read.
        engine: which rules.
        standing: further macros of every call.
    """

    def __init__(
        self, view: MacroView, *, engine: Engine, standing: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(view, engine=engine)
        self._standing = standing or {}
        local, shared = view.variables.local, view.variables.shared
        self._stores: dict[str, WatchedVariables] | None = None
        self.memory = Memory()
        self._trail: list[Known] | None = None
        if (
            engine is not Engine.legacy
            and isinstance(local, WatchedVariables)
            and isinstance(shared, WatchedVariables)
        ):
            self._stores = {"local": local, "global": shared}
            self.memory = _memory_of(view, engine, self._standing)

    def expand(
        self,
        text: str,
        *,
        place: str = "",
        original: str | None = None,
        extra: Mapping[str, str] | None = None,
        card_macros: bool = True,
    ) -> str:
        """As `Expander.expand`; remembered where that is safe."""
        if self._stores is None or original is not None or extra or "{{" not in text:
            if "{{" in text:
                self._trail = None  # what it reads and writes is not followed
            given = {**self._standing, **extra} if extra else self._standing
            return super().expand(
                text, place=place, original=original, extra=given, card_macros=card_macros
            )
        known = self.memory.texts.get((text, card_macros))
        if known is not None and self.replay(known):
            self.last_volatile = False
            if self._trail is not None:
                self._trail.append(known)
            return known.result
        return self._run(text, place, card_macros=card_macros)

    def recall(self, key: Hashable, work: Callable[[], _T]) -> _T:
        """The result of a work that does nothing but expand texts; remembered where all of them are.

        Args:
            key: names the work, and holds all that it depends on beside names, card, settings and variables.
            work: gives an immutable value; it is not done where the variables it reads are what they were.
        """
        known = self.memory.works.get(key)
        if known is not None and self.replay(known[0]):
            if self._trail is not None:
                self._trail.append(known[0])
            return cast("_T", known[1])  # what `work` gave under this key
        outer, self._trail = self._trail, []
        result = work()
        effects = self.end_trail()
        if effects is not None:
            if len(self.memory.works) >= _WORKS:
                self.memory.works.clear()
            self.memory.works[key] = (effects, result)
        self._trail = None if outer is None or effects is None else [*outer, effects]
        return result

    def begin_trail(self) -> None:
        """From here on follow what the texts read and write."""
        self._trail = []

    def end_trail(self) -> Known | None:
        """What the texts since `begin_trail` read and wrote together; None when one cannot be remembered."""
        trail, self._trail = self._trail, None
        if trail is None or self._stores is None:
            return None
        reads: dict[VariableKey, _Read] = {}
        writes: dict[VariableKey, object] = {}
        for known in trail:
            for read in known.reads:
                if read.key not in writes:
                    reads.setdefault(read.key, read)
            writes.update(known.writes)
        return Known("", tuple(reads.values()), tuple(writes.items()))

    def replay(self, known: Known) -> bool:
        """Do the writes anew, if everything read is what it was; tells whether it is."""
        if self._stores is None or (known.reads and not self._holds(known)):
            return False
        if known.writes:
            self._write(known)
        return True

    def _run(self, text: str, place: str, *, card_macros: bool) -> str:
        stores, ledger = self._stores or {}, self._ledger
        for store in stores.values():
            store.watch()
        settled = set(ledger.settled)
        before = (sum(one.count for one in ledger.unknown.values()), len(ledger.notes))
        result = super().expand(text, place=place, extra=self._standing, card_macros=card_macros)
        after = (sum(one.count for one in ledger.unknown.values()), len(ledger.notes))
        trail, self._trail = self._trail, None
        if not self.last_volatile and before == after and len(text) <= _LONGEST:
            known = Known(result, tuple(self._reads(settled)), tuple(self._writes()))
            if all(key in ledger.settled for key, _ in known.writes):
                texts = self.memory.texts
                if len(texts) >= _TEXTS:
                    texts.clear()
                texts[text, card_macros] = known
                self._trail = None if trail is None else [*trail, known]
        return result

    def _reads(self, settled: set[VariableKey]) -> Iterable[_Read]:
        for scope, store in (self._stores or {}).items():
            for name, value in store.read.items():
                yield _Read((scope, name), value, (scope, name) in settled)

    def _writes(self) -> Iterable[tuple[VariableKey, object]]:
        for scope, store in (self._stores or {}).items():
            for name in sorted(store.written):
                yield (scope, name), store.peek(name)

    def _holds(self, known: Known) -> bool:
        """Whether everything the text reads is what it was."""
        stores, ledger = self._stores or {}, self._ledger
        for read in known.reads:
            scope, name = read.key
            value = stores[scope].peek(name)
            if value is not read.value and (
                type(value) is not type(read.value) or value != read.value
            ):
                return False
            if (read.key in ledger.settled) != read.was_settled or read.key in ledger.tainted:
                return False
        return True

    def _write(self, known: Known) -> None:
        stores, ledger = self._stores or {}, self._ledger
        for key, value in known.writes:
            scope, name = key
            if value is WatchedVariables.missing:
                stores[scope].pop(name, None)
            else:
                stores[scope].put(name, value)
            ledger.tainted.discard(key)
            ledger.settled.add(key)


def _memory_of(view: MacroView, engine: Engine, standing: Mapping[str, str]) -> Memory:
    """The memory for what a view says that is no variable, no chat and no clock."""
    key = (
        engine,
        view.user,
        view.char,
        view.persona,
        view.card,
        view.group,
        view.group_not_muted,
        view.chat_hash,
        repr(view.settings),
        tuple(sorted({**view.extra, **standing}.items())),
        view.context.locale,
    )
    memory = _voices.pop(key, None) or Memory()  # put back as the youngest
    _voices[key] = memory
    for old in tuple(_voices)[:-_VOICES]:
        _voices.pop(old, None)
    return memory
