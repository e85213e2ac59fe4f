"""Whether a regex script's pattern is ECMAScript; nothing is run here.

The package `regress` only compiles the pattern, which takes microseconds. Running patterns, within a time
limit, is the business of `Context.patterns`.
"""

from __future__ import annotations

import regress

MOST_CHARACTERS = 50_000
_FLAGS = frozenset("dgimsuvy")


def is_valid_pattern(pattern: str) -> bool:
    """Whether `/source/flags` or a bare source compiles; over-long patterns are not tried and count as valid."""
    if len(pattern) > MOST_CHARACTERS:
        return True
    source, flags = split_pattern(pattern)
    if len(set(flags)) != len(flags) or not _FLAGS.issuperset(flags):
        return False
    try:
        regress.Regex(source, "".join(flag for flag in flags if flag in "imsuv"))
    except regress.RegressError:
        return False
    return True


def split_pattern(pattern: str) -> tuple[str, str]:
    """Source and flags of `/source/flags`; a pattern without slashes has no flags."""
    end = pattern.rfind("/")
    if pattern.startswith("/") and end > 0:
        return pattern[1:end], pattern[end + 1 :]
    return pattern, ""
