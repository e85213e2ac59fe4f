from hypothesis import given
from hypothesis import strategies as st

from preset_engine.compile.mutations import (
    AssistantMessageMutation,
    ContextSummaryMutation,
    ExperienceForgetMutation,
    ExperienceRememberMutation,
    ToolResultMutation,
    UserMessageMutation,
)
from preset_engine.compile.reduce import reduce_turn_context
from preset_engine.compile.selfref import DataFromSelfRef, canonicalize, parse_selfref
from preset_engine.compile.summary import Summary, parse_summary, render_summary
from preset_engine.compile.transcript import read_transcript, write_transcript
from preset_engine.messages import ChatMessage

PROMPT = ChatMessage("system", "Keep the log.")
ASK = ChatMessage("user", "Well?")
SUMMARY = ChatMessage("assistant", render_summary(Summary("Count ships", "Be exact", "Noon")))
OLD = DataFromSelfRef(base_system_prompt="An older prompt.")


def test_an_experience_refreshes_the_snapshot():
    result = reduce_turn_context((PROMPT, ASK), [ExperienceRememberMutation("Fog lies.")], OLD)
    assert [item.text for item in result.selfref_snapshot.experiences] == ["Fog lies."]


def test_a_summary_refreshes_the_snapshot():
    result = reduce_turn_context((PROMPT, ASK), [ContextSummaryMutation(SUMMARY)], OLD)
    assert result.selfref_snapshot.summary.goal == "Count ships"
    assert result.selfref_snapshot.base_system_prompt == "Keep the log."


def test_forgetting_the_last_experience_refreshes_the_snapshot_too():
    kept = reduce_turn_context((PROMPT, ASK), [ExperienceRememberMutation("Fog lies.")], OLD)
    result = reduce_turn_context(
        kept.transcript, [ExperienceForgetMutation("exp_1")], kept.selfref_snapshot
    )
    assert result.selfref_snapshot.experiences == ()
    assert result.transcript == (PROMPT, ASK)


def test_a_transcript_without_marks_leaves_the_snapshot_alone():
    result = reduce_turn_context((PROMPT, ASK), [AssistantMessageMutation("Three.")], OLD)
    assert result.selfref_snapshot is OLD


def test_without_a_snapshot_none_is_made():
    assert (
        reduce_turn_context((PROMPT,), [ExperienceRememberMutation("x")]).selfref_snapshot is None
    )


def test_unchanged_messages_are_shared_not_copied():
    result = reduce_turn_context((PROMPT, ASK), [AssistantMessageMutation("Three.")])
    assert result.transcript[1] is ASK


def test_fifty_tool_rounds_leave_a_valid_state_of_known_length():
    state = reduce_turn_context((PROMPT, ASK), [ExperienceRememberMutation("Count twice.")], OLD)
    for turn in range(50):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "n", "arguments": "{}"}}
        before = state.transcript
        state = reduce_turn_context(
            state.transcript,
            [AssistantMessageMutation(None, (call,)), ToolResultMutation(f"c{turn}", str(turn))],
            state.selfref_snapshot,
        )
        assert state.transcript[: len(before)] == before
    assert len(state.transcript) == 2 + 50 * 2
    assert reduce_turn_context(state.transcript, (), state.selfref_snapshot) == state


def test_editing_the_lists_given_and_got_reaches_nothing_inside():
    call = {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}
    given_list = [
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "r", "meta": {"seen": [1]}},
    ]
    state = reduce_turn_context(read_transcript(given_list))
    before = write_transcript(state.transcript)
    call["function"]["arguments"] = "edited"
    given_list[0]["content"][0]["text"] = "edited"
    given_list[2]["meta"]["seen"].append(2)
    got = write_transcript(state.transcript)
    got[1]["tool_calls"][0]["function"]["arguments"] = "edited"
    got[2]["meta"]["seen"].append(3)
    assert write_transcript(state.transcript) == before


lines = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1
)
texts = lines.map(str.strip).filter(lambda text: text and not text.startswith("## "))
summaries = st.builds(
    Summary,
    *[texts] * 3,
    *[st.lists(texts, max_size=3).map(tuple)] * 4,
)


@given(summaries)
def test_a_summary_written_is_read_back(summary):
    assert parse_summary(render_summary(summary)) == summary


messages = st.lists(
    st.builds(
        ChatMessage,
        st.sampled_from(["system", "user", "assistant"]),
        st.one_of(texts, summaries.map(render_summary)),
        extra=st.sampled_from([None, {"reasoning_details": []}, {"mood": "calm"}]),
    ),
    max_size=6,
)


@given(messages)
def test_the_canonical_form_is_its_own_canonical_form(transcript):
    once = canonicalize(transcript)
    # A second summary is an ordinary message, and stays one.
    assert canonicalize(once) == once
    assert parse_selfref(once).experiences == parse_selfref(transcript).experiences


@given(messages, st.lists(texts, max_size=3))
def test_stage_one_applies_a_change_once(transcript, additions):
    mutations = [UserMessageMutation(ChatMessage("user", text)) for text in additions]
    result = reduce_turn_context(transcript, mutations)
    assert result.transcript == (*transcript, *(mutation.message for mutation in mutations))
    assert reduce_turn_context(result.transcript).transcript == result.transcript
