"""The report's query on Spark SQL, for logs that outgrow one machine; the text is DuckDB's, unchanged.

Only the reading differs: Spark gets the field types as a schema, and a line that is no whole JSON becomes a row
of nulls, as with DuckDB (Spark's own JSON source would keep the part before the fault). The session is the one
that `spark-submit` made, else a local one on all processors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from preset_engine.cache.duck import FAMILIES, foreign_fields, raw_columns
from preset_engine.cache.query import CALL_COLUMNS, CALLS, Question, report_query
from preset_engine.cache.table import Rows
from preset_engine.errors import LogError, MissingExtra


class SparkTable:
    """The table `calls` in a Spark session.

    Args:
        raw: files that Spark reads itself, by family.
        read: the file of calls that Python has read, or None.

    Raises:
        MissingExtra: pyspark is not installed.
        LogError: no Spark session can be had (no Java runtime).
    """

    def __init__(self, raw: Mapping[str, Sequence[Path]], read: Path | None) -> None:
        self._session = start_session()
        views = [self._raw_view(family, raw.get(family, ())) for family in FAMILIES]
        self._session.sql(f"CREATE OR REPLACE TEMP VIEW raw_lines AS {' UNION ALL '.join(views)}")
        schema = ", ".join(f"`{name}` {_spark_type(kind)}" for name, kind in CALL_COLUMNS)
        calls = self._session.createDataFrame([], schema)
        if read is not None:
            calls = self._session.read.schema(schema).json(str(read.resolve()))
        calls.createOrReplaceTempView("read_calls")
        self._session.sql(f"CREATE OR REPLACE TEMP VIEW calls AS {CALLS}")

    def ask(self, question: Question) -> Rows:
        """The rows of the report's query."""
        return [tuple(row) for row in self._session.sql(report_query(question)).collect()]

    def close(self) -> None:
        """Drop the views; the session stays with the process."""
        for view in ("calls", "raw_lines", "read_calls"):
            self._session.catalog.dropTempView(view)

    def _raw_view(self, family: str, raw: Sequence[Path]) -> str:
        given = {column: field for field, column, _ in FAMILIES[family]}
        columns = raw_columns()
        if not raw:
            nothing = [
                f"CAST(NULL AS {_spark_type(kind)}) AS {column}"
                for column, kind in columns.items()
                if column != "moment"
            ]
            return (
                f"SELECT {', '.join(nothing)}, CAST(NULL AS BIGINT) AS at_ms, 0 AS is_foreign, '' AS source"
                " WHERE 1 = 0"
            )
        foreign = foreign_fields(family)
        fields = [(field, kind) for field, _, kind in FAMILIES[family]]
        fields += [(field, "VARCHAR") for field in foreign]
        schema = ", ".join(f"`{field}` {_spark_type(kind)}" for field, kind in fields)
        view = f"lines_of_{family.replace('-', '_')}"
        names = [str(path.resolve()) for path in raw]
        lines = self._session.read.text(names, lineSep="\n").where("trim(value) <> ''")
        whole = f"CASE WHEN try_parse_json(value) IS NOT NULL THEN from_json(value, {_text(schema)}) END"
        lines = lines.selectExpr(f"{whole} AS line", f"{_source(raw)} AS filename")
        lines.selectExpr("line.*", "filename").createOrReplaceTempView(view)
        parts = [
            f"`{given[column]}` AS {column}"
            if column in given
            else f"CAST(NULL AS {_spark_type(kind)}) AS {column}"
            for column, kind in columns.items()
            if column != "moment"
        ]
        is_foreign = " OR ".join(f"`{field}` IS NOT NULL" for field in foreign)
        moment = _AT.replace("moment", f"`{given['moment']}`")
        return (
            f"SELECT {', '.join(parts)}, {moment} AS at_ms,"
            f" CASE WHEN {is_foreign} THEN 1 ELSE 0 END AS is_foreign, filename AS source FROM {view}"
        )


def _source(raw: Sequence[Path]) -> str:
    """The name under which a file was given, in place of Spark's percent-encoded address."""
    path = "url_decode(replace(replace(_metadata.file_path, 'file://', ''), '+', '%2B'))"
    cases = " ".join(f"WHEN {_text(str(file.resolve()))} THEN {_text(str(file))}" for file in raw)
    return f"CASE {path} {cases} ELSE {path} END"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


_NUMBER = "TRY_CAST(moment AS DOUBLE)"
_AT = (
    "COALESCE(unix_millis(TRY_CAST(moment AS TIMESTAMP)), CAST(CASE"
    f" WHEN {_NUMBER} >= 1e17 THEN {_NUMBER} / 1e6 WHEN {_NUMBER} >= 1e14 THEN {_NUMBER} / 1e3"
    f" WHEN {_NUMBER} >= 1e11 THEN {_NUMBER} ELSE {_NUMBER} * 1e3 END AS BIGINT))"
)


def start_session() -> Any:
    """The running Spark session, or a new local one; `Any`, since pyspark ships no types we could import.

    Raises:
        MissingExtra: pyspark is not installed.
        LogError: the session does not start.
    """
    try:
        from pyspark import SparkConf  # an extra that starts a Java runtime
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("A report with Spark", "spark") from None
    builder = SparkSession.builder.appName("preset-engine cache report")
    if not SparkConf().contains("spark.master"):
        builder = builder.master("local[*]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "8").config(
            "spark.driver.bindAddress", "127.0.0.1"
        )
        builder = builder.config("spark.driver.host", "127.0.0.1")
    try:
        session = builder.getOrCreate()
    except Exception as error:  # pyspark raises its own and Py4J's errors
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LogError(
            f"Spark does not start ({text}); it needs a Java runtime, 17 or newer"
        ) from error
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.caseSensitive", "true")
    return session


def _spark_type(kind: str) -> str:
    """The type in Spark's words: text is STRING, and a struct's fields stand in angle brackets."""
    words = kind.replace("VARCHAR", "STRING").replace("INTEGER", "INT")
    if "STRUCT(" not in words:
        return words
    words = words.replace("STRUCT(", "STRUCT<").replace(")", ">")
    return ", ".join(
        part.replace(" ", ": ", 1) if "<" not in part else _nested(part)
        for part in words.split(", ")
    )


def _nested(part: str) -> str:
    """`prompt STRUCT<cached BIGINT` with its colons: `prompt: STRUCT<cached: BIGINT`."""
    outer, _, inner = part.rpartition("<")
    named = outer.replace(" ", ": ", 1) if " " in outer else outer
    return f"{named}<{inner.replace(' ', ': ', 1)}"
