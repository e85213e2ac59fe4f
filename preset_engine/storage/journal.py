"""The journal of the file back end: how a tenant's shelf is read from its folder and appended to it.

    tenants/NAME/tree.jsonl             nodes, references, configs of all sessions
    tenants/NAME/sessions/ID.jsonl      records, slots and meta of one session; every line carries the meta
    tenants/NAME/lock, pending.json     see `disk`

A turn appends one line to one file, whatever the session's length. Sessions are read when first asked for, then
only what other processes appended; a listing reads the last line of sessions that are not loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from preset_engine.errors import StorageError, StorageFormat, UnreadableInput
from preset_engine.messages import JsonObject
from preset_engine.session.meta import SessionMeta
from preset_engine.storage.changes import (
    Change,
    ConfigPut,
    MetaPut,
    NodeAdded,
    RefAdded,
    session_change_from_json,
    session_change_to_json,
    tree_change_from_json,
    tree_change_to_json,
)
from preset_engine.storage.disk import (
    Part,
    ProcessLock,
    append,
    cut,
    our_errors,
    recover,
    size_of,
)
from preset_engine.storage.lines import encode_line, last_step, replay
from preset_engine.storage.shelf import Content, Shelf
from preset_engine.storage.threads import run_to_end

LOADED_SESSIONS = 256
_TREE = ""  # the name under which the tree's own file is known


def file_name(name: str) -> str:
    """A safe file name for an id or a tenant; different names for different texts."""
    safe = quote(name, safe="").replace(".", "%2E").replace("~", "%7E")
    return safe if len(safe) <= 200 else "~" + sha256(name.encode()).hexdigest()


class FileJournal:
    """`Journal` over one tenant's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pending = folder / "pending.json"
        with our_errors(folder):
            (folder / "sessions").mkdir(parents=True, exist_ok=True)
            self._check_tree()
        self._lock = ProcessLock(folder / "lock")
        self._ends: dict[str, int] = {}  # where the read lines end, by id
        self._meta_sizes: dict[
            str, int
        ] = {}  # of sessions not loaded: the length their meta was read at

    async def acquire(self, shelf: Shelf) -> None:
        """Keep other processes out and read what they wrote to the tree."""
        await self._lock.wait()
        try:
            if self._is_behind(None, shelf):
                await run_to_end(partial(self._mend_and_read, shelf, _TREE))
        except BaseException:
            self._lock.let_go()
            raise

    async def release(self) -> None:
        """Let other processes in."""
        self._lock.let_go()

    async def refresh(self, shelf: Shelf, session_id: str | None) -> None:
        """Read what others wrote; waits for a writer only where one was killed in the middle of a step."""
        is_behind = self._is_behind(session_id, shelf)
        is_behind = is_behind or (session_id is None and bool(self._stale(shelf)))
        if is_behind and not await run_to_end(partial(self._read_beside, shelf, session_id)):
            await self.acquire(shelf)
            try:
                await self.load(shelf, session_id)
            finally:
                self._lock.let_go()
        if session_id is not None:
            self._let_old_go(shelf, (session_id,))

    async def load(self, shelf: Shelf, session_id: str | None) -> None:
        """Read what others wrote, while acquired."""
        if session_id is None:
            stale = self._stale(shelf)
            if stale:
                await run_to_end(partial(self._read_metas, shelf, stale))
        elif session_id in shelf.metas and self._is_behind(session_id, shelf):
            await run_to_end(partial(self._mend_and_read, shelf, session_id))

    async def write(self, shelf: Shelf, changes: Sequence[Change]) -> None:
        """Append one line to each file concerned, as one step."""
        lines = _lines(shelf, changes)
        parts = [Part(self._path(id_), self._ends.get(id_, 0), line) for id_, line in lines.items()]
        fresh = [self._path(made.node.id) for made in changes if isinstance(made, NodeAdded)]
        await run_to_end(partial(self._append, parts, list(lines), fresh))
        self._let_old_go(shelf, lines)

    async def close(self) -> None:
        """Give the lock file back."""
        self._lock.close()

    # ---- all below blocks ----

    def _check_tree(self) -> None:
        """Refuse a folder whose sessions nobody would find: their files are there, the tree's is not."""

        def is_orphaned() -> bool:
            files = (self._folder / "sessions").glob("*.jsonl")
            is_filled = any(size_of(path) for path in files)
            return is_filled and not self._pending.exists() and not size_of(self._path(_TREE))

        if (
            not size_of(self._path(_TREE)) and is_orphaned() and is_orphaned()
        ):  # a step may just end
            raise _lost_tree(self._path(_TREE))

    def _append(self, parts: Sequence[Part], ids: Sequence[str], fresh: Sequence[Path]) -> None:
        for path in fresh:
            if size_of(path):
                raise _lost_tree(path)
        append(parts, self._pending)
        for part, id_ in zip(parts, ids):
            self._ends[id_] = part.offset + len(part.line)

    def _path(self, session_id: str) -> Path:
        if session_id == _TREE:
            return self._folder / "tree.jsonl"
        return self._folder / "sessions" / f"{file_name(session_id)}.jsonl"

    def _is_behind(self, session_id: str | None, shelf: Shelf) -> bool:
        """Whether the tree or this session has to be read, or a killed writer's step undone."""
        with our_errors(self._folder):
            sizes = [(self._ends.get(_TREE, 0), size_of(self._path(_TREE)))]
            if session_id is not None and session_id in shelf.metas:
                is_loaded = session_id in shelf.contents
                known = self._ends.get(session_id, 0) if is_loaded else -1
                sizes.append((known, size_of(self._path(session_id))))
            return any(known != size for known, size in sizes) or self._pending.exists()

    def _read_beside(self, shelf: Shelf, session_id: str | None) -> bool:
        """Read without the lock; False when an unfinished step is found.

        All bytes that were there before `pending.json` was seen missing belong to finished steps, or to a line
        that is being written, which does not count yet.
        """
        with our_errors(self._folder):
            tree_size = size_of(self._path(_TREE))
            size = 0 if session_id is None else size_of(self._path(session_id))
            if self._pending.exists():
                return False
        self._catch_up(shelf, _TREE, tree_size)
        if session_id is not None:
            if session_id in shelf.metas:
                self._catch_up(shelf, session_id, size)
            return True
        stale = self._stale(shelf)
        if self._pending.exists():
            return False
        self._read_metas(shelf, stale)
        return True

    def _mend_and_read(self, shelf: Shelf, session_id: str) -> None:
        """Read while holding the lock; undoes and cuts what killed writers left."""
        recover(self._pending)
        path = self._path(session_id)
        with our_errors(path):
            size = size_of(path)
            self._catch_up(shelf, session_id, size)
            if self._ends[session_id] < size:
                cut(path, self._ends[session_id])

    def _catch_up(self, shelf: Shelf, session_id: str, size: int) -> None:
        """Read the whole lines up to `size` that were not read yet; all of them if the file was replaced."""
        end = self._ends.get(session_id, 0)
        is_loaded = session_id == _TREE or session_id in shelf.contents
        if size < end or not is_loaded:
            end = 0
            self._empty(shelf, session_id)
        self._ends[session_id] = end
        if size > end:
            step = _tree_step(shelf) if session_id == _TREE else _session_step(shelf, session_id)
            try:
                with our_errors(self._path(session_id)):
                    self._ends[session_id] = replay(self._path(session_id), end, size, step)
            except StorageError:
                self._empty(shelf, session_id)
                self._ends[session_id] = 0
                raise

    def _empty(self, shelf: Shelf, session_id: str) -> None:
        """Forget what was read of a file; without the tree nothing is known of any other."""
        if session_id == _TREE:
            shelf.places.clear()
            shelf.metas.clear()
            shelf.contents.clear()
            self._ends.clear()
            self._meta_sizes.clear()
        else:
            shelf.contents[session_id] = Content()

    def _stale(self, shelf: Shelf) -> dict[str, int]:
        """Sessions whose file has another length than their meta was read at."""
        found = {}
        with our_errors(self._folder):
            for id_ in shelf.metas:
                size = size_of(self._path(id_))
                known = (
                    self._ends.get(id_, 0)
                    if id_ in shelf.contents
                    else self._meta_sizes.get(id_, 0)
                )
                if size != known:
                    found[id_] = size
        return found

    def _read_metas(self, shelf: Shelf, stale: dict[str, int]) -> None:
        for id_, size in stale.items():
            if id_ in shelf.contents:
                self._catch_up(shelf, id_, size)
                continue
            path = self._path(id_)
            with our_errors(path):
                data = last_step(path, size) if size else None
            if data is not None:
                try:
                    shelf.metas[id_] = _meta_of(data, id_)
                except UnreadableInput as error:
                    raise StorageFormat(
                        f"{path} is damaged: {error}; restore it from a copy"
                    ) from error
            self._meta_sizes[id_] = size

    def _let_old_go(self, shelf: Shelf, used: Iterable[str]) -> None:
        """Unload the sessions that were not used for longest, beyond the limit."""
        for id_ in used:
            if id_ in shelf.contents:
                shelf.contents[id_] = shelf.contents.pop(id_)
        while len(shelf.contents) > LOADED_SESSIONS:
            oldest = next(iter(shelf.contents))
            del shelf.contents[oldest]
            self._meta_sizes[oldest] = self._ends.pop(oldest, 0)


def _lost_tree(path: Path) -> StorageFormat:
    return StorageFormat(
        f"{path}: the tree does not know what stands in the folder 'sessions'; restore tree.jsonl from a copy"
    )


def _tree_step(shelf: Shelf) -> Callable[[JsonObject], None]:
    def step(data: JsonObject) -> None:
        for body in _ops(data):
            shelf.apply(tree_change_from_json(body), [])

    return step


def _session_step(shelf: Shelf, session_id: str) -> Callable[[JsonObject], None]:
    def step(data: JsonObject) -> None:
        for body in _ops(data):
            shelf.apply(session_change_from_json(session_id, body), [])
        shelf.metas[session_id] = _meta_of(data, session_id)

    return step


def _ops(data: JsonObject) -> list[JsonObject]:
    ops = data.get("ops")
    if not isinstance(ops, list):
        raise UnreadableInput("a line has no list of changes")
    return [body for body in ops if isinstance(body, dict)]


def _meta_of(data: JsonObject, session_id: str) -> SessionMeta:
    meta = data.get("meta")
    if not isinstance(meta, dict):
        raise UnreadableInput("a line has no meta")
    found = SessionMeta.from_json(meta)
    if found.id != session_id:
        raise UnreadableInput(f"a line belongs to session {found.id!r:.60}")
    return found


def _lines(shelf: Shelf, changes: Sequence[Change]) -> dict[str, bytes]:
    """The line of every file concerned, by id; the tree's last, so that nodes come with their content."""
    tree: list[JsonObject] = []
    sessions: dict[str, list[JsonObject]] = {}
    for change in changes:
        match change:
            case NodeAdded() | ConfigPut() | RefAdded():
                tree.append(tree_change_to_json(change))
            case MetaPut():
                sessions.setdefault(change.id, [])
            case _:
                sessions.setdefault(change.id, []).append(session_change_to_json(change))
    bodies: dict[str, JsonObject] = {
        id_: {"meta": shelf.metas[id_].to_json(), "ops": [*ops]} for id_, ops in sessions.items()
    }
    if tree:
        bodies[_TREE] = {"ops": [*tree]}
    return {id_: encode_line(body) for id_, body in bodies.items()}
