"""Keeping a long session inside the model's window: when to compress, where to cut, what may be reused.

The rule (design decision 10): nothing happens below 80 % of the window. At or above it the oldest records are
replaced by a summary so that what is sent falls to half of that threshold. From then on the same summary is
sent with the growing rest, until the threshold is met again; so the function is called rarely and the prompt's
beginning stays equal between two cuts. A cut never falls inside a tool group and falls before a user record
where one is left to start with::

    r1 r2 r3 r4 | r5 r6 r7 r8   r9 …            the summary covers exactly r1 to r4, the rest is sent as it is

The kept summary is worth something only for exactly the records it was made from: it carries their digest. A
trim or an edit among them changes the digest, so a stale summary is never sent.

All sizes are tokens. A reported prompt size is the better base than an estimate; where it was larger than our
estimate of the same prompt, all estimates are scaled up by that factor (a count of characters is far too low
for Chinese).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile

from preset_engine.messages import ChatMessage
from preset_engine.session.config import CompressFn
from preset_engine.session.meta import CompressionSnapshot
from preset_engine.session.record import SessionRecord
from preset_engine.tokens import TokenCounter

THRESHOLD_SHARE = 0.8  # of the window: from here on the history is compressed
TARGET_SHARE = 0.5  # of the threshold: what a cut leaves
LAST_SHARE = 0.95  # of the window: beyond it a new cut is made, however little it frees
SUMMARY_ALLOWANCE_TOKENS = 500  # for a summary of unknown size, at most a quarter of the target


@dataclass(frozen=True, slots=True)
class UsageBase:
    """What a provider reported for the newest prompt, to estimate the next one from.

    Attributes:
        input_tokens: the reported size of that prompt.
        through: number of the newest record that was in it.
        estimated: our own estimate of the same prompt; 0 when unknown.
        covered: digest of the records that its summary stood for; empty without a summary.
    """

    input_tokens: int
    through: int
    estimated: int = 0
    covered: str = ""

    @property
    def factor(self) -> float:
        """How much larger a prompt really is than our estimate; never below 1."""
        return max(1.0, self.input_tokens / self.estimated) if self.estimated else 1.0


@dataclass(frozen=True, slots=True)
class Budget:
    """What the next prompt has to fit into.

    Attributes:
        window_tokens: the model's context window.
        fixed_tokens: everything beside the history and its summary (slots, preset, turn, tool tail).
        new_tokens: the part of the fixed tokens that the newest prompt did not hold (the turn).
        base: what was reported for the newest prompt, or None.
    """

    window_tokens: float
    fixed_tokens: int
    new_tokens: int = 0
    base: UsageBase | None = None

    @property
    def threshold(self) -> float:
        """From this size on the history is compressed (inclusive)."""
        return self.window_tokens * THRESHOLD_SHARE

    @property
    def target(self) -> float:
        """What a cut aims at."""
        return self.threshold * TARGET_SHARE


@dataclass(frozen=True, slots=True)
class Compressed:
    """The outcome: the records that are sent, and the summary of all that are not.

    Attributes:
        start: the first record that is sent; everything before it is covered.
        snapshot: the summary with its digest; None when everything is sent.
        is_new: the function was called for it.
    """

    start: int = 0
    snapshot: CompressionSnapshot | None = None
    is_new: bool = False

    @property
    def summary(self) -> str:
        """The summary's text; empty without one."""
        return self.snapshot.summary if self.snapshot else ""

    @property
    def digest(self) -> str:
        """The digest of what is covered; empty without a summary."""
        return self.snapshot.digest if self.snapshot else ""


def record_tokens(record: SessionRecord, counter: TokenCounter) -> int:
    """Tokens of a record: its text and the arguments of its calls."""
    size = counter.count(record.content)
    for call in record.tool_calls:
        size += counter.count(arguments_text(call.arguments))
    return size


def message_tokens(messages: Sequence[ChatMessage], counter: TokenCounter) -> int:
    """Tokens of messages: their texts and the arguments of their calls."""
    size = 0
    for message in messages:
        size += counter.count(message.text)
        for call in message.tool_calls:
            function = call.get("function")
            if isinstance(function, dict):
                size += counter.count(str(function.get("arguments", "")))
    return size


def arguments_text(arguments: object) -> str:
    """Arguments as compact JSON text, the form in which they are sent and counted."""
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), default=dict)


def records_digest(records: Sequence[SessionRecord]) -> str:
    """A digest of what a summary would read of these records, and of nothing else."""
    state = blake2b(digest_size=16)
    for record in records:
        calls = [[call.name, call.arguments] for call in record.tool_calls]
        body = json.dumps([record.role, record.content, calls], default=dict)
        state.update(body.encode() + b"\n")
    return state.hexdigest()


@dataclass(frozen=True, slots=True)
class Head:
    """The history that may be compressed, and how to ask about it.

    Attributes:
        records: the history without incomplete tool groups.
        sizes: gives the tokens of records.
        digest: gives the digest of records.
    """

    records: Sequence[SessionRecord]
    sizes: Callable[[Sequence[SessionRecord]], Sequence[int]]
    digest: Callable[[Sequence[SessionRecord]], str]

    async def covered(self, start: int, function: CompressFn) -> Compressed:
        """A new summary of everything before `start`."""
        records = self.records[:start]
        snapshot = CompressionSnapshot(await function(records), start, self.digest(records))
        return Compressed(start, snapshot, is_new=True)


async def compress(
    head: Head,
    budget: Budget,
    known: CompressionSnapshot | None,
    function: Callable[[], CompressFn],
    counter: TokenCounter,
) -> Compressed:
    """Decide what of the history is sent, calling the function only where a new summary is needed.

    Args:
        head: the history.
        budget: what it has to fit into.
        known: the kept summary, if any; a stale one is ignored.
        function: gives the compress function; asked for only when it is needed.
        counter: counts the tokens of a summary.
    """
    now = _reused(head, known)
    expected = _estimate(head, budget, now, counter.count(now.summary))
    if expected < budget.threshold:
        return now
    factor = budget.base.factor if budget.base else 1.0
    records, sizes = head.records, head.sizes(head.records)
    if _frees_little(sum(sizes[now.start :]) * factor, expected, budget, now):
        return now
    room = budget.target / factor - budget.fixed_tokens
    allowance = min(SUMMARY_ALLOWANCE_TOKENS, budget.target / 4)
    start = cut(records, sizes, room - (counter.count(now.summary) or allowance))
    if start == 0:
        return Compressed()
    if start <= now.start:
        return now  # a cut could not free anything: the rest is already as short as it may be
    made = await head.covered(start, function())
    size = counter.count(made.summary)
    total = (budget.fixed_tokens + size + sum(sizes[start:])) * factor
    if total < budget.threshold or start == len(records):
        return made
    start = cut(records, sizes, room - size)
    return await head.covered(start, function()) if start > made.start else made


def _frees_little(rest: float, expected: float, budget: Budget, now: Compressed) -> bool:
    """Whether a new cut is not worth a call yet: the rest is short and the prompt still fits.

    Without this, a preset that fills most of the window by itself would cost a summary every turn.
    """
    fits = expected < budget.window_tokens * LAST_SHARE
    return now.snapshot is not None and rest < budget.target / 4 and fits


def cut(records: Sequence[SessionRecord], sizes: Sequence[int], room: float) -> int:
    """Index of the first record to send so that the rest fits into `room` tokens; `len(records)` is none.

    Tool groups stay whole. A start in the middle moves on to the next user record, if there is one.
    """
    total = sum(sizes)
    if total <= room:
        return 0
    start = len(records)
    used = 0
    for place in range(len(records) - 1, -1, -1):
        used += sizes[place]
        if used > room:
            break
        if records[place].role != "tool":
            start = place
    later = (place for place in range(start, len(records)) if records[place].role == "user")
    return next(later, start)


def _reused(head: Head, known: CompressionSnapshot | None) -> Compressed:
    if known is None or not 0 < known.covered_count <= len(head.records):
        return Compressed()
    if known.digest != head.digest(head.records[: known.covered_count]):
        return Compressed()
    return Compressed(known.covered_count, known)


def _estimate(head: Head, budget: Budget, now: Compressed, summary_tokens: int) -> float:
    """The size of the next prompt if nothing new were compressed."""
    base = budget.base
    if base is not None and base.covered == now.digest:
        newer = tuple(takewhile(lambda r: r.number > base.through, reversed(head.records)))
        return base.input_tokens + (sum(head.sizes(newer)) + budget.new_tokens) * base.factor
    factor = base.factor if base is not None else 1.0
    rest = sum(head.sizes(head.records[now.start :]))
    return (budget.fixed_tokens + summary_tokens + rest) * factor
