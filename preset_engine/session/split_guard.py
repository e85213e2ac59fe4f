"""Whether a session may be forked yet: a minimum of turns, and a pause between two forks.

Turns are completed user turns. The defaults are Stello's: at least three turns, five turns between forks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from preset_engine.errors import SplitRefused


@dataclass(frozen=True, slots=True)
class SplitStrategy:
    """The limits; they may be changed while sessions run.

    Attributes:
        min_turns: turns a session must have before its first fork.
        cooldown_turns: turns between two forks of one session.
        is_off: every fork is allowed (for tests).
    """

    min_turns: int = 3
    cooldown_turns: int = 5
    is_off: bool = False


class SplitGuard:
    """Remembers at which turn each session was last forked and judges the next."""

    def __init__(self, strategy: SplitStrategy | None = None) -> None:
        self._strategy = strategy or SplitStrategy()
        self._last: dict[str, int] = {}

    @property
    def strategy(self) -> SplitStrategy:
        """The limits in force."""
        return self._strategy

    def update(
        self,
        *,
        min_turns: int | None = None,
        cooldown_turns: int | None = None,
        is_off: bool | None = None,
    ) -> None:
        """Change some limits; None leaves one as it is."""
        now = self._strategy
        self._strategy = replace(
            now,
            min_turns=now.min_turns if min_turns is None else min_turns,
            cooldown_turns=now.cooldown_turns if cooldown_turns is None else cooldown_turns,
            is_off=now.is_off if is_off is None else is_off,
        )

    def can_split(self, session_id: str, turns: int) -> bool:
        """Whether the session may be forked at this number of turns."""
        return self._reason(session_id, turns) is None

    def check(self, session_id: str, turns: int) -> None:
        """Refuse a fork that comes too early.

        Raises:
            SplitRefused: with what is missing.
        """
        reason = self._reason(session_id, turns)
        if reason is not None:
            raise SplitRefused(f"session {session_id!r} cannot be forked yet: {reason}")

    def record(self, session_id: str, turns: int) -> None:
        """Note that the session was forked at this number of turns."""
        self._last[session_id] = turns

    def forget(self, session_id: str) -> None:
        """Drop what is remembered of a session that takes no more forks."""
        self._last.pop(session_id, None)

    def _reason(self, session_id: str, turns: int) -> str | None:
        limits = self._strategy
        if limits.is_off:
            return None
        if turns < limits.min_turns:
            return f"it has {turns} turns of {limits.min_turns} needed"
        last = self._last.get(session_id)
        if last is not None and turns - last < limits.cooldown_turns:
            return f"{turns - last} turns since the last fork of {limits.cooldown_turns} needed"
        return None
