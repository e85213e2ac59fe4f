"""The report's query on DuckDB: big logs are read by its own parallel JSON reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from preset_engine.cache.query import CALL_COLUMNS, CALLS
from preset_engine.errors import LogError, MissingExtra

if TYPE_CHECKING:
    import duckdb

Rows: TypeAlias = list[tuple[Any, ...]]  # a database row holds what its query asks for
Tick: TypeAlias = Callable[[float], None]

USAGE = (
    "STRUCT(prompt_tokens BIGINT, completion_tokens BIGINT, total_tokens BIGINT,"
    " prompt_cache_hit_tokens BIGINT, prompt_cache_miss_tokens BIGINT,"
    " prompt_tokens_details STRUCT(cached_tokens BIGINT, cache_write_tokens BIGINT),"
    " input_tokens BIGINT, output_tokens BIGINT,"
    " cache_read_input_tokens BIGINT, cache_creation_input_tokens BIGINT,"
    " input_tokens_details STRUCT(cached_tokens BIGINT, cache_write_tokens BIGINT),"
    " promptTokenCount BIGINT, cachedContentTokenCount BIGINT,"
    " candidatesTokenCount BIGINT, thoughtsTokenCount BIGINT)"
)
LINE_FIELDS: tuple[tuple[str, str, str], ...] = (
    ("request_id", "request_id", "VARCHAR"),
    ("session_id", "session_id", "VARCHAR"),
    ("caller", "caller", "VARCHAR"),
    ("group", "call_group", "VARCHAR"),
    ("model", "model", "VARCHAR"),
    ("provider", "provider", "VARCHAR"),
    ("preset", "preset", "STRUCT(name VARCHAR)"),
    ("user", "end_user", "VARCHAR"),
    ("status", "status", "BIGINT"),
    ("usage", "usage", USAGE),
    ("ts", "moment", "VARCHAR"),
)
OWN_FIELDS: tuple[tuple[str, str, str], ...] = (
    ("schema", "own_schema", "VARCHAR"),
    ("gen_ai.conversation.id", "own_session", "VARCHAR"),
    ("preset_engine.caller", "own_caller", "VARCHAR"),
    ("gen_ai.request.model", "own_model", "VARCHAR"),
    ("gen_ai.provider.name", "own_provider", "VARCHAR"),
    ("preset_engine.preset.name", "own_preset", "VARCHAR"),
    ("preset_engine.request.id", "own_request", "VARCHAR"),
    ("error.type", "own_error", "VARCHAR"),
    ("gen_ai.usage.input_tokens", "own_input", "BIGINT"),
    ("gen_ai.usage.cache_read.input_tokens", "own_cached", "BIGINT"),
    ("gen_ai.usage.cache_creation.input_tokens", "own_written", "BIGINT"),
    ("gen_ai.usage.output_tokens", "own_output", "BIGINT"),
    ("enduser.id", "end_user", "VARCHAR"),
    ("timestamp", "moment", "VARCHAR"),
)
"""Fields of a raw line: JSON name, column of the view `raw_lines`, type (the same words on both engines)."""

FAMILIES = {"usage-line": LINE_FIELDS, "preset-engine": OWN_FIELDS}
FOREIGN = ("id", "type", "response", "usageMetadata", "schema", "request_id", "usage")
"""Fields of other shapes: a line with one of these and none of ours goes to the Python readers."""


def connect(spill: Path | None = None, memory_megabytes: int = 800) -> duckdb.DuckDBPyConnection:
    """An in-memory database that spills into the folder `spill` beyond the given memory.

    Raises:
        MissingExtra: DuckDB is not installed.
    """
    try:
        import duckdb  # an extra, and slow to import
    except ImportError:
        raise MissingExtra("A report with DuckDB", "report") from None
    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{memory_megabytes}MB'")
    if spill is not None:
        connection.execute(f"SET temp_directory = {_text(str(spill))}")
    connection.execute("SET preserve_insertion_order = false")
    connection.execute("SET enable_progress_bar = false")
    return connection


def define_calls(
    connection: duckdb.DuckDBPyConnection, raw: Mapping[str, Sequence[Path]], read: Path | None
) -> None:
    """Make the view `calls` over the raw files of each family and the file of calls that Python has read."""
    views = [_raw_view(family, raw.get(family, ())) for family in FAMILIES]
    connection.execute(f"CREATE OR REPLACE VIEW raw_lines AS {' UNION ALL '.join(views)}")
    types = ", ".join(f"{_text(name)}: {_text(kind)}" for name, kind in CALL_COLUMNS)
    names = ", ".join(name for name, _ in CALL_COLUMNS)
    if read is None:
        empty = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in CALL_COLUMNS)
        source = f"SELECT {empty} WHERE 1 = 0"
    else:
        source = f"SELECT {names} FROM read_json({_text(str(read))}, columns = {{{types}}})"
    connection.execute(f"CREATE OR REPLACE VIEW read_calls AS {source}")
    connection.execute(f"CREATE OR REPLACE VIEW calls AS {CALLS}")


def run(connection: duckdb.DuckDBPyConnection, query: str, tick: Tick | None = None) -> Rows:
    """The rows of a query; `tick` gets the done part, 0 to 1, while it runs."""
    import duckdb  # loaded already by `connect`

    try:
        if tick is None:
            return connection.execute(query).fetchall()
        return _run_watched(connection, query, tick)
    except duckdb.Error as error:
        first_line = str(error).splitlines()[0]
        raise LogError(f"DuckDB could not read the logs: {first_line}") from error


def foreign_lines(connection: duckdb.DuckDBPyConnection, family: str, path: Path) -> list[str]:
    """The lines of a raw file that are JSON of another shape, as text; the condition is that of `CALLS`."""
    condition = f"NOT {_has('schema')}"
    if family == "usage-line":
        foreign = " OR ".join(_has(field) for field in foreign_fields(family))
        bare = f"NOT {_has('usage')} OR NOT {_has('request_id')} AND NOT {_has('session_id')}"
        condition = f"({foreign}) AND ({bare})"
    query = (
        f"SELECT CAST(json AS VARCHAR) FROM read_json_objects({_text(str(path))},"
        f" format = 'newline_delimited', ignore_errors = true) WHERE json IS NOT NULL AND {condition}"
    )
    return [row[0] for row in run(connection, query)]


def _has(field: str) -> str:
    return f"COALESCE(json_type(json, {_text(f'$.{field}')}), 'NULL') <> 'NULL'"


def foreign_fields(family: str) -> list[str]:
    """Fields that tell a line of another shape in a file of this family."""
    given = {field for field, _, _ in FAMILIES[family]}
    return [field for field in FOREIGN if field not in given]


def raw_columns() -> dict[str, str]:
    """Every column of `raw_lines` that comes from a field, with its type."""
    return {column: kind for fields in FAMILIES.values() for _, column, kind in fields}


def _raw_view(family: str, raw: Sequence[Path]) -> str:
    given = {column: field for field, column, _ in FAMILIES[family]}
    foreign = foreign_fields(family)
    parts = [
        f"{_name(given[column])} AS {column}"
        if column in given and raw
        else f"CAST(NULL AS {kind}) AS {column}"
        for column, kind in raw_columns().items()
        if column != "moment"
    ]
    if not raw:
        return f"SELECT {', '.join(parts)}, CAST(NULL AS BIGINT) AS at_ms, 0 AS is_foreign, '' AS source WHERE 1 = 0"
    columns = [(field, kind) for field, _, kind in FAMILIES[family]] + [
        (f, "VARCHAR") for f in foreign
    ]
    types = ", ".join(f"{_text(field)}: {_text(kind)}" for field, kind in columns)
    files = ", ".join(_text(str(path)) for path in raw)
    is_foreign = " OR ".join(f"{_name(field)} IS NOT NULL" for field in foreign)
    moment = _AT.replace("moment", _name(given["moment"]))
    return (
        f"SELECT {', '.join(parts)}, {moment} AS at_ms, CASE WHEN {is_foreign} THEN 1 ELSE 0 END AS is_foreign,"
        f" filename AS source FROM read_json([{files}], format = 'newline_delimited', ignore_errors = true,"
        f" filename = true, maximum_object_size = 16777216, columns = {{{types}}})"
    )


_NUMBER = "TRY_CAST(moment AS DOUBLE)"
_AT = (
    f"COALESCE(epoch_ms(TRY_CAST(moment AS TIMESTAMP)), CAST(CASE"
    f" WHEN {_NUMBER} >= 1e17 THEN {_NUMBER} / 1e6 WHEN {_NUMBER} >= 1e14 THEN {_NUMBER} / 1e3"
    f" WHEN {_NUMBER} >= 1e11 THEN {_NUMBER} ELSE {_NUMBER} * 1e3 END AS BIGINT))"
)


def _run_watched(connection: duckdb.DuckDBPyConnection, query: str, tick: Tick) -> Rows:
    from concurrent.futures import ThreadPoolExecutor, TimeoutError  # only for long input

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(lambda: connection.execute(query).fetchall())
        while True:
            try:
                return future.result(timeout=0.2)
            except TimeoutError:
                tick(max(0.0, connection.query_progress()) / 100)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'
