"""The two dialects as values of switches; there is one code path.

`Dialect.native` follows the seed rules, `Dialect.sillytavern` is byte-equal to SillyTavern 1.19.
Each switch names one difference of the design's table (design section 3).
"""

from __future__ import annotations

from enum import StrEnum


class Dialect(StrEnum):
    """Which rules assemble the messages; the value is what a file or command line says."""

    native = "native"
    sillytavern = "sillytavern"
