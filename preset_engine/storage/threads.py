"""Work that is always waited for, whatever is cancelled meanwhile: in a thread, or in a task of its own.

`anyio`'s shields keep off its own cancel scopes only; a plain `task.cancel()`, or a second one, goes through them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

Result = TypeVar("Result")


async def run_to_end(work: Callable[[], Result]) -> Result:
    """Run `work` in a thread and wait for its end, whatever is cancelled meanwhile.

    A cancellation that arrives during the work is raised when the work has ended well; an error of the work wins.
    So nothing that the work touches is used by others while it still runs.
    """
    return await _waited_for(asyncio.get_running_loop().run_in_executor(None, work))


async def finish(work: Coroutine[object, object, Result]) -> Result:
    """The same for a coroutine, which runs in a task of its own (a commit, a way back)."""
    return await _waited_for(asyncio.ensure_future(work))


async def _waited_for(future: asyncio.Future[Result]) -> Result:
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    result = future.result()
    if cancelled is not None:
        raise cancelled
    return result
