"""The three engines that give macros their meaning."""

from __future__ import annotations

from enum import StrEnum


class Engine(StrEnum):
    """Which rules expand a text.

    `new` and `legacy` are SillyTavern 1.19's two engines (its default is the new one); `native` is the
    small language of the seed documents: few macros, directives, everything else is text.
    """

    new = "new"
    legacy = "legacy"
    native = "native"
