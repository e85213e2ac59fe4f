"""The report's figures: captured rows, fault reports, the rules one by one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.cache.lifetimes import LIFETIMES
from preset_engine.cache.query import Question
from preset_engine.cache.report import NONE, report_calls
from preset_engine.log.call import Call, Counts
from preset_engine.log.reader import read_line
from preset_engine.log.readers.memory import Memory
from tests import truth


def call(at=0, prompt=100, cached=0, **more):
    values = {"session": "s", "caller": "c", "model": "m", **more}
    return Call(Counts(prompt, cached), "test", at_ms=at, **values)


def rounded(rate):
    return None if rate is None else round(rate, 6)


@truth.seeds("seed.cache_report")
def test_golden_reports(row):
    calls = [
        call(
            one["at"],
            one["prompt_tokens"],
            one.get("cached_tokens"),
            session=one["session"],
            caller=one["caller"],
            model=one["model"],
        )
        for one in row["input"]["records"]
    ]
    report = report_calls(calls, Question(by=("caller",)))
    assert {
        "groups": report.groups,
        "first": {"calls": report.total.first.calls, "rate": rounded(report.total.first.rate)},
        "subsequent": {"calls": report.total.later.calls, "rate": rounded(report.total.later.rate)},
        "by_caller": {
            one.name: {"first": rounded(one.first.rate), "subsequent": rounded(one.later.rate)}
            for one in report.rows
        },
    } == row["expected"]


@truth.cases("report")
def test_reported_faults(row):
    calls = []
    for number, line in enumerate(row["input"]["rows"]):
        for one in read_line(json.dumps(line), Memory()):
            assert isinstance(one, Call)
            calls.append(one)
        assert number + 1 == len(calls)
    total = report_calls(calls, Question(by=("provider",))).total
    found = {
        **total.both.to_full_json(),
        "first": total.first.to_full_json(),
        "later": total.later.to_full_json(),
    }
    for name, figure in row["expected"].items():
        if isinstance(figure, dict):
            assert {key: found[name][key] for key in figure} == figure
        else:
            assert found[name] == figure


def test_the_order_is_that_of_the_times_and_not_of_the_lines():
    report = report_calls([call(30, 100, 90), call(10, 100, 0), call(20, 100, 80)], Question())
    assert report.total.first.cached_tokens == 0
    assert report.total.later.cached_tokens == 170


def test_an_unknown_cached_count_is_apart_and_not_zero():
    report = report_calls([call(1, 100, 50), call(2, 900, None)], Question())
    later = report.total.later
    assert (
        later.requests,
        later.unknown_requests,
        later.prompt_tokens,
        later.unknown_prompt_tokens,
    ) == (0, 1, 0, 900)
    assert later.rate is None


def test_of_repeated_lines_the_last_and_largest_counts():
    lines = [
        Call(Counts(100, 60, None, tokens), "t", at_ms=tokens, session="s", request_id="r")
        for tokens in (1, 40, 12)
    ]
    report = report_calls(lines, Question())
    assert (report.total.both.calls, report.total.both.output_tokens, report.left.repeated) == (
        1,
        40,
        2,
    )


def test_calls_without_an_identifier_are_never_repeats():
    report = report_calls([call(1), call(1), call(1)], Question())
    assert report.total.both.calls == 3


def test_a_call_without_usage_is_counted_as_such():
    report = report_calls([Call(None, "t", session="s"), call(1)], Question())
    assert (report.left.empty, report.total.both.calls) == (1, 1)


@pytest.mark.parametrize(
    ("options", "firsts"),
    [({}, 1), ({"gap_seconds": 600}, 2), ({"gap_seconds": 100}, 3), ({"lifetimes": LIFETIMES}, 2)],
    ids=["no rule", "ten minutes", "100 seconds", "the provider's lifetime"],
)
def test_a_long_pause_starts_a_new_group_when_asked(options, firsts):
    times = [0, 200_000, 900_000, 950_000]  # pauses of 200, 700 and 50 seconds
    calls = [call(at, provider="anthropic") for at in times]
    report = report_calls(calls, Question(**options))
    assert report.total.first.calls == firsts
    assert report.groups == firsts


def test_lifetimes_differ_by_provider():
    calls = [
        call(at, provider=name, session=name)
        for name in ("anthropic", "deepseek", "own")
        for at in (0, 1_000_000)
    ]
    report = report_calls(calls, Question(by=("provider",), lifetimes=LIFETIMES))
    assert {row.name: row.first.calls for row in report.rows} == {
        "anthropic": 2,
        "deepseek": 1,
        "own": 1,
    }


def test_a_range_counts_within_but_knows_what_was_before():
    calls = [call(10, 100, 0), call(20, 100, 70), call(30, 100, 80), call(40, 100, 90)]
    report = report_calls(calls, Question(since_ms=20, until_ms=40))
    assert (report.total.first.calls, report.total.later.cached_tokens, report.left.outside) == (
        0,
        150,
        2,
    )


def test_a_call_without_a_time_is_outside_every_range():
    report = report_calls([call(None)], Question(since_ms=0))
    assert report.left.outside == 1
    assert report_calls([call(None)], Question()).total.both.calls == 1


def test_days_sum_up_to_the_total():
    calls = [
        call(day * 86_400_000 + n, 100, n, session=str(day % 3))
        for day in range(5)
        for n in range(4)
    ]
    report = report_calls(calls, Question())
    assert len(report.days) == 5
    assert (
        sum(row.both.cached_tokens for row in report.days.values())
        == report.total.both.cached_tokens
    )


def test_chosen_keys_make_rows_and_groups():
    calls = [call(n, session="ab"[n % 2], user="u", preset=None, model=f"m{n}") for n in range(4)]
    report = report_calls(calls, Question(by=("preset", "user"), group=("session",)))
    assert [row.keys for row in report.rows] == [(NONE, "u")]
    assert report.groups == 2


def test_a_slash_in_a_key_cannot_make_two_rows_one():
    calls = [call(1, caller="a/b", model="c"), call(2, caller="a", model="b/c")]
    report = report_calls(calls, Question())
    assert sorted(report.to_json()) == ["a%2Fb/c", "a/b%2Fc"]


def test_a_log_without_sessions_is_one_conversation_a_file():
    calls = [call(n, session=None, source=name) for name in ("x", "y") for n in range(3)]
    report = report_calls(calls, Question())
    assert report.groups == 2
    assert report.total.both.without_session == 6


@pytest.mark.parametrize("key", ["", "colour", "at_ms; DROP TABLE calls"])
def test_an_unknown_key_is_refused(key):
    with pytest.raises(ValueError, match="is no key"):
        report_calls([], Question(by=(key,)))


_calls = st.lists(
    st.builds(
        lambda at, session, model, prompt, share, request, failed: Call(
            Counts(prompt, None if share is None else prompt * share // 10, None, prompt % 7),
            "t",
            at,
            session,
            "c",
            model,
            request_id=request,
            is_failed=failed,
            source="f",
        ),
        st.none() | st.integers(0, 50),
        st.sampled_from(["a", "b", None]),
        st.sampled_from(["m", "n"]),
        st.integers(0, 1000),
        st.none() | st.integers(0, 10),
        st.none() | st.sampled_from(["r1", "r2", "r3"]),
        st.booleans(),
    ),
    max_size=25,
)


@given(_calls)
def test_every_call_is_in_one_sum_or_named(calls):
    report = report_calls(calls, Question())
    left = report.left
    assert report.total.both.calls + left.failed + left.repeated + left.empty == len(calls)
    assert 0 <= (report.total.both.rate or 0) <= 1


@given(_calls, st.randoms())
def test_the_order_of_lines_changes_nothing_but_ties(calls, random):
    distinct = [one for number, one in enumerate(calls) if one.request_id is None]
    timed = [
        Call(one.counts, "t", number, one.session, "c", one.model, source="f")
        for number, one in enumerate(distinct)
    ]
    shuffled = random.sample(timed, len(timed))
    assert report_calls(timed, Question()) == report_calls(shuffled, Question())
