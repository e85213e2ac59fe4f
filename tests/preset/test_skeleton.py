"""The native order: missing holes are added, the author's own stay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.preset.model import OrderItem, Preset, PresetSource, PromptEntry, PromptOrder
from preset_engine.preset.skeleton import HOLES, extend_order, native_skeleton
from tests import truth


def _preset(given_row: dict[str, Any], source: PresetSource = PresetSource.NATIVE) -> Preset:
    prompts = tuple(
        PromptEntry(identifier, role="user" if identifier == "currentTurn" else "system")
        for identifier in given_row["prompt_ids"]
    )
    listed = sorted(given_row["order"], key=lambda item: item["orderIndex"])
    items = tuple(OrderItem(item["promptId"], item["enabled"]) for item in listed)
    return Preset("p", "P", source, prompts, (PromptOrder("", items),))


def _told(preset: Preset) -> dict[str, Any]:
    order = extend_order(preset.orders[0].items)
    return {
        "order": [[item.identifier, item.is_enabled] for item in order],
        "added_prompts": [[one.identifier, one.role] for one in native_skeleton(preset).added],
        "idempotent": extend_order(order) == order,
    }


@truth.seeds("wa.extended_order")
def test_missing_holes_are_added_around_the_history(row: truth.Row) -> None:
    assert _told(_preset(row["input"])) == row["expected"]


@truth.seeds("wa.known_defect")
def test_holes_that_the_author_placed_keep_their_places(row: truth.Row) -> None:
    preset = _preset(row["input"])
    own = [item["promptId"] for item in row["input"]["order"]]
    order = [item.identifier for item in native_skeleton(preset).order]
    assert [identifier for identifier in order if identifier in own] == own
    assert set(HOLES) <= set(order)


@pytest.mark.parametrize(
    ("listed", "extended"),
    [
        ("chatHistory a", "worldBookBefore chatHistory worldBookAfter currentTurn a postTurn"),
        ("a", "a worldBookBefore chatHistory worldBookAfter currentTurn postTurn"),
        (
            "worldBookAfter chatHistory",
            "worldBookAfter worldBookBefore chatHistory currentTurn postTurn",
        ),
        (
            "chatHistory worldBookAfter a",
            "worldBookBefore chatHistory worldBookAfter currentTurn a postTurn",
        ),
        (
            "postTurn a currentTurn",
            "postTurn a currentTurn worldBookBefore chatHistory worldBookAfter",
        ),
    ],
)
def test_an_order_is_extended(listed: str, extended: str) -> None:
    order = extend_order([OrderItem(identifier) for identifier in listed.split()])
    assert [item.identifier for item in order] == extended.split()


@given(st.lists(st.sampled_from([*HOLES, "a", "b"]), max_size=8))
def test_extending_twice_is_extending_once_and_keeps_the_authors_order(listed: list[str]) -> None:
    items = [OrderItem(identifier, number % 2 == 0) for number, identifier in enumerate(listed)]
    order = extend_order(items)
    assert extend_order(order) == order
    assert set(HOLES) <= {item.identifier for item in order}
    rest = iter(order)
    assert all(item in rest for item in items)
    assert len(order) == len(items) + len(set(HOLES) - set(listed))


def test_both_flags_decide_in_a_native_package_only() -> None:
    prompts = (PromptEntry("a", is_enabled=False), PromptEntry("chatHistory"))
    items = (OrderItem("a"), OrderItem("chatHistory"), OrderItem("unknown"))
    for source, takes_part in ((PresetSource.NATIVE, False), (PresetSource.SILLYTAVERN, True)):
        preset = Preset("p", "P", source, prompts, (PromptOrder("", items),))
        order = {item.identifier: item.is_enabled for item in native_skeleton(preset).order}
        assert order["a"] is takes_part
        assert order["unknown"] is False


def test_a_holes_own_text_is_ignored_with_a_note() -> None:
    prompts = (PromptEntry("chatHistory", content="text", position=1, place="$.prompts[0]"),)
    skeleton = native_skeleton(Preset("p", "P", PresetSource.NATIVE, prompts, ()))
    assert skeleton.entries["chatHistory"].content == ""
    assert skeleton.entries["chatHistory"].position == 0
    assert [(note.code, note.path) for note in skeleton.notes] == [
        ("hole-text-ignored", "$.prompts[0]")
    ]
