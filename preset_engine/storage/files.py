"""The file back end: one folder, readable lines, safe for several processes on one machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from preset_engine.errors import StorageFormat
from preset_engine.storage.disk import our_errors, write_whole
from preset_engine.storage.journal import FileJournal, file_name
from preset_engine.storage.local import Family, LocalStore
from preset_engine.storage.threads import run_to_end
from preset_engine.storage.workspace import Workspace

FORMAT = 1
_KIND = "preset_engine sessions"


async def open_files(
    folder: Path, tenant: str, clock: Callable[[], datetime], new_id: Callable[[], str]
) -> LocalStore:
    """Open the store in a folder, creating it where needed; raises `StorageFormat`, `StorageLost`."""
    folder = await run_to_end(lambda: _prepare(folder.expanduser().absolute()))

    def work_of(name: str) -> Workspace:
        journal = FileJournal(folder / "tenants" / file_name(name))
        return Workspace(journal, clock, new_id)

    return Family(work_of).store(tenant)


def _prepare(folder: Path) -> Path:
    mark = folder / "store.json"
    with our_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if not mark.exists():
            write_whole(mark, json.dumps({"kind": _KIND, "format": FORMAT}).encode())
        data = mark.read_bytes()
    try:
        found = json.loads(data)
        number = int(found["format"]) if found["kind"] == _KIND else 0
    except (ValueError, KeyError, TypeError, RecursionError):
        number = 0
    if number < 1:
        raise StorageFormat(f"{mark} is damaged or of another program; restore it from a copy")
    if number > FORMAT:
        raise StorageFormat(
            f"{folder} was written in format {number}, this version knows {FORMAT}; update preset-engine"
        )
    return folder
