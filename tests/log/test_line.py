"""Our log line: its names, its schema, what it leaves out."""

import json
from datetime import UTC, datetime, timedelta, timezone

import jsonschema
import pytest

from preset_engine import Content, compile_turn
from preset_engine.cache.query import Question
from preset_engine.cache.report import report_calls
from preset_engine.llm.request import Usage
from preset_engine.log.call import Call
from preset_engine.log.line import LoggedMessage, LoggedPiece, LogLine
from preset_engine.log.planned import logged_messages
from preset_engine.log.reader import read_line
from preset_engine.log.readers.memory import Memory
from preset_engine.log.request_line import RequestEvent, RequestLine, measure
from preset_engine.log.schema import log_schema
from preset_engine.messages import ChatMessage
from tests.truth import ROOT

AT = datetime(2026, 3, 1, 12, 0, 0, 250_000, UTC)
SECRET = "the lighthouse keeper's letter"
FULL = LogLine(
    id="line-1",
    at=AT,
    model="gpt-4o",
    provider="openai",
    caller="direct-chat",
    session="s-1",
    user="u-7",
    preset="Lantern",
    preset_digest="ab" * 32,
    request="turn-9",
    attempt=2,
    usage=Usage(1000, 50, 640, 0, 12),
    total_tokens=1050,
    cache_missed_tokens=360,
    response_id="chatcmpl-9",
    response_model="gpt-4o-2024-11-20",
    finish_reasons=("stop",),
    duration_ms=4200,
    first_token_ms=300,
    parameters={"temperature": 0.9, "max_tokens": 800},
    book_id="b",
    book_title="Harbour",
    orchestrator_id="o",
    message_id="m",
    messages=(
        LoggedMessage(
            "system",
            "cd" * 32,
            12,
            (LoggedPiece("entry", "main", "Main", "$.prompts[0]", 0, 44, 12, "cd" * 32),),
        ),
    ),
    counter="o200k_base",
)
VALIDATOR = jsonschema.Draft202012Validator(log_schema(), format_checker=jsonschema.FormatChecker())


def test_the_published_schema_is_the_schema():
    published = json.loads((ROOT / "docs/schema/log.schema.json").read_text("utf-8"))
    assert published == log_schema()
    jsonschema.Draft202012Validator.check_schema(published)


@pytest.mark.parametrize(
    "line",
    [
        FULL,
        LogLine(id="x", at=AT, model="m"),
        LogLine(id="x", at=AT, model="m", error_type="timeout"),
        RequestLine(
            RequestEvent.SENT, AT, "direct-chat", "m", "r", roles={"user": 2}, characters=9, tools=1
        ),
        RequestLine(RequestEvent.DONE, AT, usage=Usage(3, 4), duration_ms=7),
    ],
    ids=["full", "least", "failed", "sent", "done"],
)
def test_every_line_fits_the_schema(line):
    VALIDATOR.validate(line.to_json())


def test_the_usage_log_fields_of_the_seed_have_their_place():
    body = FULL.to_json()
    fields = {
        "preset_engine.line.id": "line-1",
        "timestamp": "2026-03-01T12:00:00.250Z",
        "preset_engine.book.id": "b",
        "preset_engine.book.title": "Harbour",
        "preset_engine.orchestrator.id": "o",
        "gen_ai.conversation.id": "s-1",
        "preset_engine.caller": "direct-chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 50,
        "preset_engine.usage.total_tokens": 1050,
        "gen_ai.usage.cache_read.input_tokens": 640,
        "preset_engine.usage.cache_missed_tokens": 360,
        "preset_engine.message.id": "m",
    }
    assert {name: body[name] for name in fields} == fields


def test_unknown_figures_are_absent_and_zero_is_written():
    body = LogLine(id="x", at=AT, model="m", usage=Usage(input_tokens=9, cached_tokens=0)).to_json()
    assert body["gen_ai.usage.cache_read.input_tokens"] == 0
    assert "gen_ai.usage.output_tokens" not in body
    assert "gen_ai.usage.cache_creation.input_tokens" not in body


def test_a_moment_of_any_zone_is_written_in_utc():
    moment = AT.astimezone(timezone(timedelta(hours=8)))
    assert (
        LogLine(id="x", at=moment, model="m").to_json()["timestamp"] == "2026-03-01T12:00:00.250Z"
    )


def test_a_line_reads_back_as_a_call():
    (call,) = read_line(json.dumps(FULL.to_json()), Memory())
    assert isinstance(call, Call)
    assert call.counts is not None
    assert (call.counts.input_tokens, call.counts.cached_tokens, call.counts.output_tokens) == (
        1000,
        640,
        50,
    )
    assert (call.session, call.caller, call.model, call.provider) == (
        "s-1",
        "direct-chat",
        "gpt-4o",
        "openai",
    )
    assert (call.preset, call.user, call.request_id, call.is_failed) == (
        "Lantern",
        "u-7",
        "turn-9",
        False,
    )
    assert call.at_ms == 1_772_366_400_250


def test_retries_of_one_request_count_once_and_failures_never():
    lines = [
        LogLine(id="1", at=AT, model="m", request="r", error_type="429"),
        LogLine(id="2", at=AT, model="m", request="r", attempt=2, usage=Usage(100, 1, 64)),
        LogLine(id="2", at=AT, model="m", request="r", attempt=2, usage=Usage(100, 1, 64)),
    ]
    calls = [call for line in lines for call in read_line(json.dumps(line.to_json()), Memory())]
    report = report_calls(calls, Question())
    assert (report.total.both.calls, report.total.both.cached_tokens) == (1, 64)
    assert (report.left.failed, report.left.repeated) == (1, 1)


def _turn():
    history = (ChatMessage("user", "hello there"), ChatMessage("assistant", "good evening"))
    return compile_turn(None, Content(history=history, turn=SECRET))


def test_the_plan_gives_digest_tokens_and_origin_of_every_message():
    turn = _turn()
    logged = logged_messages(turn.plan)
    assert [one.role for one in logged] == [message.role for message in turn.messages]
    assert [one.digest for one in logged] == turn.plan.message_digests()
    assert all(one.tokens > 0 and one.pieces for one in logged)
    body = LogLine(id="x", at=AT, model="m", messages=logged).to_json()
    VALIDATOR.validate(body)
    assert SECRET not in json.dumps(body)


def test_texts_are_logged_only_when_asked():
    turn = _turn()
    logged = logged_messages(turn.plan, with_text=True)
    assert [one.message for one in logged] == [message.to_json() for message in turn.messages]
    body = LogLine(id="x", at=AT, model="m", messages=logged).to_json()
    VALIDATOR.validate(body)
    assert SECRET in json.dumps(body)


def test_a_request_line_holds_counts_and_no_text():
    roles, characters = measure(
        [ChatMessage("system", SECRET), ChatMessage("user", "ab"), ChatMessage("user", "c")]
    )
    line = RequestLine(
        RequestEvent.SENT, AT, "direct-chat", "m", "r", roles=roles, characters=characters, tools=2
    )
    body = line.to_json()
    assert body["preset_engine.request.roles"] == {"system": 1, "user": 2}
    assert body["preset_engine.request.characters"] == len(SECRET) + 3
    assert SECRET not in json.dumps(body)
