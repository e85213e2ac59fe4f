"""Log files of every shape, form and compression."""

import gzip
import json
import subprocess
import sys
from collections import Counter

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.cache.query import Question
from preset_engine.cache.reading import open_logs
from preset_engine.cache.report import report_calls
from preset_engine.errors import UnreadableInput
from preset_engine.log.call import Call, Skip, SkipKind
from preset_engine.log.reader import read_line, read_log
from preset_engine.log.readers.fields import identity
from preset_engine.log.readers.memory import Memory
from tests import truth
from tests.log.shapes import SHAPES

BY_SHAPE = Question(by=("shape",))


def totals(report):
    both = report.total.both
    return both.prompt_tokens, both.cached_tokens, both.unknown_prompt_tokens, both.calls


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_told_by_content_and_gives_its_sums(name, tmp_path):
    text, prompt, cached, unknown, calls, shape = SHAPES[name]
    path = tmp_path / "some-file"
    path.write_text(text, "utf-8")
    readings = list(read_log(path))
    found = report_calls([one for one in readings if isinstance(one, Call)], BY_SHAPE)
    assert totals(found) == (prompt, cached, unknown, calls)
    assert {one.shape for one in readings if isinstance(one, Call)} == {shape}
    assert not any(one.kind is SkipKind.UNREADABLE for one in readings if isinstance(one, Skip))


@pytest.mark.parametrize("name", SHAPES)
def test_windows_line_ends_and_a_byte_order_mark_change_nothing(name, tmp_path):
    text, prompt, cached, unknown, calls, _ = SHAPES[name]
    path = tmp_path / "log"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    found = report_calls([one for one in read_log(path) if isinstance(one, Call)], BY_SHAPE)
    assert totals(found) == (prompt, cached, unknown, calls)


def test_plain_gzip_and_zstd_files_in_folders_are_read_in_one_run(tmp_path):
    text = SHAPES["openai chat"][0]
    other = SHAPES["claude code"][0]
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.jsonl").write_text(text)
    (tmp_path / "deep" / "b.jsonl.gz").write_bytes(gzip.compress(other.encode()))
    third = SHAPES["gemini cli"][0].encode()
    (tmp_path / "deep" / "c.zst").write_bytes(zstandard.ZstdCompressor().compress(third))
    with open_logs([str(tmp_path)]) as logs:
        found = logs.ask(BY_SHAPE)
    assert totals(found) == (500, 270, 0, 4)
    assert len(logs.files) == 3


def test_standard_input_is_told_like_a_file():
    command = [
        sys.executable,
        "-m",
        "preset_engine",
        "cache",
        "report",
        "-",
        "--json",
        "--by",
        "shape",
    ]
    done = subprocess.run(
        command, input=SHAPES["codex"][0], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["codex"]["later"] == {
        "requests": 1,
        "prompt_tokens": 200,
        "cached_tokens": 100,
        "unknown_requests": 0,
    }


@pytest.mark.parametrize(
    ("line", "kind", "reason"),
    [
        ('{"usage": {"prompt_tok', SkipKind.UNREADABLE, "no JSON"),
        ("plain words", SkipKind.UNREADABLE, "no JSON"),
        ("[" * 20000 + "]" * 20000, SkipKind.UNREADABLE, "too deep"),
        ('{"hello": "world"}', SkipKind.UNKNOWN, "without usage"),
        ("17", SkipKind.UNKNOWN, "bare value"),
        (
            '{"type": "result", "total_cost_usd": 1, "usage": {"input_tokens": 5}}',
            SkipKind.SUMMARY,
            "totals",
        ),
        ('{"summary": {}, "contributions": []}', SkipKind.SUMMARY, "totals"),
        (
            '{"model": "m", "tokenUsage": {"inputTokens": 5, "cacheReadTokens": 9}}',
            SkipKind.SUMMARY,
            "totals",
        ),
        (
            '{"object": "list", "data": [{"object": "embedding"}], "usage": {"prompt_tokens": 2}}',
            SkipKind.NO_CALL,
            "embeddings",
        ),
    ],
    ids=[
        "cut off",
        "words",
        "deep",
        "unknown",
        "number",
        "run result",
        "tokscale",
        "droid",
        "embeddings",
    ],
)
def test_what_is_no_call_is_named(line, kind, reason):
    (found,) = read_line(line, Memory())
    assert isinstance(found, Skip)
    assert found.kind is kind
    assert reason in found.reason


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"type": "overloaded_error", "message": "x"}},
        {"type": "error", "error": {"type": "rate_limit_error"}},
        {"request_id": "r", "model": "m", "status": 529, "usage": None},
        {"ts": 1, "model": "m", "status": "failed"},
        {"id": "chatcmpl-1a", "choices": [], "error": {"code": 1}, "usage": {"prompt_tokens": 5}},
    ],
)
def test_errors_are_failed_calls_and_in_no_sum(body):
    (found,) = read_line(json.dumps(body), Memory())
    assert isinstance(found, Call)
    assert found.is_failed
    report = report_calls([found], BY_SHAPE)
    assert report.total.both.calls == 0
    assert report.left.failed == 1


def test_a_masked_identifier_is_no_identity():
    masks = ["msg_X0X0X0X0", "REDACTED", "chatcmpl-xxxxxxxx", "id-********", "0000000000"]
    assert [identity(mask) for mask in masks] == [None] * len(masks)
    assert identity("chatcmpl-9aB3") == "chatcmpl-9aB3"


def test_a_damaged_archive_is_counted_and_not_fatal(tmp_path):
    whole = gzip.compress(SHAPES["openai chat"][0].encode() * 50)
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with open_logs([str(path)]) as logs:
        logs.ask(BY_SHAPE)
    assert any(kind is SkipKind.UNREADABLE for kind, _ in logs.skipped)


@pytest.mark.parametrize("names", [["/no/such/file"], ["EMPTY"]])
def test_a_path_without_logs_is_refused_in_one_line(names, tmp_path):
    with pytest.raises(UnreadableInput) as caught:
        open_logs([str(tmp_path) if name == "EMPTY" else name for name in names])
    assert "\n" not in str(caught.value)


@given(st.text(max_size=300) | st.binary(max_size=300))
def test_no_bytes_stop_the_reading(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("bytes") / "log"
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    list(read_log(path))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "usage",
                    "message",
                    "type",
                    "payload",
                    "info",
                    "tokens",
                    "data",
                    "items",
                    "messages",
                    "response",
                    "body",
                    "result",
                    "error",
                    "id",
                    "object",
                    "model",
                    "traceId",
                    "startTime",
                    "trace",
                    "observations",
                    "attributes",
                    "spans",
                    "cache",
                    "custom_id",
                    "timestamp",
                    "sessionId",
                    "choices",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(_json)
def test_no_json_stops_the_reading(value):
    for reading in read_line(json.dumps(value), Memory()):
        assert isinstance(reading, Call | Skip)


@truth.corpus("logs")
def test_every_log_of_the_corpus_is_read_or_named(path):
    readings = list(read_log(path))
    calls = [one for one in readings if isinstance(one, Call)]
    skips = Counter(one.kind for one in readings if isinstance(one, Skip))
    assert calls or skips[SkipKind.SUMMARY]
    assert not skips[SkipKind.UNREADABLE]
    assert not skips[SkipKind.UNKNOWN]
    for call in calls:
        counts = call.counts
        if counts is None:
            assert call.is_failed
            continue
        assert counts.input_tokens is not None
        parts = (counts.cached_tokens or 0) + (counts.written_tokens or 0)
        assert parts <= counts.input_tokens
        assert not counts.is_corrected
        assert counts.total_tokens >= counts.input_tokens


@truth.corpus("logs")
def test_stated_figures_of_the_corpus_add_up(path):
    """An independent look: every pair of prompt and cached figures in the file's text is one that we read."""
    text = path.read_text("utf-8")
    calls = [one for one in read_log(path) if isinstance(one, Call) and one.counts is not None]
    known = {one.counts.cached_tokens for one in calls}
    stated = set()
    for word in (
        "cached_tokens",
        "cache_read_input_tokens",
        "cacheReadInputTokens",
        "cachedContentTokenCount",
        "native_tokens_cached",
    ):
        for piece in text.split(f'"{word}":')[1:]:
            figure = piece.lstrip()[:12].split(",")[0].split("}")[0].strip()
            if figure.isdigit():
                stated.add(int(figure))
    if calls:
        assert stated <= known | {0}
