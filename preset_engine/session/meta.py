"""What the store knows about one session beside its records: one superset record, and two views of it.

Content and shape share an id (`SessionMeta.id == TopologyNode.id`) and one stored row. The session layer
reads `content_view`, the tree's readers `tree_view`; neither holds a parent or children, which belong to
`topology`. `version` counts the commits that changed the records, so a writer can say which state it read.

Also here: the frozen part of a session's config, the filter of a listing, the compression snapshot.
Source: seed 001, "SessionMeta and TopologyNode decoupled"; reference/seeds.md 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from preset_engine.errors import UnreadableInput
from preset_engine.messages import JsonObject, JsonValue

DEFAULT_ROOT_LABEL = "Root"
DEFAULT_CHILD_LABEL = "Session"
MAX_COUNT = (
    2**53
)  # of turns, records, versions: what every reader of JSON and every database holds exactly


class SessionStatus(StrEnum):
    """An archived session takes no turns; it can still be read and forked."""

    ACTIVE = "active"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class SessionMeta:
    """Run-time data of one session.

    Attributes:
        id: the id shared by content and topology node.
        label: what a person calls it; the identity message is made from it.
        status: active or archived.
        turn_count: completed user turns.
        created_at: ISO 8601 text, UTC.
        updated_at: the last change of any of this record's fields or of the session's records.
        last_active_at: the last committed turn, or the creation.
        version: commits that changed the records so far; the value for `expected_version`.
    """

    id: str
    label: str
    status: SessionStatus = SessionStatus.ACTIVE
    turn_count: int = 0
    created_at: str = ""
    updated_at: str = ""
    last_active_at: str = ""
    version: int = 0

    @property
    def is_archived(self) -> bool:
        """Whether the session takes no more turns."""
        return self.status is SessionStatus.ARCHIVED

    def content_view(self) -> JsonObject:
        """The fields that the session layer sees."""
        return _pick(self, ("id", "label", "status", "turn_count", "created_at", "updated_at"))

    def tree_view(self) -> JsonObject:
        """The fields that the tree and the orchestrating side see."""
        return {**self.content_view(), "last_active_at": self.last_active_at}

    def to_json(self) -> JsonObject:
        """All fields."""
        return {**self.tree_view(), "version": self.version}

    @classmethod
    def from_json(cls, body: Mapping[str, JsonValue]) -> SessionMeta:
        """Read what `to_json` wrote; wrong types raise `UnreadableInput`."""
        return cls(
            id=read_text(body, "id"),
            label=read_text(body, "label"),
            status=read_status(body.get("status", "active")),
            turn_count=read_count(body, "turn_count"),
            created_at=read_text(body, "created_at", ""),
            updated_at=read_text(body, "updated_at", ""),
            last_active_at=read_text(body, "last_active_at", ""),
            version=read_count(body, "version"),
        )


def _pick(meta: SessionMeta, names: tuple[str, ...]) -> JsonObject:
    return {name: getattr(meta, name) for name in names} | {"status": meta.status.value}


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions a listing names; None means every one."""

    status: SessionStatus | None = None

    def accepts(self, meta: SessionMeta) -> bool:
        """Whether the session belongs to the listing."""
        return self.status is None or meta.status is self.status


@dataclass(frozen=True, slots=True)
class FrozenConfig:
    """The part of a session's config that is stored: the only two fields ever frozen.

    Attributes:
        system_prompt: None when not set; an empty text is a value.
        skills: None inherits, an empty tuple allows none, names are a white list.
    """

    system_prompt: str | None = None
    skills: tuple[str, ...] | None = None

    def to_json(self) -> JsonObject:
        """An object with the fields that are set; an empty object is a config too."""
        body: JsonObject = {}
        if self.system_prompt is not None:
            body["system_prompt"] = self.system_prompt
        if self.skills is not None:
            body["skills"] = list(self.skills)
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, JsonValue]) -> FrozenConfig:
        """Read what `to_json` wrote."""
        skills = body.get("skills")
        prompt = body.get("system_prompt")
        return cls(
            system_prompt=prompt if isinstance(prompt, str) else None,
            skills=tuple(str(name) for name in skills) if isinstance(skills, list) else None,
        )


@dataclass(frozen=True, slots=True)
class CompressionSnapshot:
    """A kept summary of the oldest records, so that the function need not be called again.

    Attributes:
        summary: the text that stands for the records.
        covered_count: how many of the oldest records it covers.
        digest: digest of exactly those records; another digest makes the snapshot worthless.
    """

    summary: str
    covered_count: int
    digest: str = ""

    def to_json(self) -> JsonObject:
        """All fields."""
        return {
            "summary": self.summary,
            "covered_count": self.covered_count,
            "digest": self.digest,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, JsonValue]) -> CompressionSnapshot:
        """Read what `to_json` wrote."""
        return cls(
            read_text(body, "summary"),
            read_count(body, "covered_count"),
            read_text(body, "digest", ""),
        )


@dataclass(frozen=True, slots=True)
class MetaUpdate:
    """A partial change of a session's meta; None leaves a field alone."""

    label: str | None = None
    turn_count: int | None = None
    status: SessionStatus | None = None

    def applied(self, meta: SessionMeta, now: str) -> SessionMeta:
        """The changed meta; `updated_at` moves even when nothing else does."""
        return replace(
            meta,
            label=meta.label if self.label is None else self.label,
            turn_count=meta.turn_count if self.turn_count is None else self.turn_count,
            status=meta.status if self.status is None else self.status,
            updated_at=now,
        )


@dataclass(frozen=True, slots=True)
class SessionDigest:
    """What a reflection reads of one session."""

    id: str
    label: str
    status: SessionStatus
    memory: str | None = None
    insight: str | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


def stamp(moment: datetime) -> str:
    """The stored form of a time: UTC, microseconds, `Z`; such texts sort by time.

    >>> stamp(datetime(2025, 3, 14, 9, 26, 53, tzinfo=UTC))
    '2025-03-14T09:26:53.000000Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_text(body: Mapping[str, JsonValue], key: str, default: str | None = None) -> str:
    """The text under `key`; raises `UnreadableInput` when it is none and there is no default."""
    value = body.get(key, default)
    if not isinstance(value, str):
        raise UnreadableInput(f"{key!r} must be a text, found {type(value).__name__}")
    return value


def read_count(body: Mapping[str, JsonValue], key: str, default: int = 0) -> int:
    """The whole number from 0 to `MAX_COUNT` under `key`; raises `UnreadableInput` otherwise."""
    value = body.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_COUNT:
        raise UnreadableInput(f"{key!r} must be a whole number from 0 up, found {value!r:.40}")
    return value


def read_status(value: JsonValue) -> SessionStatus:
    """A status by its name; raises `UnreadableInput` for any other value."""
    try:
        return SessionStatus(str(value))
    except ValueError:
        raise UnreadableInput(f"'status' must be active or archived, found {value!r:.40}") from None
