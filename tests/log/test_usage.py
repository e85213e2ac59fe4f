"""Usage objects to token figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preset_engine.log.usage import parse_usage, whole
from tests import truth

TOLD = [
    (
        "openai chat",
        {
            "prompt_tokens": 900,
            "completion_tokens": 40,
            "prompt_tokens_details": {"cached_tokens": 512},
        },
        900,
        512,
        None,
        40,
    ),
    (
        "openai chat, null details",
        {"prompt_tokens": 900, "prompt_tokens_details": None},
        900,
        None,
        None,
        None,
    ),
    (
        "openai chat, null in details",
        {"prompt_tokens": 900, "prompt_tokens_details": {"cached_tokens": None}},
        900,
        None,
        None,
        None,
    ),
    (
        "openrouter write",
        {
            "prompt_tokens": 900,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 880},
        },
        900,
        0,
        880,
        None,
    ),
    (
        "responses",
        {
            "input_tokens": 900,
            "input_tokens_details": {"cached_tokens": 256, "cache_write_tokens": 3},
            "output_tokens": 7,
        },
        900,
        256,
        3,
        7,
    ),
    (
        "anthropic",
        {
            "input_tokens": 12,
            "cache_read_input_tokens": 800,
            "cache_creation_input_tokens": 88,
            "output_tokens": 5,
        },
        900,
        800,
        88,
        5,
    ),
    (
        "anthropic, written only",
        {"input_tokens": 12, "cache_creation_input_tokens": 888},
        900,
        0,
        888,
        None,
    ),
    (
        "anthropic without cache fields",
        {"input_tokens": 900, "output_tokens": 5},
        900,
        None,
        None,
        5,
    ),
    (
        "input that includes the cached part by its total",
        {
            "input_tokens": 900,
            "cache_read_input_tokens": 800,
            "output_tokens": 5,
            "total_tokens": 905,
        },
        900,
        800,
        None,
        5,
    ),
    (
        "deepseek",
        {"prompt_tokens": 900, "prompt_cache_hit_tokens": 640, "prompt_cache_miss_tokens": 260},
        900,
        640,
        None,
        None,
    ),
    ("misses alone", {"prompt_tokens": 900, "prompt_cache_miss_tokens": 260}, 900, 640, None, None),
    ("mistral", {"prompt_tokens": 900, "num_cached_tokens": 64}, 900, 64, None, None),
    (
        "gemini",
        {
            "promptTokenCount": 900,
            "cachedContentTokenCount": 700,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 6,
        },
        900,
        700,
        None,
        11,
    ),
    ("gemini, nothing cached", {"promptTokenCount": 900}, 900, 0, None, 0),
    (
        "bedrock",
        {
            "inputTokens": 12,
            "cacheReadInputTokens": 800,
            "cacheWriteInputTokens": 88,
            "outputTokens": 5,
            "totalTokens": 905,
        },
        900,
        800,
        88,
        5,
    ),
    (
        "vercel",
        {"inputTokens": 900, "cachedInputTokens": 512, "outputTokens": 5},
        900,
        512,
        None,
        5,
    ),
    (
        "cohere",
        {
            "tokens": {"input_tokens": 900, "output_tokens": 5},
            "cached_tokens": 144,
            "billed_units": {"input_tokens": 3},
        },
        900,
        144,
        None,
        5,
    ),
    (
        "langchain",
        {"input_tokens": 900, "input_token_details": {"cache_read": 128, "cache_creation": 7}},
        900,
        128,
        7,
        None,
    ),
    (
        "codex",
        {"input_tokens": 900, "cached_input_tokens": 250, "output_tokens": 5},
        900,
        250,
        None,
        5,
    ),
    (
        "prompt that left the cached part out",
        {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 800}},
        900,
        800,
        None,
        None,
    ),
]


@pytest.mark.parametrize(
    ("usage", "figures"), [(row[1], row[2:]) for row in TOLD], ids=[row[0] for row in TOLD]
)
def test_every_provider_gives_the_whole_prompt_and_its_cached_part(usage, figures):
    found = parse_usage(usage)
    assert found is not None
    assert (
        found.input_tokens,
        found.cached_tokens,
        found.written_tokens,
        found.output_tokens,
    ) == figures


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        [],
        {},
        {"cost": 0.01},
        {"prompt_tokens": "many"},
        {"prompt_tokens": -4},
        {"total_tokens": 0},
    ],
)
def test_what_states_no_tokens_is_no_usage(value):
    assert parse_usage(value) is None


def test_a_cached_count_above_the_prompt_is_marked():
    found = parse_usage({"prompt_tokens": 5, "cached_tokens": 9})
    assert found is not None
    assert found.is_corrected
    assert found.input_tokens == 14


@truth.seeds("wa.parse_usage")
def test_golden_usage_parsing(row):
    found = parse_usage(row["input"]["usage"])
    assert (None if found is None else found.to_usage_json()) == row["expected"]["usage"]


_counts = st.none() | st.integers(-5, 10**7) | st.floats(allow_nan=True) | st.text(max_size=4)
_names = st.sampled_from(
    [
        "prompt_tokens",
        "input_tokens",
        "output_tokens",
        "completion_tokens",
        "total_tokens",
        "cached_tokens",
        "promptTokenCount",
        "cachedContentTokenCount",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "prompt_cache_hit_tokens",
        "prompt_cache_miss_tokens",
        "inputTokens",
        "cachedInputTokens",
        "cacheReadInputTokens",
    ]
)
_details = st.dictionaries(
    st.sampled_from(["cached_tokens", "cache_write_tokens"]), _counts, max_size=2
)


@given(st.dictionaries(_names, _counts, max_size=6), _details)
def test_the_cached_part_never_exceeds_the_prompt(usage, details):
    for body in (
        usage,
        {**usage, "prompt_tokens_details": details},
        {**usage, "input_tokens_details": details},
    ):
        found = parse_usage(body)
        if found is not None and found.input_tokens is not None and found.cached_tokens is not None:
            assert 0 <= found.cached_tokens <= found.input_tokens


@given(
    st.integers(-(10**40), 10**40) | st.floats() | st.text(max_size=30) | st.booleans() | st.none()
)
def test_a_count_is_a_whole_number_or_nothing(value):
    found = whole(value)
    assert found is None or (isinstance(found, int) and 0 <= found < 10**18)
