"""Every row of the `compile.*` topics, and the wanted behaviour of each known defect."""

import re

import pytest

from preset_engine.compile.apply import apply_mutations
from preset_engine.compile.convert import PromptContract, convert_to_llm_request
from preset_engine.compile.experiences import split_prompt
from preset_engine.compile.linkage import call_ids, check_linkage, check_shape, open_calls
from preset_engine.compile.mutations import read_mutations
from preset_engine.compile.reduce import reduce_turn_context
from preset_engine.compile.selfref import canonicalize, parse_selfref, read_selfref
from preset_engine.compile.summary import parse_summary, read_summary, render_summary, write_summary
from preset_engine.compile.tool_prompts import read_tool_spec, tool_block
from preset_engine.compile.transcript import read_transcript, write_transcript
from preset_engine.errors import CompileError
from tests import truth


def contract_of(body):
    return PromptContract(
        base_instruction=body.get("base_instruction", ""),
        system_prompt=body.get("system_prompt"),
        tool_prompt_specs=tuple(map(read_tool_spec, body.get("tool_prompt_specs", []))),
        include_must_principles=body.get("include_must_principles", False),
    )


def code_of(work, *arguments):
    with pytest.raises(CompileError) as caught:
        work(*arguments)
    return caught.value.code


def fits(wanted, text):
    """Whether the text is the wanted one, where `…` stands for words of our own."""
    pattern = ".+?".join(re.escape(part) for part in wanted.split("…"))
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def assert_messages(given, wanted):
    assert [message["role"] for message in given] == [message["role"] for message in wanted]
    for ours, theirs in zip(given, wanted):
        if isinstance(theirs["content"], str):
            assert fits(theirs["content"], ours["content"]), ours
        assert ours == {**theirs, "content": ours["content"]}


@truth.seeds("compile.apply_mutations")
def test_mutations_give_the_transcript(row):
    given, wanted = row["input"], row["expected"]
    transcript = read_transcript(given["transcript"])
    if "error" in wanted:
        work = lambda: apply_mutations(transcript, read_mutations(given["mutations"]))  # noqa: E731
        assert code_of(work) == wanted["code"]
        return
    messages = apply_mutations(transcript, read_mutations(given["mutations"])).transcript
    if "messages" in wanted:
        assert write_transcript(messages) == wanted["messages"]
        return
    links = [[*call_ids(m), *([m.tool_call_id] if m.tool_call_id else [])] for m in messages]
    assert [message.role for message in messages] == wanted["roles"]
    assert links == wanted["tool_links"]
    texts = "\n".join(message.text for message in messages)
    assert all(text in texts for text in wanted["texts_must_appear"])


def snapshot_facts(data):
    if data is None:
        return None
    return {
        "base_system_prompt": data.base_system_prompt,
        "experiences": [{"id": item.id, "text": item.text} for item in data.experiences],
        "summary": data.summary and write_summary(data.summary),
        "has_summary_message": data.summary_message is not None,
        "working_count": len(data.working_messages),
    }


def reduced(given):
    selfref = given.get("selfref")
    return reduce_turn_context(
        read_transcript(given["transcript"]),
        read_mutations(given.get("mutations", [])),
        read_selfref(selfref) if selfref is not None else None,
    )


@truth.seeds("compile.reduce")
def test_reduce_gives_transcript_and_snapshot(row):
    result = reduced(row["input"])
    assert write_transcript(result.transcript) == row["expected"]["transcript"]
    assert snapshot_facts(result.selfref_snapshot) == row["expected"]["snapshot"]


@truth.seeds("compile.convert")
def test_convert_gives_the_request(row):
    turn = convert_to_llm_request(reduced(row["input"]), contract_of(row["input"]["contract"]))
    wanted = row["expected"]
    assert turn.system_prompt == wanted["system_prompt"]
    assert write_transcript(turn.transcript) == wanted["transcript"]
    assert_messages(write_transcript(turn.llm_messages), wanted["llm_messages"])


@truth.seeds("compile.tool_best_practices")
def test_tools_give_the_block(row):
    block = tool_block(map(read_tool_spec, row["input"]["specs"]))
    wanted = row["expected"]["block"]
    assert (block is None) if wanted is None else fits(wanted, block)


@truth.seeds("compile.tool_linkage")
def test_linkage_is_judged(row):
    messages = read_transcript(row["input"]["messages"])
    if row["expected"]["ok"]:
        check_linkage(messages)
    else:
        assert code_of(check_linkage, messages) == row["expected"]["code"]


@truth.seeds("compile.message_shape")
def test_shape_is_judged(row):
    if row["expected"]["ok"]:
        check_shape(row["input"]["message"])
    else:
        assert code_of(check_shape, row["input"]["message"]) == row["expected"]["code"]


@truth.seeds("compile.parse_summary")
def test_summary_text_is_read(row):
    summary = parse_summary(row["input"]["content"])
    assert (summary and write_summary(summary)) == row["expected"]["summary"]


@truth.seeds("compile.render_summary")
def test_summary_text_is_written(row):
    given, wanted = row["input"]["summary"], row["expected"]
    if "error" in wanted:
        assert code_of(read_summary, given) == wanted["code"]
    else:
        assert render_summary(read_summary(given)) == wanted["text"]


@truth.seeds("compile.split_experiences")
def test_prompt_is_split_at_its_block(row):
    base, experiences = split_prompt(row["input"]["system_prompt"])
    assert base == row["expected"]["base"]
    found = [{"id": item.id, "text": item.text} for item in experiences]
    assert found == row["expected"]["experiences"]


@truth.seeds("compile.canonicalize")
def test_transcript_is_rebuilt(row):
    messages = canonicalize(read_transcript(row["input"]["messages"]))
    assert write_transcript(messages) == row["expected"]["messages"]


@truth.seeds("compile.no_shared_state")
def test_edits_of_an_output_reach_nothing_else(row):
    given = row["input"]
    result = reduce_turn_context(
        read_transcript(given["transcript"]), read_mutations(given["mutations"])
    )
    turn = convert_to_llm_request(result, contract_of(given["contract"]))
    sent, kept = write_transcript(turn.llm_messages), write_transcript(turn.transcript)
    sent[1]["content"] = "MUT"
    kept[1]["content"] = "MUT2"
    assert given["transcript"] == row["expected"]["input_after_edit_of_output"]
    assert kept[1]["content"] == row["expected"]["transcript_seen_after_edit_of_llm_messages"]
    assert write_transcript(turn.llm_messages)[1] == write_transcript(turn.transcript)[1]


@truth.seeds("compile.known_defect")
def test_known_defect_is_none_of_ours(row):
    """What the original got wrong: unanswered cancels, stale snapshots, empty and doubled system messages."""
    given = row["input"]
    result = reduced(given)
    assert open_calls(result.transcript) == ()
    calls = [call_id for message in result.transcript for call_id in call_ids(message)]
    assert len(calls) == len(set(calls))
    fresh = parse_selfref(result.transcript)
    if result.selfref_snapshot and (fresh.experiences or fresh.summary):
        assert result.selfref_snapshot == fresh
    if "contract" not in given:
        return
    sent = convert_to_llm_request(result, contract_of(given["contract"])).llm_messages
    prompts = [message.text for message in sent if message.role == "system"]
    assert all(text.strip() for text in prompts)
    assert len(prompts) == len(set(prompts))
