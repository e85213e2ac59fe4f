"""Where texts with a depth land in the history."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.assembler.collection import Prompt
from preset_engine.assembler.extension import ExtensionPrompt, Place
from preset_engine.assembler.inject import inject
from preset_engine.macros.expand import Expansion
from preset_engine.messages import Origin, OriginKind, Piece
from tests import truth


def prompt(text, depth=0, order=100, role="system", identifier="p"):
    piece = Piece(Origin(OriginKind.ENTRY, identifier), text)
    return Prompt(identifier, role, (piece,) if text else (), 1, depth, order)


def note(key, text, depth=0, role="system"):
    return ExtensionPrompt(key, text, Place.IN_CHAT, depth, role, Origin(OriginKind.INJECTION, key))


def placed(prompts, notes=(), length=3):
    found = inject(prompts, notes, length, Expansion)
    return [(one.item, one.role, "".join(piece.text for piece in one.pieces)) for one in found]


def test_depth_zero_stands_behind_the_last_message():
    assert placed([prompt("D0")]) == [(3, "system", "D0")]


def test_depth_counts_from_the_end_and_deeper_ones_stand_at_the_head_deepest_first():
    found = placed([prompt("one", 1), prompt("nine", 9), prompt("seven", 7)])
    assert found == [(0, "system", "nine"), (0, "system", "seven"), (2, "system", "one")]


@pytest.mark.parametrize("depth", ["1", 1.5, -1, None, True, 10001])
def test_a_depth_that_is_no_whole_number_loses_the_prompt(depth):
    assert placed([prompt("gone", depth)]) == []


def test_lower_orders_come_first_and_system_stands_nearest_to_the_end():
    found = placed(
        [
            prompt("S20", order=20),
            prompt("U10", order=10, role="user"),
            prompt("S10", order=10),
            prompt("A10", order="10", role="assistant"),
        ]
    )
    assert [text for _, _, text in found] == ["A10", "U10", "S10", "S20"]


def test_one_depth_order_and_role_is_one_message_with_a_joiner():
    (found,) = inject([prompt("a "), prompt("b")], (), 3, Expansion)
    assert [piece.text for piece in found.pieces] == ["a ", "\n", "b"]


def test_extension_prompts_join_order_100_only_in_the_order_of_their_keys():
    found = placed(
        [prompt("entry"), prompt("other", order=99)],
        [note("DEPTH_PROMPT", "card"), note("customDepthWI_0_0", "lore")],
    )
    assert [text for _, _, text in found] == ["other", "entry\ncard\nlore"]


def test_a_blank_prompt_and_an_odd_role_give_nothing():
    assert placed([prompt("  \n"), prompt("odd", role="")]) == []


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 5), st.sampled_from(["system", "user"])),
        max_size=12,
    ),
    st.integers(0, 8),
)
def test_places_ascend_and_nothing_is_lost(rows, length):
    prompts = [prompt(f"<{n}>", depth, order, role) for n, (depth, order, role) in enumerate(rows)]
    found = placed(prompts, length=length)
    assert [item for item, _, _ in found] == sorted(item for item, _, _ in found)
    whole = "".join(text for _, _, text in found)
    assert all(whole.count(f"<{n}>") == 1 for n in range(len(rows)))


@truth.seeds("st.injection")
def test_captured_injections(row):
    history = row["input"]["history"]
    prompts = [
        prompt(
            body["content"],
            body.get("injection_depth"),
            body.get("injection_order"),
            body.get("role", "system"),
        )
        for body in row["input"]["prompts"]
        if body.get("injection_position") == 1
    ]
    found = inject(prompts, (), len(history), Expansion)
    messages = []
    for number in range(len(history) + 1):
        messages += [
            {"role": one.role, "content": "".join(p.text for p in one.pieces), "injected": True}
            for one in found
            if one.item == number
        ]
        messages += history[number : number + 1]
    assert messages == row["expected"]["messages"]
