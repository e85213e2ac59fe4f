"""One model call as the report sees it, whatever shape the log had.

`Counts` are the token figures of one usage object, `Call` adds who, when and what, `Skip` is a line that is no
call, with the reason. The prompt's total always includes the tokens read from the cache and those written to
it; a figure that the log does not state is None and never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Counts:
    """Token figures of one call, in tokens.

    Attributes:
        input_tokens: the whole prompt, cache reads and writes included; None where not stated.
        cached_tokens: read from the prompt cache; None where the log does not tell.
        written_tokens: written to the prompt cache, or None.
        output_tokens: the reply, reasoning included where the provider counts it there.
        total_tokens: as stated, else input and output together.
        missed_tokens: the cache misses where a provider states them (DeepSeek).
        is_corrected: the prompt count was smaller than the cached count, so it had left the cached part out.
    """

    input_tokens: int | None
    cached_tokens: int | None = None
    written_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    missed_tokens: int | None = None
    is_corrected: bool = False

    def to_usage_json(self) -> dict[str, int]:
        """The usage record of the writing-agent seed: prompt, completion, total, cached and missed tokens."""
        body = {
            "promptTokens": self.input_tokens or 0,
            "completionTokens": self.output_tokens or 0,
            "totalTokens": self.total_tokens or 0,
        }
        if self.cached_tokens is not None:
            body["cachedTokens"] = self.cached_tokens
        if self.missed_tokens is not None:
            body["cacheMissTokens"] = self.missed_tokens
        return body


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model.

    Attributes:
        counts: its tokens, or None where it has no usage.
        shape: slug of the log shape it was read from, as listed in ``docs/logs.md``.
        at_ms: milliseconds since 1970 in UTC, or None.
        session: the conversation, or None.
        caller: the part of the application that asked, or None.
        model: as logged.
        provider: as logged, else told from the shape.
        preset: name of the preset, or None.
        user: the end user, or None.
        request_id: what repeated lines of one request share, or None.
        is_failed: the request failed; its tokens stay out of every sum.
        source: the file.
        ordinal: place in the file, for calls of equal time.
    """

    counts: Counts | None
    shape: str
    at_ms: int | None = None
    session: str | None = None
    caller: str | None = None
    model: str | None = None
    provider: str | None = None
    preset: str | None = None
    user: str | None = None
    request_id: str | None = None
    is_failed: bool = False
    source: str = ""
    ordinal: int = 0


class SkipKind(StrEnum):
    """Why a line is no call."""

    SUMMARY = "summary"  # totals of many calls
    NO_CALL = "no call"  # a known line that stands beside calls: a user turn, a span, an event
    UNKNOWN = "unknown shape"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Skip:
    """A line or object that is no call, and what it is instead."""

    kind: SkipKind
    reason: str


Reading = Call | Skip
