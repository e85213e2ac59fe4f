"""Numbers, dates, hashes and variables behave as JavaScript and its libraries do.

The expected values were computed with those libraries.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.macros.dates import read_date, read_stamp
from preset_engine.macros.durations import humanise, humanise_signed
from preset_engine.macros.hashing import cyrb53, first_draw
from preset_engine.macros.js_numbers import print_number, to_number
from preset_engine.macros.limits import DEFAULT_LIMITS
from preset_engine.macros.moments import format_moment
from preset_engine.macros.scenario import read_scenario
from preset_engine.macros.variables import (
    add,
    face,
    number_of,
    read,
    read_key,
    show,
    to_json,
    write_key,
)
from preset_engine.messages import JsonValue
from tests.macros.views import expander


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", "0"),
        (" 7 ", "7"),
        ("007", "7"),
        ("1e3", "1000"),
        ("0x10", "16"),
        ("0b101", "5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-0", "0"),
        ("1_0", "NaN"),
        ("-0x10", "NaN"),
        ("Infinity", "Infinity"),
        ("12345678901234567890", "12345678901234567000"),
        ("1e21", "1e+21"),
        ("123456789e-15", "1.23456789e-7"),
        ("0.000001", "0.000001"),
        ("1e400", "Infinity"),
    ],
)
def test_a_number_is_read_and_printed(text: str, printed: str) -> None:
    assert print_number(to_number(text)) == printed


@given(st.floats(allow_nan=False))
def test_a_printed_number_reads_back(number: float) -> None:
    assert to_number(print_number(number)) == number


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        (
            "LT|LTS|L|LL|LLLL",
            "9:05 PM|9:05:07 PM|11/22/2026|November 22, 2026|Sunday, November 22, 2026 9:05 PM",
        ),
        ("Do DDDo Qo wo Wo", "22nd 326th 4th 48th 47th"),
        ("YY YYYY gg GG", "26 2026 26 26"),
        ("[at] HH:mm:ss.SSS Z ZZ", "at 21:05:07.123 +05:30 +0530"),
        ("ddd dd d e E", "Sun Su 0 0 7"),
        ("kk hmm Hmmss x X", "21 905 210507 1795361707123 1795361707"),
        ("\\YYYY 年 M月", "YYYY 年 11月"),
        ("", "2026-11-22T21:05:07+05:30"),
    ],
)
def test_a_moment_is_formatted(form: str, shown: str) -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    assert format_moment(datetime(2026, 11, 22, 21, 5, 7, 123_456, tzinfo=zone), form) == shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds"),
        (44, "a few seconds"),
        (45, "a minute"),
        (90, "2 minutes"),
        (44 * 60, "44 minutes"),
        (45 * 60, "an hour"),
        (22 * 3600, "a day"),
        (25 * 86400, "25 days"),
        (26 * 86400, "a month"),
        (60 * 86400, "2 months"),
        (400 * 86400, "a year"),
        (4 * 365.25 * 86400, "4 years"),
    ],
)
def test_a_span_is_said_in_words(seconds: float, words: str) -> None:
    assert humanise(seconds * 1000) == words
    assert humanise_signed(-seconds * 1000) == f"{words} ago"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-01", datetime(2024, 1, 1, tzinfo=UTC)),
        (" 2024-01-01T10:30 ", datetime(2024, 1, 1, 10, 30, tzinfo=UTC)),
        ("2024-01-01 10:30:05.5", datetime(2024, 1, 1, 10, 30, 5, 500_000, tzinfo=UTC)),
        ("2024-01-01T10:00+02:00", datetime(2024, 1, 1, 8, tzinfo=UTC)),
        ("20240203", datetime(2024, 2, 3, tzinfo=UTC)),
        ("2024-W05-2", datetime(2024, 1, 30, tzinfo=UTC)),
        ("2024-060", datetime(2024, 2, 29, tzinfo=UTC)),
        ("2024-05", datetime(2024, 5, 1, tzinfo=UTC)),
        ("Mon, 06 Mar 2017 21:22:23 GMT", datetime(2017, 3, 6, 21, 22, 23, tzinfo=UTC)),
        ("March 7, 2024 4:13pm", datetime(2024, 3, 7, 16, 13, tzinfo=UTC)),
        ("2024-13-01", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_date_is_read(text: str, moment: datetime | None) -> None:
    assert read_date(text, UTC) == moment


@pytest.mark.parametrize(
    ("stamp", "moment"),
    [
        (1700000000000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("1700000000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("2023-6-5 @14h 56m 50s 682ms", datetime(2023, 6, 5, 14, 56, 50, 682_000, tzinfo=UTC)),
        ("2025-03-14T08:00:00Z", datetime(2025, 3, 14, 8, tzinfo=UTC)),
        ("June 19, 2023 4:13pm", datetime(2023, 6, 19, 16, 13, tzinfo=UTC)),
        ("", None),
        (None, None),
        ("2023-99-99@99h99m99s", None),
    ],
)
def test_a_chat_stamp_is_read(stamp: str | int | None, moment: datetime | None) -> None:
    assert read_stamp(stamp, UTC) == moment


def test_the_generator_gives_the_known_numbers() -> None:
    assert first_draw("hello.") == 0.9282578795792454
    assert cyrb53("") == 3338908027751811


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("007", "7"),
        ("", ""),
        ("  ", "  "),
        ("x", "x"),
        (None, ""),
        (0, "0"),
        (True, "1"),
        ("1 000", "1 000"),
        (2.5, "2.5"),
    ],
)
def test_a_variable_shows_its_face(value: JsonValue, shown: str) -> None:
    assert show(face(value)) == shown


@pytest.mark.parametrize(
    ("held", "added", "after"),
    [
        ("7", "5", 12),
        ("0.1", "0.2", 0.30000000000000004),
        ("7", "x", "7x"),
        ("", "x", "x"),
        (0, "x", "x"),
        ('["a"]', "b", '["a","b"]'),
        ('{"k":1}', "b", '{"k":1}b'),
        ("text", 1, "text1"),
    ],
)
def test_adding(held: JsonValue, added: str | int, after: JsonValue) -> None:
    store = {"v": held}
    add(store, "v", added, DEFAULT_LIMITS)
    assert store["v"] == after


@pytest.mark.parametrize(
    ("held", "key", "after"),
    [
        (None, "a", '{"a":"x"}'),
        (None, "2", '[null,null,"x"]'),
        ('{"b":1,"2":0}', "1", '{"1":"x","2":0,"b":1}'),
        ('["a"]', "name", '["a"]'),
        ('["a"]', "-1", '["a"]'),
        ("plain", "a", "plain"),
    ],
)
def test_setting_a_member(held: JsonValue, key: str, after: JsonValue) -> None:
    store: dict[str, JsonValue] = {} if held is None else {"v": held}
    write_key(store, "v", key, "x", DEFAULT_LIMITS)
    assert store["v"] == after


@pytest.mark.parametrize(
    ("held", "key", "shown"),
    [
        ('["a","b"]', "1", "b"),
        ('["a","b"]', "length", "2"),
        ('["a"]', "9", ""),
        ('{"k":{"l":[1]}}', "k", '{"l":[1]}'),
        ('{"k":null}', "k", "null"),
        ("plain", "0", "plain"),
        ('"text"', "0", "t"),
    ],
)
def test_reading_a_member(held: str, key: str, shown: str) -> None:
    assert show(read_key({"v": held}, "v", key)) == shown


def test_a_missing_variable_is_empty_and_json_is_tight() -> None:
    assert read({}, "v") == ""
    assert to_json({"a": [1.0, "é"], "1": None}) == '{"1":null,"a":[1,"é"]}'


def test_a_number_of_any_size_is_read_in_one_walk() -> None:
    """A pattern that could split the digits in two ways would take the square of their count."""
    assert math.isnan(to_number("9" * 300_000 + "x"))
    assert to_number("9" * 300_000) == math.inf
    assert number_of(-(10**400)) == -math.inf


@pytest.mark.parametrize(
    "text", ["{{greeting::9}}", "{{greeting::-1}}", f"{{{{greeting::{'9' * 400}}}}}"]
)
def test_a_greeting_out_of_range_is_empty(text: str) -> None:
    assert not expander().expand(text)


def test_a_limit_that_is_no_number_prints_as_in_javascript() -> None:
    one = expander(settings={"max_context": "wide", "max_response": 5})
    assert one.expand("{{maxPrompt}}") == "NaN"


def test_a_scenario_with_numbers_beyond_every_range_is_read() -> None:
    settings = {"random_source": 10**400, "chat_metadata": {"chat_id_hash": math.inf}}
    view = read_scenario({"inputs": {"settings": settings}})
    assert isinstance(view.chat_hash, int)
