import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.compile.apply import apply_mutations
from preset_engine.compile.linkage import check_linkage, open_calls
from preset_engine.compile.mutations import (
    AssistantMessageMutation,
    AssistantTruncatedMutation,
    ContextReplaceMutation,
    ContextSummaryMutation,
    ExperienceForgetMutation,
    ExperienceRememberMutation,
    MultimodalToolResultMutation,
    ToolCancelledMutation,
    ToolResultMutation,
    UserMessageMutation,
    read_mutations,
)
from preset_engine.compile.selfref import parse_selfref
from preset_engine.errors import CompileError
from preset_engine.messages import ChatMessage, parse_messages

PROMPT = ChatMessage("system", "Keep the log of the lighthouse.")
ASK = ChatMessage("user", "Which ships passed?")


def call(call_id, name="count"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def calls(*ids):
    return AssistantMessageMutation(None, tuple(call(call_id) for call_id in ids))


def applied(*mutations, start=(PROMPT, ASK)):
    return apply_mutations(tuple(start), mutations).transcript


def test_mutations_are_applied_in_order():
    result = applied(
        calls("a"), ToolResultMutation("a", "three"), AssistantMessageMutation("Three ships.")
    )
    assert [message.role for message in result[2:]] == ["assistant", "tool", "assistant"]


def test_text_beside_calls_is_kept():
    result = applied(
        AssistantMessageMutation("Counting.", (call("a"),)), ToolResultMutation("a", "3")
    )
    assert result[2].content == "Counting."


def test_an_empty_text_is_a_reply():
    assert applied(AssistantMessageMutation(""))[-1].content == ""


def test_replace_takes_the_open_calls_with_it():
    new = (ChatMessage("user", "Start over."),)
    assert applied(calls("a"), ContextReplaceMutation(new)) == new


def test_summary_keeps_the_prompt_and_its_lessons():
    told = ChatMessage("assistant", "All quiet until noon.")
    result = applied(ContextSummaryMutation(told, ("Gulls are not ships.", " ")))
    assert result[0].text.endswith("<experience>\n- [exp_1] Gulls are not ships.\n</experience>")
    assert result[1:] == (told,)


def test_experiences_are_written_before_the_next_mutation_of_another_sort():
    later = ChatMessage("user", "And now?")
    result = applied(
        ExperienceRememberMutation("Fog hides ships."),
        UserMessageMutation(later),
        ExperienceForgetMutation("exp_1"),
    )
    assert result == (PROMPT, ASK, later)


def test_forgetting_comes_before_remembering_in_a_batch():
    first = applied(ExperienceRememberMutation("one"), ExperienceRememberMutation("two"))
    second = applied(
        ExperienceRememberMutation("three"), ExperienceForgetMutation("exp_2"), start=first
    )
    ids = [(item.id, item.text) for item in parse_selfref(second).experiences]
    assert ids == [("exp_1", "one"), ("exp_2", "three")]


def test_forgetting_what_nobody_knows_changes_nothing():
    assert applied(ExperienceForgetMutation("exp_9")) == (PROMPT, ASK)


def test_a_cut_off_reply_keeps_its_text_and_names_the_reason():
    text = applied(AssistantTruncatedMutation("Three sh", "the line broke"))[-1].text
    assert text.startswith("Three sh\n\n")
    assert "the line broke" in text


def test_a_cancel_answers_the_call_that_is_open():
    result = applied(calls("a"), ToolCancelledMutation("a", "count", "storm"))
    assert [message.role for message in result[2:]] == ["assistant", "tool"]
    assert result[-1].tool_call_id == "a"
    assert "storm" in result[-1].text


def test_finished_results_of_a_cancelled_batch_are_kept():
    result = applied(
        calls("a", "b", "c"),
        ToolResultMutation("b", "7"),
        ToolCancelledMutation("a", "count", "stop"),
        ToolCancelledMutation("b", "count", "stop"),
        ToolCancelledMutation("c", "count", "stop"),
    )
    assert [message.tool_call_id for message in result[3:]] == ["b", "a", "c"]
    assert result[3].content == "7"


def test_a_cancel_of_an_unknown_call_brings_the_call_along():
    result = applied(ToolCancelledMutation("z", "count"))
    assert open_calls(result[:3]) == ("z",)
    check_linkage(result)


def test_a_call_id_that_comes_again_is_open_again():
    result = applied(
        calls("a"), ToolResultMutation("a", "1"), calls("a"), ToolCancelledMutation("a", "count")
    )
    assert [message.role for message in result[2:]] == ["assistant", "tool"] * 2


def test_a_result_of_pictures_takes_the_call_back():
    picture = ChatMessage("user", ({"type": "image_url", "image_url": {"url": "data:,"}},))
    result = applied(
        AssistantMessageMutation("Looking.", (call("a"),)),
        MultimodalToolResultMutation("a", "photo", '{"at": "noon"}', (picture,)),
    )
    assert result[2] == ChatMessage("assistant", "Looking.")
    assert "photo" in result[3].text
    assert '{"at": "noon"}' in result[3].text
    assert result[4] == picture


def test_an_unknown_kind_is_named():
    with pytest.raises(CompileError, match="'dance'") as caught:
        read_mutations([{"kind": "dance"}])
    assert caught.value.code == "unknown_mutation"


def test_an_unanswered_call_of_the_transcript_raises_without_any_mutation():
    broken = parse_messages([{"role": "assistant", "content": None, "tool_calls": [call("a")]}])
    with pytest.raises(CompileError) as caught:
        applied(start=broken)
    assert caught.value.code == "unmatched_at_end"


words = st.text(alphabet="abc \n\t", min_size=1).filter(str.strip)
ids = st.integers(1, 6).map(lambda number: f"exp_{number}")
lessons = st.one_of(
    words.map(ExperienceRememberMutation),
    ids.map(ExperienceForgetMutation),
    words.map(lambda text: UserMessageMutation(ChatMessage("user", text))),
    words.map(AssistantMessageMutation),
)


@given(st.lists(lessons, max_size=12))
def test_experiences_have_one_id_and_one_text_each(mutations):
    result = applied(*mutations)
    experiences = parse_selfref(result).experiences
    assert len({item.id for item in experiences}) == len(experiences)
    assert len({item.text for item in experiences}) == len(experiences)


@given(st.lists(st.sampled_from(["result", "cancel"]), min_size=1, max_size=8), st.randoms())
def test_every_batch_of_results_and_cancels_is_well_linked(ends, random):
    batch = [f"c{number}" for number in range(len(ends))]
    answers = [
        ToolResultMutation(call_id, "ok")
        if end == "result"
        else ToolCancelledMutation(call_id, "f")
        for call_id, end in zip(batch, ends)
    ]
    random.shuffle(answers)
    result = applied(calls(*batch), *answers)
    assert len(result) == 3 + len(batch)
