"""Writes the generated parts of the documentation: `python -m docs.generate`, or `make docs`.

A generated part stands between two marks in a page; what people wrote around it stays. A page joins in by a line
in `PARTS`, a whole file by a line in `FILES`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from preset_engine.log.schema import log_schema_text
from preset_engine.macros.help import macro_tables
from preset_engine.preset.native_schema import schema_text
from preset_engine.preset.note_codes import note_table

HERE = Path(__file__).resolve().parent
PARTS: dict[str, Callable[[], str]] = {"macros.md": macro_tables, "notes.md": note_table}
FILES: dict[str, Callable[[], str]] = {
    "schema/preset.schema.json": schema_text,
    "schema/log.schema.json": log_schema_text,
}
_MARKED = re.compile(
    r"(<!-- generated: python -m docs.generate -->\n\n).*?(\n?<!-- end of the generated part -->)",
    re.DOTALL,
)


def with_part(page: str, part: str) -> str:
    """The page with its generated part replaced."""
    text, found = _MARKED.subn(lambda match: match[1] + part + match[2], page)
    if found != 1:
        message = "a page with a generated part has its two marks once"
        raise ValueError(message)
    return text


def main() -> None:
    """Rewrite every generated part."""
    for name, part in PARTS.items():
        path = HERE / name
        path.write_text(with_part(path.read_text("utf-8"), part()), "utf-8")
        sys.stdout.write(f"docs/{name}\n")
    for name, text in FILES.items():
        (HERE / name).write_text(text(), "utf-8")
        sys.stdout.write(f"docs/{name}\n")


if __name__ == "__main__":
    main()
