"""A switch that ends a model call from outside, for callers that do not own the task that runs it.

Whoever owns the task simply cancels it. A page's stop button, a tool or a second task holds an `Abort` and
calls `abort()`; the running call ends with `ModelAborted` and stores nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from preset_engine.errors import ModelAborted


class Abort:
    """Set once; every call that was given it ends."""

    def __init__(self) -> None:
        self._scopes: set[anyio.CancelScope] = set()
        self._is_aborted = False

    @property
    def is_aborted(self) -> bool:
        """Whether `abort` was called."""
        return self._is_aborted

    def abort(self) -> None:
        """End every call that runs under this switch, and every later one at its start."""
        self._is_aborted = True
        for scope in tuple(self._scopes):
            scope.cancel()

    def check(self) -> None:
        """Raise when the switch is set.

        Raises:
            ModelAborted: it is.
        """
        if self._is_aborted:
            raise ModelAborted("the call was aborted by its caller; nothing of it was stored")

    @asynccontextmanager
    async def guard(self) -> AsyncIterator[None]:
        """Run the block until it ends or the switch is set.

        Raises:
            ModelAborted: the switch was set before or while the block ran.
        """
        self.check()
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                yield
            finally:
                self._scopes.discard(scope)
        if scope.cancelled_caught:
            self.check()
