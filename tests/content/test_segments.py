"""Tagged segments become bags and one flat text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.content.content import Block, Content
from preset_engine.content.segments import (
    RULE,
    Segment,
    is_current_turn_ref,
    is_history_ref,
    read_sections,
)
from tests import truth


@truth.seeds("wa.history_ref")
def test_history_references_are_exact(row: truth.Row) -> None:
    assert is_history_ref(row["input"]["ref"]) is row["expected"]["is_history"]


@truth.seeds("wa.current_turn_ref")
def test_turn_references_are_exact(row: truth.Row) -> None:
    assert is_current_turn_ref(row["input"]["ref"]) is row["expected"]["is_current_turn"]


SEGMENTS = (
    Segment("persona", label="## 人物", text="Mira"),
    Segment("stage", ("world.stage", "world.weather"), label="## Stage"),
    Segment("history", (" 对话.历史 ",), label="## 对话"),
    Segment("state", ("vars",)),
    Segment("turn", ("user.latest",), label="## 输入"),
    Segment("hint", ("hint",), policy="tail_lines_2"),
    Segment("nothing", ("absent",)),
)
INPUTS = {
    "world.stage": "old town",
    "world.weather": "rain",
    "history": "用户：推门",
    "vars": "HP 3",
    "用户.最新输入": "knock",
    "hint": "one\ntwo\nthree",
}
TASK_SEGMENT = Segment("task", label="## 本步任务", text="write")


def test_anchors_sort_segments_into_bags() -> None:
    content = read_sections(SEGMENTS, INPUTS, [TASK_SEGMENT]).to_content()
    assert content.before == (Block("人物", "Mira"), Block("Stage", "old town\n\nrain"))
    assert content.history == "用户：推门"
    assert content.after == (Block("state", "HP 3"),)
    assert content.turn == "knock"
    assert content.post_turn == (Block("hint", "two\nthree"), Block("本步任务", "write"))


def test_the_flat_text_holds_the_same_sections_parted_by_rules() -> None:
    sections = read_sections(SEGMENTS, INPUTS, [TASK_SEGMENT])
    assert sections.flat == RULE.join(
        [
            "## 人物\n\nMira",
            "## Stage\n\nold town\n\nrain",
            "## 对话\n\n用户：推门",
            "HP 3",
            "## 输入\n\nknock",
            "two\nthree",
            "## 本步任务\n\nwrite",
        ]
    )


def test_a_worker_without_a_history_segment_stays_one_text() -> None:
    sections = read_sections([SEGMENTS[0], SEGMENTS[3]], INPUTS, [TASK_SEGMENT])
    assert not sections.has_history
    assert sections.to_content(Content(turn="raw")).turn == "raw"
    assert read_sections(SEGMENTS, INPUTS).has_history


def test_repeated_texts_inside_a_segment_are_dropped() -> None:
    segment = Segment("s", ("a", "b", "c"))
    sections = read_sections([segment], {"a": "x\n\ny", "b": "y", "c": "x"})
    assert sections.flat == "x\n\ny"


@given(
    st.lists(st.sampled_from(SEGMENTS), unique_by=lambda segment: segment.id),
    st.booleans(),
)
def test_each_section_lands_in_exactly_one_place(segments: list[Segment], has_tail: bool) -> None:
    sections = read_sections(segments, INPUTS, [TASK_SEGMENT] if has_tail else [])
    content = sections.to_content()
    texts = [
        block.body for bag in (content.before, content.after, content.post_turn) for block in bag
    ]
    texts += [text for text in (content.history, content.turn) if isinstance(text, str) and text]
    whole = [section.text for section in (*sections.sections, *sections.tail)]
    assert sorted(texts) == sorted(whole)
