"""What a back end offers: content of single sessions, shape of the forest, and both together.

`SessionStorage` knows nothing of a tree, `SessionTree` nothing of records; `Store` is one database that
does both, which is what `open_storage` gives. All calls are asynchronous. What every back end promises:

- Unknown ids: reads give None or nothing, writes raise `SessionNotFound`. `put_session` and
  `create_session` are the two ways in; a session put without a node is a root.
- A call that returned is stored for good; one that raised (or was killed) left the store as it was.
- `transaction(fn)` makes all calls inside `fn` one such step. A transaction inside a transaction joins it;
  an exception undoes the part of the block it leaves. Keep blocks short and call no model inside: other
  writers wait. Only the task that runs `fn`, and tasks it starts, may use the store inside.
- Records are numbered 1, 2, 3, ... by the session and never change but through `replace_record`. `version`
  grows with every commit that changes records; `expected_version` makes a write raise `SessionChanged` when another
  writer was first. Slots do not count: an insight put during a turn does not spoil the turn.
- NUL and lone surrogates in any text become U+FFFD, in every back end.

Source: seeds 001 and 003; reference/seeds.md 1.3, 1.4, 1.15; design decisions 5, 8, 16.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeVar

from preset_engine.messages import JsonObject, JsonValue
from preset_engine.session.meta import (
    CompressionSnapshot,
    FrozenConfig,
    MetaUpdate,
    SessionFilter,
    SessionMeta,
)
from preset_engine.session.record import EVERY_RECORD, RecordQuery, SessionRecord
from preset_engine.session.topology import SessionTreeNode, TopologyNode

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class TurnCommit:
    """All that one turn changes, committed in one step.

    Attributes:
        records: new records in order; the store numbers them.
        expected_version: the version the turn was compiled from; None does not check.
        consumed_insight: the insight text that the prompt held. It is cleared unless another was put since.
        completed_turns: how much `turn_count` grows: 1 with the record that ends a user turn, else 0.
        variables: the new variables, or None to leave them.
        state: the new engine state, or None to leave it.
        compression: a new compression snapshot, or None to leave it.
    """

    records: Sequence[SessionRecord] = ()
    expected_version: int | None = None
    consumed_insight: str | None = None
    completed_turns: int = 1
    variables: Mapping[str, JsonValue] | None = None
    state: Mapping[str, JsonValue] | None = None
    compression: CompressionSnapshot | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit stored: the session's new meta, and the records with their numbers."""

    meta: SessionMeta
    records: tuple[SessionRecord, ...]


@dataclass(frozen=True, slots=True)
class SessionDump:
    """One whole session as values, for export and import; `slots` holds JSON values by slot name."""

    meta: SessionMeta
    node: TopologyNode
    config: FrozenConfig | None = None
    slots: Mapping[str, JsonValue] = field(default_factory=dict)
    records: tuple[SessionRecord, ...] = ()
    next_number: int = 1


class SessionStorage(Protocol):
    """Content of single sessions: meta, records, slots."""

    async def get_session(self, session_id: str) -> SessionMeta | None:
        """The session's meta, or None."""
        ...

    async def put_session(self, meta: SessionMeta) -> SessionMeta:
        """Insert or replace label, status, turn count and times; `version` stays the store's own.

        Empty times are filled in. An id without a node becomes a root.
        """
        ...

    async def list_sessions(self, which: SessionFilter | None = None) -> list[SessionMeta]:
        """All sessions, or those the filter accepts, in order of creation."""
        ...

    async def append_record(self, session_id: str, record: SessionRecord) -> SessionRecord:
        """Append one record; gives it back with its number."""
        ...

    async def append_records(
        self,
        session_id: str,
        records: Sequence[SessionRecord],
        expected_version: int | None = None,
    ) -> tuple[SessionRecord, ...]:
        """Append records with numbers that follow each other; raises `SessionChanged`.

        Appending nothing changes nothing, but inside a transaction it keeps other writers of the session out until
        the end: what is read behind it and written back cannot undo what somebody else wrote in between.
        """
        ...

    async def list_records(
        self, session_id: str, query: RecordQuery = EVERY_RECORD
    ) -> list[SessionRecord]:
        """Records in order; filters first, then offset, then limit. Unknown session: none."""
        ...

    async def replace_record(
        self, session_id: str, record: SessionRecord, expected_version: int | None = None
    ) -> SessionMeta:
        """Replace the record of the same number (a swipe, an edit); raises `SessionNotFound`, `SessionChanged`."""
        ...

    async def trim_records(
        self, session_id: str, keep: int, expected_version: int | None = None
    ) -> int:
        """Keep the newest `keep` records (0 or less: none); gives the number removed."""
        ...

    async def remove_records_after(
        self, session_id: str, number: int, expected_version: int | None = None
    ) -> int:
        """Remove the records with a higher number (undo, regenerate); gives the number removed."""
        ...

    async def commit_turn(self, session_id: str, turn: TurnCommit) -> Committed:
        """Store a whole turn in one step: records, insight clear, variables, state, turn count.

        Raises:
            SessionNotFound: no such session.
            SessionArchived: the session was archived meanwhile.
            SessionChanged: another writer committed first.
        """
        ...

    async def get_system_prompt(self, session_id: str) -> str | None:
        """The system prompt slot."""
        ...

    async def put_system_prompt(self, session_id: str, content: str) -> None:
        """Replace the system prompt; an empty text is a value."""
        ...

    async def get_insight(self, session_id: str) -> str | None:
        """The unread insight, or None."""
        ...

    async def put_insight(self, session_id: str, content: str) -> None:
        """Replace the insight."""
        ...

    async def clear_insight(self, session_id: str) -> None:
        """Remove the insight."""
        ...

    async def get_memory(self, session_id: str) -> str | None:
        """The memory: for readers outside, never for the session's own prompt."""
        ...

    async def put_memory(self, session_id: str, content: str) -> None:
        """Replace the memory."""
        ...

    async def get_compression_cache(self, session_id: str) -> CompressionSnapshot | None:
        """The kept summary, or None."""
        ...

    async def put_compression_cache(self, session_id: str, snapshot: CompressionSnapshot) -> None:
        """Replace the kept summary."""
        ...

    async def clear_compression_cache(self, session_id: str) -> None:
        """Remove the kept summary."""
        ...

    async def get_variables(self, session_id: str) -> JsonObject:
        """The chat's macro variables; empty when never written."""
        ...

    async def put_variables(self, session_id: str, variables: Mapping[str, JsonValue]) -> None:
        """Replace all variables."""
        ...

    async def get_state(self, session_id: str) -> JsonObject:
        """What the engine keeps between turns (window start, usage base, timed lore, experiences)."""
        ...

    async def put_state(self, session_id: str, state: Mapping[str, JsonValue]) -> None:
        """Replace the engine's state."""
        ...

    async def transaction(self, work: Callable[[Self], Awaitable[Result]]) -> Result:
        """Run `work(storage)` as one step and give its result; an exception undoes it."""
        ...


class SessionTree(Protocol):
    """Shape of the forest, and each session's frozen config."""

    async def create_session(
        self,
        *,
        parent_id: str | None = None,
        label: str | None = None,
        source_session_id: str | None = None,
        session_id: str | None = None,
    ) -> TopologyNode:
        """The one way to make a node; without a parent it is a root.

        Args:
            parent_id: an existing session; it may be archived.
            label: default "Root" or "Session".
            source_session_id: the session it is forked from.
            session_id: an id of the caller's; default a new one. A taken id raises `SessionError`.

        Raises:
            SessionNotFound: the parent does not exist.
        """
        ...

    async def get(self, session_id: str) -> SessionMeta | None:
        """The session's meta, or None."""
        ...

    async def get_node(self, session_id: str) -> TopologyNode | None:
        """The session's node, or None."""
        ...

    async def list_all(self) -> list[TopologyNode]:
        """Every node in order of creation."""
        ...

    async def list_roots(self) -> list[TopologyNode]:
        """Nodes without a parent in order of creation."""
        ...

    async def get_tree(self) -> list[SessionTreeNode]:
        """The forest as nested views; empty when there is no session."""
        ...

    async def get_ancestors(self, session_id: str) -> list[TopologyNode]:
        """The nodes above, nearest first; raises `SessionNotFound`."""
        ...

    async def get_siblings(self, session_id: str) -> list[TopologyNode]:
        """Other children of the parent in order; a root has none; raises `SessionNotFound`."""
        ...

    async def archive(self, session_id: str) -> None:
        """Set the status; children stay as they are; repeatable; raises `SessionNotFound`."""
        ...

    async def add_ref(self, from_id: str, to_id: str) -> None:
        """Point from one node to another, across trees too; a repeat changes nothing.

        Raises:
            SessionNotFound: one of the two does not exist.
            InvalidReference: the node itself, an ancestor or a descendant.
        """
        ...

    async def update_meta(self, session_id: str, update: MetaUpdate) -> SessionMeta:
        """Change label, turn count or status; gives the new meta; raises `SessionNotFound`."""
        ...

    async def get_config(self, session_id: str) -> FrozenConfig | None:
        """The frozen config, or None when never written."""
        ...

    async def put_config(self, session_id: str, config: FrozenConfig) -> None:
        """Replace the frozen config as a whole; raises `SessionNotFound`."""
        ...


class Store(SessionStorage, SessionTree, Protocol):
    """One database with both halves, for one tenant."""

    @property
    def tenant(self) -> str:
        """The name whose sessions are seen; no method reaches another tenant's."""
        ...

    def for_tenant(self, tenant: str) -> Self:
        """Another tenant's store over the same open database; closing either closes both."""
        ...

    async def dump_session(self, session_id: str) -> SessionDump | None:
        """The whole session as values, or None."""
        ...

    async def restore_session(self, dump: SessionDump) -> None:
        """Store a dumped session under its own id; its parent must exist, references come later.

        Raises:
            SessionNotFound: the parent does not exist.
            SessionError: the id is taken.
        """
        ...

    async def close(self) -> None:
        """Give files and connections back; repeatable."""
        ...
