"""Zones: the history is shared, shaped inside itself only, and never joined with what is around it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.messages import ChatMessage, OriginKind
from preset_engine.squash.mode import Mode
from preset_engine.squash.names import Names
from preset_engine.squash.native import shape_zones
from preset_engine.squash.runs import Span, can_join, find_runs, join_messages
from preset_engine.squash.zones import HistoryZone, Injected, Zones
from tests.squash.made import IMAGE, draft, plain_lists, rebuilds, told, zones

A, B = ChatMessage("user", "a"), ChatMessage("user", "b")
C, D = ChatMessage("assistant", "c"), ChatMessage("user", "d")
HISTORY = HistoryZone((A, B, C, D))


def _turn(*after: str, history: HistoryZone = HISTORY) -> Zones:
    roles = {"state": "system", "turn": "user", "post": "system"}
    return Zones(
        (draft("system", "S"), draft("system", "T")),
        history,
        tuple(draft(roles[text], text) for text in after),
    )


@pytest.mark.parametrize(
    ("mode", "before", "inside", "after"),
    [
        ("none", ["S", "T"], ["a", "b", "c", "d"], ["state", "turn", "post"]),
        ("merge", ["S\n\nT"], ["a\n\nb", "c", "d"], ["state", "turn", "post"]),
        ("semi", ["S\n\nT"], ["a\n\nb", "c", "d"], ["state\n\nturn\n\npost"]),
        ("strict", ["S\n\nT"], ["a\n\nb", "c", "d"], ["state\n\nturn\n\npost"]),
        ("single", ["S\n\nT"], ["a\n\nb", "c", "d"], ["state\n\nNoa: turn\n\npost"]),
        (True, ["S\nT"], ["a", "b", "c", "d"], ["state", "turn", "post"]),
        (False, ["S", "T"], ["a", "b", "c", "d"], ["state", "turn", "post"]),
    ],
)
def test_each_zone_is_shaped_on_its_own(
    mode: str | bool, before: list[str], inside: list[str], after: list[str]
) -> None:
    shaped = shape_zones(_turn("state", "turn", "post"), mode, Names("Mira", "Noa"))
    assert [one.message.content for one in shaped.before] == before
    assert [message.content for message in shaped.history.messages()] == inside
    assert [one.message.content for one in shaped.after] == after


def test_the_last_user_turn_and_the_current_one_stay_apart() -> None:
    roles = told(shape_zones(_turn("turn")).messages())
    assert roles[-2:] == [("user", "d"), ("user", "turn")]


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.NONE])
def test_depth_entries_stay_system_messages(mode: Mode) -> None:
    notes = (Injected(1, draft("system", "n1")), Injected(1, draft("system", "n2")))
    history = replace(HISTORY, injected=(*notes, Injected(4, draft("user", "u"))))
    shaped = shape_zones(_turn("turn", history=history), mode)
    assert told(shaped.history.messages()) == [
        ("user", "a"),
        ("system", "n1\n\nn2"),
        ("user", "b"),
        ("assistant", "c"),
        ("user", "d\n\nu"),
    ]


def test_the_first_message_of_the_whole_prompt_may_stay_a_system_message() -> None:
    alone = Zones((), HistoryZone(), (draft("system", "post"), draft("user", "turn")))
    assert told(shape_zones(alone).messages()) == [("system", "post"), ("user", "turn")]
    behind = replace(alone, history=HISTORY)
    assert told(shape_zones(behind).messages())[-1] == ("user", "post\n\nturn")


@pytest.mark.parametrize(
    ("before", "history", "after", "place"),
    [
        ([("system", "S")], (), [], 1),
        ([("system", "S")], (), [("user", "t")], None),
        ([("system", "S")], (), [("assistant", "t")], 1),
        ([("system", "S")], (C, D), [("user", "t")], None),
        ([("system", "S"), ("assistant", "x")], (D,), [("user", "t")], 1),
        ([("assistant", "x")], (D,), [("user", "t")], 0),
        ([], (C, D), [("user", "t")], None),
        ([], (), [("assistant", "x")], 0),
        ([], (), [], 0),
    ],
)
def test_a_placeholder_is_added_where_no_zone_supplies_the_first_turn(
    before: list[tuple[str, str]],
    history: tuple[ChatMessage, ...],
    after: list[tuple[str, str]],
    place: int | None,
) -> None:
    given_zones = Zones(
        tuple(draft(*one) for one in before),
        HistoryZone(history),
        tuple(draft(*one) for one in after),
    )
    drafts = list(shape_zones(given_zones, "strict", placeholder="go").drafts())
    kinds = [one.pieces[0].origin.kind for one in drafts]
    found = [number for number, kind in enumerate(kinds) if kind is OriginKind.PLACEHOLDER]
    assert found == ([] if place is None else [place])


def test_tool_calls_names_and_unknown_fields_keep_messages_apart() -> None:
    call = ChatMessage("assistant", "x", tool_calls=({"id": "c"},))
    named = ChatMessage("user", "n", "Tom")
    odd = ChatMessage("user", "o", extra={"k": 1})
    records = (C, call, A, named, odd, ChatMessage("tool", "1"), ChatMessage("tool", "2"))
    assert find_runs(records) == ()


def test_media_of_joined_turns_stay_whole() -> None:
    seen = ChatMessage("user", ({"type": "text", "text": "look"}, IMAGE))
    shaped = shape_zones(Zones(history=HistoryZone((seen, A))))
    assert told(shaped.messages()) == [
        ("user", ({"type": "text", "text": "look"}, IMAGE, {"type": "text", "text": "a"}))
    ]


def test_a_long_history_is_one_range_of_the_same_objects() -> None:
    records = tuple(ChatMessage("user" if n % 2 else "assistant", str(n)) for n in range(1000))
    zone = HistoryZone(records, is_joined=True, injected=(Injected(990, draft("system", "n")),))
    spans = [segment for segment in zone.segments() if isinstance(segment, Span)]
    assert len(spans) <= 6
    assert sum(span.stop - span.start for span in spans) == 1000
    sent = zone.messages()
    assert all(after is before for after, before in zip(sent[:990], records, strict=False))


def test_the_window_leaves_older_records_out() -> None:
    history = replace(HISTORY, start=2, injected=(Injected(0, draft("system", "deep")),))
    assert told(history.messages()) == [("system", "deep"), ("assistant", "c"), ("user", "d")]


def test_a_tool_loop_follows_the_frame_unchanged() -> None:
    tail = (draft("assistant", ""), draft("tool", "r"), draft("tool", "s"))
    shaped = shape_zones(replace(_turn("turn"), tail=tail))
    assert tuple(shaped.drafts())[-3:] == tail


@given(zones(), st.sampled_from([*Mode, True, False]))
def test_pieces_rebuild_every_message_of_shaped_zones(
    given_zones: Zones, mode: Mode | bool
) -> None:
    shaped = shape_zones(given_zones, mode, Names("Mira", "Noa"), "go")
    drafts = list(shaped.drafts())
    assert [one.message for one in drafts] == shaped.messages()
    assert rebuilds(drafts)


@given(zones(), st.sampled_from([*Mode, True, False]))
def test_the_history_keeps_every_record_in_order_and_role(
    given_zones: Zones, mode: Mode | bool
) -> None:
    before = [(m.role, m.text) for m in given_zones.history.messages()]
    after = [(m.role, m.text) for m in shape_zones(given_zones, mode).history.messages()]
    for role in ("system", "user", "assistant", "tool"):
        wanted = "".join(text for found, text in before if found == role)
        found = "".join(text for found, text in after if found == role)
        assert found.replace("\n", "") == wanted.replace("\n", "")


@given(zones(), st.sampled_from([Mode.SEMI, Mode.STRICT, Mode.NONE, True]))
def test_shaping_zones_twice_is_shaping_them_once(given_zones: Zones, mode: Mode | bool) -> None:
    once = shape_zones(given_zones, mode, placeholder="go")
    assert shape_zones(once, mode, placeholder="go").messages() == once.messages()


@given(st.lists(plain_lists, min_size=1, max_size=5))
def test_runs_of_a_growing_history_are_those_of_a_new_one(
    parts: list[list[ChatMessage]],
) -> None:
    records: tuple[ChatMessage, ...] = ()
    for part in parts:
        records = (*records, *part)
        fresh = tuple(replace(message) for message in records)
        assert find_runs(records) == find_runs(fresh)
        assert find_runs(records[:-1]) == find_runs(fresh[:-1])


@given(
    st.lists(
        st.sampled_from([A, B, C, ChatMessage("user", ""), ChatMessage("tool", "r")]), max_size=14
    ),
    st.integers(0, 6),
    st.lists(st.tuples(st.integers(0, 14), st.sampled_from(["user", "system"])), max_size=6),
)
def test_neighbours_of_one_role_join_whatever_parts_of_a_run_stand_between_drafts(
    said: list[ChatMessage], start: int, put_in: list[tuple[int, str]]
) -> None:
    records = tuple(replace(message) for message in said)
    injected = tuple(Injected(place, draft(role, "n")) for place, role in sorted(put_in))
    zone = HistoryZone(records, min(start, len(records)), injected)
    wanted: list[list[ChatMessage]] = []
    for message in zone.messages():
        if wanted and can_join(wanted[-1][-1], message):
            wanted[-1].append(message)
        else:
            wanted.append([message])
    joined = replace(zone, is_joined=True)
    assert joined.messages() == [
        join_messages(group) if len(group) > 1 else group[0] for group in wanted
    ]
    assert [one.message for one in joined.drafts()] == joined.messages()
