"""Refusals of the session model, worded once for sessions and for every back end."""

from __future__ import annotations

from preset_engine.errors import SessionArchived, SessionChanged, SessionError, SessionNotFound
from preset_engine.session.meta import SessionMeta


def not_found(session_id: str) -> SessionNotFound:
    """No session of this id."""
    return SessionNotFound(f"no session {session_id!r} here; `sessions list` shows the ids")


def taken(session_id: str) -> SessionError:
    """The id is in use."""
    return SessionError(f"a session {session_id!r} is already stored; choose another id")


def no_record(session_id: str, number: int) -> SessionNotFound:
    """The session has no record of this number."""
    return SessionNotFound(
        f"session {session_id!r} has no record {number}; it may have been trimmed"
    )


def check_version(meta: SessionMeta, expected: int | None) -> None:
    """Refuse a write that was prepared from another state of the session."""
    if expected is not None and meta.version != expected:
        raise SessionChanged(
            f"session {meta.id!r} is at version {meta.version}, not {expected}: another writer was first; "
            "load it again and retry"
        )


def check_active(meta: SessionMeta) -> None:
    """Refuse a turn or an edit of an archived session."""
    if meta.is_archived:
        raise SessionArchived(f"session {meta.id!r} is archived; fork it to go on")
