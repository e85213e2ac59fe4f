"""The report's SQL: one text that DuckDB and Spark SQL run unchanged, and SQLite too from its second part on.

Two parts. `CALLS` turns raw lines, read by an engine itself, into calls: five usage shapes and our own line
become one prompt count with the cached part inside; calls read by Python are added as they are. `report_query`
works on the table `calls`, whoever filled it: it sets failures apart, counts repeated lines once, numbers the
calls of each group in time order and sums by the chosen keys and the day, first calls and later calls apart.

A count below 0 or beyond any prompt (`log.usage.MAX_COUNT`) is none.

The portable subset: COALESCE, CASE, CAST, ROW_NUMBER, LAG, SUM and COUNT; NULLS LAST spelled out; times as whole
milliseconds; flags as 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
KEYS = ("session", "caller", "model", "provider", "preset", "user", "shape", "source")

CALL_COLUMNS: tuple[tuple[str, str], ...] = (
    ("at_ms", "BIGINT"),
    ("session", "VARCHAR"),
    ("caller", "VARCHAR"),
    ("model", "VARCHAR"),
    ("provider", "VARCHAR"),
    ("preset", "VARCHAR"),
    ("end_user", "VARCHAR"),
    ("request_id", "VARCHAR"),
    ("is_failed", "INTEGER"),
    ("is_odd", "INTEGER"),
    ("is_corrected", "INTEGER"),
    ("input_tokens", "BIGINT"),
    ("cached_tokens", "BIGINT"),
    ("written_tokens", "BIGINT"),
    ("output_tokens", "BIGINT"),
    ("shape", "VARCHAR"),
    ("source", "VARCHAR"),
    ("ordinal", "BIGINT"),
)
"""The table `calls`: one row a line.

`is_odd` is 0 for a call, 1 for a line that cannot be read, 2 for one of another shape, 3 for one of ours that is
no call."""

CALLS = """
SELECT at_ms, session, caller, model, provider, preset, end_user, request_id, is_failed, is_odd,
    CASE WHEN cached_tokens > prompt_tokens THEN 1 ELSE 0 END AS is_corrected,
    CASE WHEN cached_tokens > prompt_tokens THEN prompt_tokens + cached_tokens ELSE prompt_tokens END
        AS input_tokens,
    cached_tokens, written_tokens, output_tokens,
    CASE WHEN own_schema IS NOT NULL THEN 'preset-engine' ELSE 'usage-line' END AS shape,
    source, CAST(0 AS BIGINT) AS ordinal
FROM (
    SELECT at_ms, own_schema, source, end_user, session, caller, model, provider, preset, request_id, is_failed, is_odd,
        CASE WHEN prompt_tokens BETWEEN 0 AND 1000000000000 THEN prompt_tokens END AS prompt_tokens,
        CASE WHEN cached_tokens BETWEEN 0 AND 1000000000000 THEN cached_tokens END AS cached_tokens,
        CASE WHEN written_tokens BETWEEN 0 AND 1000000000000 THEN written_tokens END AS written_tokens,
        CASE WHEN output_tokens BETWEEN 0 AND 1000000000000 THEN output_tokens END AS output_tokens
FROM (
    SELECT at_ms, own_schema, source, end_user,
        COALESCE(session_id, own_session) AS session,
        COALESCE(caller, own_caller, call_group) AS caller,
        COALESCE(model, own_model) AS model,
        COALESCE(provider, own_provider) AS provider,
        COALESCE(preset.name, own_preset) AS preset,
        COALESCE(request_id, own_request) AS request_id,
        CASE WHEN status >= 400 OR own_error IS NOT NULL THEN 1 ELSE 0 END AS is_failed,
        CASE WHEN own_schema LIKE 'preset-engine.call/%' THEN 0 WHEN own_schema IS NOT NULL THEN 3
            WHEN is_foreign = 1 AND (usage IS NULL OR request_id IS NULL AND session_id IS NULL) THEN 2
            WHEN request_id IS NOT NULL OR session_id IS NOT NULL OR usage IS NOT NULL THEN 0
            ELSE 1 END AS is_odd,
        CASE WHEN own_input IS NOT NULL THEN own_input
            WHEN usage.prompt_tokens IS NOT NULL THEN usage.prompt_tokens
            WHEN usage.promptTokenCount IS NOT NULL THEN usage.promptTokenCount
            WHEN usage.input_tokens_details.cached_tokens IS NOT NULL
                OR usage.total_tokens = usage.input_tokens + COALESCE(usage.output_tokens, 0)
                THEN usage.input_tokens
            ELSE usage.input_tokens + COALESCE(usage.cache_read_input_tokens, 0)
                + COALESCE(usage.cache_creation_input_tokens, 0)
        END AS prompt_tokens,
        CASE WHEN own_input IS NOT NULL THEN own_cached
            WHEN usage.prompt_tokens IS NOT NULL THEN COALESCE(
                usage.prompt_tokens_details.cached_tokens, usage.prompt_cache_hit_tokens,
                usage.cache_read_input_tokens, CASE WHEN usage.prompt_cache_miss_tokens <= usage.prompt_tokens
                    THEN usage.prompt_tokens - usage.prompt_cache_miss_tokens END)
            WHEN usage.promptTokenCount IS NOT NULL THEN COALESCE(usage.cachedContentTokenCount, 0)
            WHEN usage.input_tokens_details.cached_tokens IS NOT NULL
                THEN usage.input_tokens_details.cached_tokens
            ELSE COALESCE(usage.cache_read_input_tokens,
                CASE WHEN usage.cache_creation_input_tokens IS NOT NULL THEN 0 END)
        END AS cached_tokens,
        COALESCE(own_written, usage.prompt_tokens_details.cache_write_tokens,
            usage.input_tokens_details.cache_write_tokens, usage.cache_creation_input_tokens)
            AS written_tokens,
        COALESCE(own_output, usage.completion_tokens, usage.output_tokens,
            usage.candidatesTokenCount + COALESCE(usage.thoughtsTokenCount, 0)) AS output_tokens
    FROM raw_lines
) parsed
) bounded
UNION ALL
SELECT * FROM read_calls
"""

_REPORT = """
SELECT {names}, day, side,
    COUNT(*) AS calls,
    COUNT(cached_tokens) AS requests,
    SUM(CASE WHEN cached_tokens IS NOT NULL THEN COALESCE(input_tokens, 0) ELSE 0 END) AS prompt_tokens,
    SUM(COALESCE(cached_tokens, 0)) AS cached_tokens,
    SUM(CASE WHEN cached_tokens IS NOT NULL THEN COALESCE(written_tokens, 0) ELSE 0 END) AS written_tokens,
    SUM(CASE WHEN cached_tokens IS NULL THEN COALESCE(input_tokens, 0) ELSE 0 END) AS unknown_prompt_tokens,
    SUM(COALESCE(output_tokens, 0)) AS output_tokens,
    SUM(is_corrected) AS corrected,
    SUM(is_sessionless) AS without_session
FROM (
    SELECT {names}, is_sessionless, input_tokens, cached_tokens, written_tokens, output_tokens, is_corrected,
        {day} AS day,
        CASE WHEN kind = 0 AND ({outside}) THEN 'outside'
            WHEN kind = 0 AND ({is_first}) THEN 'first'
            WHEN kind = 0 THEN 'later'
            WHEN kind = 1 THEN 'failed'
            WHEN kind = 2 THEN 'empty'
            WHEN kind = 3 THEN 'unreadable'
            WHEN kind = 4 THEN 'foreign'
            WHEN kind = 5 THEN 'event'
            ELSE 'repeated' END AS side
    FROM (
        SELECT *, ROW_NUMBER() OVER ({group_window}) AS place{gap_column}
        FROM (
            SELECT *, CASE WHEN state = 0 AND request_id IS NOT NULL AND copy > 1 THEN 6 ELSE state END AS kind
            FROM (
                SELECT *, ROW_NUMBER() OVER (
                    PARTITION BY request_id
                    ORDER BY state, output_tokens DESC NULLS LAST, at_ms NULLS LAST
                ) AS copy
                FROM (
                    SELECT {inner_names}, {inner_group}, at_ms, ordinal, request_id, {provider}input_tokens,
                        cached_tokens, written_tokens, output_tokens, is_corrected,
                        CASE WHEN session IS NULL THEN 1 ELSE 0 END AS is_sessionless,
                        CASE WHEN is_odd > 0 THEN 2 + is_odd WHEN is_failed = 1 THEN 1
                            WHEN input_tokens IS NULL THEN 2 ELSE 0 END AS state
                    FROM calls
                ) judged
            ) numbered
        ) kinds
    ) placed
) sided
GROUP BY {names}, day, side
"""

FIGURES = (
    "calls",
    "requests",
    "prompt_tokens",
    "cached_tokens",
    "written_tokens",
    "unknown_prompt_tokens",
    "output_tokens",
    "corrected",
    "without_session",
)


@dataclass(frozen=True, slots=True)
class Question:
    """What a report asks of the calls.

    Attributes:
        by: keys of the report's rows, from `KEYS`.
        group: keys that make a conversation, within which the first call is told from the later ones.
        since_ms, until_ms: only calls at or after / before these moments are counted; what is first in its
            conversation is settled before.
        gap_seconds: a longer pause than this starts a new group; None for no such rule.
        lifetimes: seconds by provider name, used instead of `gap_seconds` where the provider is listed.
        with_days: sums are split by UTC day, or by steps of `step_ms` milliseconds.
    """

    by: tuple[str, ...] = ("caller", "model")
    group: tuple[str, ...] = ("session", "caller", "model")
    since_ms: int | None = None
    until_ms: int | None = None
    gap_seconds: int | None = None
    lifetimes: Mapping[str, int] = field(default_factory=dict)
    with_days: bool = True
    step_ms: int = DAY_MS


def report_query(question: Question) -> str:
    """The text over the table `calls`: the keys as `key_1`…, day, side, then the columns of `FIGURES`."""
    names = [f"key_{number}" for number, _ in enumerate(question.by, 1)]
    inner = [f"{_key(key)} AS {name}" for key, name in zip(question.by, names)]
    groups = [f"group_{number}" for number, _ in enumerate(question.group, 1)]
    inner_group = [f"{_key(key)} AS {name}" for key, name in zip(question.group, groups)]
    window = (
        f"PARTITION BY {', '.join(groups)} ORDER BY kind, at_ms NULLS LAST, ordinal, input_tokens"
    )
    gap = _gap(question)
    earlier = f",\n            LAG(at_ms) OVER ({window}) AS earlier_ms"
    return _REPORT.format(
        names=", ".join(names),
        inner_names=", ".join(inner),
        inner_group=", ".join(inner_group),
        provider="provider, " if question.lifetimes else "",
        day=f"at_ms - at_ms % {question.step_ms:d}"
        if question.with_days
        else "CAST(NULL AS BIGINT)",
        outside=_outside(question),
        is_first="place = 1" if gap is None else f"place = 1 OR at_ms - earlier_ms > {gap}",
        group_window=window,
        gap_column="" if gap is None else earlier,
    )


def _key(key: str) -> str:
    if key not in KEYS:
        raise ValueError(f"{key!r} is no key; choose from {', '.join(KEYS)}")
    if key == "session":  # a log that names no session is one conversation a file
        return "COALESCE(session, source)"
    return "end_user" if key == "user" else key


def _gap(question: Question) -> str | None:
    fixed = question.gap_seconds
    if not question.lifetimes:
        return None if fixed is None else str(fixed * 1000)
    cases = " ".join(
        f"WHEN {_text(provider)} THEN {seconds * 1000}"
        for provider, seconds in sorted(question.lifetimes.items())
    )
    return f"CASE provider {cases} ELSE {'NULL' if fixed is None else fixed * 1000} END"


def _outside(question: Question) -> str:
    since, until = question.since_ms, question.until_ms
    parts = [] if since is None and until is None else ["at_ms IS NULL"]
    if since is not None:
        parts.append(f"at_ms < {since}")
    if until is not None:
        parts.append(f"at_ms >= {until}")
    return " OR ".join(parts) or "1 = 0"


def _text(value: str) -> str:
    if not value.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise ValueError(f"{value!r} is no provider name")
    return f"'{value}'"
