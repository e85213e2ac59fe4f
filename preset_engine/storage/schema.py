"""The tables of both SQL engines: one text, numbered steps, and a table of the steps taken.

Every key begins with the tenant. A store whose newest step is unknown here was written by a newer version and is
refused. Steps are never changed once released; a change is a new step at the end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from preset_engine.errors import StorageFormat

Row: TypeAlias = tuple[Any, ...]  # columns of a row as the driver gives them: text, int or None
Execute: TypeAlias = Callable[[str, Sequence[object]], Awaitable[list[Row]]]


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step: statements that run in one transaction."""

    number: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        "sessions, records, slots, references",
        (
            """CREATE TABLE pe_sessions (
                tenant TEXT NOT NULL, id TEXT NOT NULL,
                label TEXT NOT NULL, status TEXT NOT NULL, turn_count BIGINT NOT NULL,
                created_at TEXT NOT NULL, updated_at TEXT NOT NULL, last_active_at TEXT NOT NULL,
                version BIGINT NOT NULL, next_number BIGINT NOT NULL,
                parent_id TEXT, depth BIGINT NOT NULL, place BIGINT NOT NULL, child_count BIGINT NOT NULL,
                source_session_id TEXT, config TEXT,
                PRIMARY KEY (tenant, id),
                FOREIGN KEY (tenant, parent_id) REFERENCES pe_sessions (tenant, id))""",
            "CREATE INDEX pe_sessions_by_parent ON pe_sessions (tenant, parent_id, place)",
            """CREATE TABLE pe_records (
                tenant TEXT NOT NULL, session_id TEXT NOT NULL, number BIGINT NOT NULL,
                role TEXT NOT NULL, content TEXT NOT NULL, tool_call_id TEXT, said_at TEXT NOT NULL, detail TEXT,
                PRIMARY KEY (tenant, session_id, number),
                FOREIGN KEY (tenant, session_id) REFERENCES pe_sessions (tenant, id) ON DELETE CASCADE)""",
            """CREATE TABLE pe_slots (
                tenant TEXT NOT NULL, session_id TEXT NOT NULL, slot TEXT NOT NULL, content TEXT NOT NULL,
                PRIMARY KEY (tenant, session_id, slot),
                FOREIGN KEY (tenant, session_id) REFERENCES pe_sessions (tenant, id) ON DELETE CASCADE)""",
            """CREATE TABLE pe_refs (
                tenant TEXT NOT NULL, from_id TEXT NOT NULL, to_id TEXT NOT NULL, place BIGINT NOT NULL,
                PRIMARY KEY (tenant, from_id, to_id),
                FOREIGN KEY (tenant, from_id) REFERENCES pe_sessions (tenant, id) ON DELETE CASCADE,
                FOREIGN KEY (tenant, to_id) REFERENCES pe_sessions (tenant, id) ON DELETE CASCADE)""",
        ),
    ),
)

_TAKEN = """CREATE TABLE IF NOT EXISTS pe_migrations (
    number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"""


async def migrate(
    execute: Execute, now: str, where: str, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Take the steps that are missing, inside the caller's transaction.

    Raises:
        StorageFormat: the store has steps that this version does not know.
    """
    await execute(_TAKEN, ())
    rows = await execute("SELECT number FROM pe_migrations ORDER BY number", ())
    applied = {int(row[0]) for row in rows}
    unknown = applied - {migration.number for migration in migrations}
    if unknown:
        newest = max(unknown)
        raise StorageFormat(
            f"{where} has schema step {newest}, unknown to this version; update preset-engine"
        )
    for migration in migrations:
        if migration.number not in applied:
            for statement in migration.statements:
                await execute(statement, ())
            await execute(
                "INSERT INTO pe_migrations (number, name, applied_at) VALUES (?, ?, ?)",
                (migration.number, migration.name, now),
            )
