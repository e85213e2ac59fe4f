"""Everything that is not a function of the input: clock, random source, ids, tokens, patterns.

The engine from importer to messages asks nothing of the machine. What it needs from outside comes in
through one frozen `Context`, so equal inputs give equal bytes in any process. The default context is
fixed on purpose (a clock that stands still, a seeded random source); `settings.live_context()` gives the
one that applications use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Protocol

from preset_engine.tokens import Estimate, TokenCounter

FIXED_NOW = datetime(2000, 1, 1, tzinfo=UTC)


class PatternMatcher(Protocol):
    """Runs ECMAScript regular expressions within a time limit.

    Both methods raise `ValueError` for a pattern that is no ECMAScript and `TimeoutError` for one that
    did not end within the matcher's limit; callers turn both into notes.
    """

    def test(self, pattern: str, flags: str, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        ...

    def find_all(self, pattern: str, flags: str, text: str) -> list[PatternMatch]:
        """All matches from left to right (only the first without the flag `g`)."""
        ...


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """One match: where it is and what its groups hold.

    Attributes:
        start: first character, in Python characters.
        end: first character behind the match.
        groups: texts of the numbered groups from 1 on; None where a group took no part.
        named: texts of the named groups.
    """

    start: int
    end: int
    groups: tuple[str | None, ...] = ()
    named: tuple[tuple[str, str | None], ...] = ()


def _fixed_clock() -> datetime:
    return FIXED_NOW


@dataclass(frozen=True, slots=True)
class Context:
    """What the outside world tells the engine.

    Attributes:
        clock: the present time, aware; its zone is the user's zone.
        random: a source of numbers in [0, 1), or None for a new one seeded with `seed` each assembly.
        seed: seed of that source.
        new_id: makes identifiers for things that have none.
        tokens: counts the tokens of a text.
        patterns: runs regular expressions; None where nothing needs one.
        locale: for humanised dates; only English is built in.
    """

    clock: Callable[[], datetime] = _fixed_clock
    random: Callable[[], float] | None = None
    seed: int = 0
    new_id: Callable[[], str] | None = None
    tokens: TokenCounter = field(default_factory=Estimate)
    patterns: PatternMatcher | None = None
    locale: str = "en"

    def draws(self) -> Callable[[], float]:
        """The random source of one assembly: the given one, or a new seeded one."""
        return self.random if self.random is not None else Random(self.seed).random
