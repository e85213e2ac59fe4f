"""Totals of many calls, named as such: adding them to calls would count tokens twice."""

from __future__ import annotations

from preset_engine.log.call import Reading, Skip, SkipKind
from preset_engine.log.readers.fields import Body, inner
from preset_engine.log.readers.memory import Memory


def read(value: Body, memory: Memory) -> list[Reading] | None:
    """A summary of calls, which is counted and left out."""
    del memory
    name = _name(value)
    return None if name is None else [Skip(SkipKind.SUMMARY, f"{name}: totals, not calls")]


def _name(value: Body) -> str | None:
    if "contributions" in value and "summary" in value:
        return "a tokscale summary"
    if value.get("type") == "result" and ("modelUsage" in value or "total_cost_usd" in value):
        return "a Claude Code run's result"
    session = inner(value, "tokenUsage")
    if "inputTokens" in session and "cacheReadTokens" in session and "message" not in value:
        return "a droid session's totals"
    if isinstance(value.get("totals"), dict) and any(
        k in value for k in ("daily", "monthly", "sessions")
    ):
        return "a ccusage summary"
    if value.get("object") in ("page", "bucket") or ("num_model_requests" in value):
        return "a usage API page"
    return None
