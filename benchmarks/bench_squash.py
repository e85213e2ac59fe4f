"""Shaping 10,000 messages: the modes beside a plain loop that compares roles, zones beside a copied list."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.figures import Figure, median_seconds
from preset_engine.messages import ChatMessage, Draft, Origin, OriginKind, Piece
from preset_engine.squash.native import shape_zones
from preset_engine.squash.post_process import post_process, shape
from preset_engine.squash.system import squash_messages
from preset_engine.squash.zones import HistoryZone, Injected, Zones

COUNT = 10_000


def _chat(count: int) -> tuple[ChatMessage, ...]:
    roles = ("user", "assistant")
    return tuple(ChatMessage(roles[n % 2], f"Message {n} of a long chat.") for n in range(count))


def _draft(role: str, text: str) -> Draft:
    return Draft(ChatMessage(role, text), (Piece(Origin(OriginKind.ENTRY, text), text),))


def _role_loop(messages: list[ChatMessage]) -> list[list[ChatMessage]]:
    """The least that any join of neighbours must do: compare each role with the last."""
    groups: list[list[ChatMessage]] = []
    previous = ""
    for message in messages:
        if message.role == previous:
            groups[-1].append(message)
        else:
            groups.append([message])
            previous = message.role
    return groups


def _reference_scan(
    old: tuple[ChatMessage, ...], new: tuple[ChatMessage, ...]
) -> list[ChatMessage]:
    """Copy the list and compare references: the least that noticing a changed history takes."""
    copied = list(new)
    assert old == new[: len(old)]
    return copied


def _best(*works: Callable[[], object]) -> list[float]:
    """The best time of each work, taken in turns, so that a busy machine is busy for all of them."""
    return [
        min(times)
        for times in zip(
            *([median_seconds(work, repeat=1) for work in works] for _ in range(15)), strict=True
        )
    ]


def run() -> list[Figure]:
    """All figures of this subject."""
    records = _chat(COUNT)
    flat = [ChatMessage("system", "Main"), ChatMessage("system", "Style"), *records]
    drafts = [Draft(one, (Piece(Origin(OriginKind.HISTORY, ""), one.text),)) for one in flat]
    shaped = shape(flat, "strict")
    loop, strict, boolean, pieces = _best(
        lambda: _role_loop(flat),
        lambda: post_process(flat, "strict"),
        lambda: squash_messages(flat),
        lambda: list(shaped.drafts(drafts)),
    )
    measure = "a loop that compares roles"
    return [
        Figure(f"mode strict, {COUNT:,} messages", strict, loop, measure, 4.0),
        Figure(f"the boolean, {COUNT:,} messages", boolean, loop, measure, 3.0),
        Figure("pieces of the shaped messages, on demand", pieces, loop, measure, 3.0),
        *_zone_figures(records),
    ]


def _zone_figures(records: tuple[ChatMessage, ...]) -> list[Figure]:
    """Zones around a shared history: the first turn, and the next one, which knows the prefix."""
    note = _draft("system", "Note")
    injected = tuple(Injected(len(records) - depth, note) for depth in (40, 9, 4, 1))
    before, after = (_draft("system", "Main"), _draft("system", "Style")), (_draft("user", "Turn"),)

    def turn(history: tuple[ChatMessage, ...]) -> list[ChatMessage]:
        return shape_zones(Zones(before, HistoryZone(history, injected=injected), after)).messages()

    longer = (*records, ChatMessage("user", "one more"))
    others = iter([_chat(COUNT) for _ in range(15)])
    loop, scan, cold, warm = _best(
        lambda: _role_loop(list(records)),
        lambda: _reference_scan(records, longer),
        lambda: turn(next(others)),
        lambda: (turn(records), turn((*records, ChatMessage("user", "one more")))),
    )
    return [
        Figure(
            f"zones, {COUNT:,} records, first turn", cold, loop, "a loop that compares roles", 3.0
        ),
        Figure(
            f"zones, {COUNT:,} records, two further turns",
            warm,
            2 * scan,
            "copying and comparing references twice",
            6.0,
        ),
    ]


if __name__ == "__main__":
    from benchmarks.figures import print_figures

    print_figures("squash", run())
