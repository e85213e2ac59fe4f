"""Blocking work in a thread that is always waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def run_to_end(work: Callable[[], Result]) -> Result:
    """Run `work` in a thread and wait for its end, whatever is cancelled meanwhile.

    A cancellation that arrives during the work is raised when the work has ended well; an error of the work wins.
    So nothing that the work touches is used by others while it still runs.
    """
    future = asyncio.get_running_loop().run_in_executor(None, work)
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
