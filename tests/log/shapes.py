"""Small logs of every shape, written by us, with the sums they must give: known prompt, cached, unknown prompt."""

import json

AT = "2026-03-01T10:0{}:00.000Z"


def _lines(*objects):
    return "\n".join(json.dumps(one) for one in objects) + "\n"


def _chat(number, prompt, cached, **more):
    return {
        "id": f"chatcmpl-a{number}b",
        "object": "chat.completion",
        "created": 1772359200 + number,
        "model": "gpt-4o",
        "choices": [{"message": {"role": "assistant", "content": "tea"}}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": 3,
            "total_tokens": prompt + 3,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
        **more,
    }


_CLAUDE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 80,
    "cache_creation_input_tokens": 10,
    "output_tokens": 2,
}
_MESSAGE = {
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [],
    "usage": _CLAUDE,
}
_OBSERVATION = {
    "id": "o1",
    "traceId": "t1",
    "type": "GENERATION",
    "startTime": AT.format(1),
    "model": "gpt-4o",
    "name": "answer",
}


def _attribute(key, value):
    return {
        "key": key,
        "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
    }


_SPAN = {
    "traceId": "ab",
    "spanId": "01",
    "startTimeUnixNano": "1772359200000000000",
    "attributes": [
        _attribute("gen_ai.request.model", "gpt-4o"),
        _attribute("gen_ai.usage.input_tokens", 100),
        _attribute("gen_ai.usage.cache_read.input_tokens", 80),
    ],
}
_NEW_API = {
    "id": 7,
    "created_at": 1772359200,
    "type": 2,
    "model_name": "gemini-2.5-pro",
    "quota": 5,
    "prompt_tokens": 100,
    "completion_tokens": 2,
}


def _codex(last, total):
    figures = [
        {"input_tokens": n, "cached_input_tokens": c, "output_tokens": 1} for n, c in (last, total)
    ]
    info = {"last_token_usage": figures[0], "total_token_usage": figures[1]}
    return {
        "timestamp": AT.format(2),
        "type": "event_msg",
        "payload": {"type": "token_count", "info": info},
    }


def _claude_code(output, **more):
    usage = {**_CLAUDE, "output_tokens": output}
    message = {"id": "msg_a1b", "role": "assistant", "model": "claude-opus-4", "usage": usage}
    return {
        "type": "assistant",
        "timestamp": AT.format(1),
        "sessionId": "s",
        "requestId": "req_9",
        "message": message,
        **more,
    }


SHAPES = {  # name: (text, known prompt, cached, unknown prompt, calls after repeats are dropped, shape)
    "openai chat": (_lines(_chat(1, 100, 0), _chat(2, 200, 150)), 300, 150, 0, 2, "openai-chat"),
    "openai chat twice": (
        _lines(_chat(1, 100, 20), _chat(1, 100, 20)),
        100,
        20,
        0,
        1,
        "openai-chat",
    ),
    "openrouter": (
        _lines({**_chat(1, 100, 40), "id": "gen-a1", "provider": "X"}),
        100,
        40,
        0,
        1,
        "openrouter-reply",
    ),
    "responses": (
        _lines(
            {
                "id": "resp_a1",
                "object": "response",
                "model": "gpt-5",
                "created_at": 1772359200,
                "status": "completed",
                "usage": {
                    "input_tokens": 100,
                    "input_tokens_details": {"cached_tokens": 64},
                    "output_tokens": 5,
                },
            }
        ),
        100,
        64,
        0,
        1,
        "openai-responses",
    ),
    "responses stream": (
        (
            'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_z9","usage":null}}\n\n'
            'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_z9","model":"gpt-5",'
            '"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":5}}}\n\n'
        ),
        100,
        64,
        0,
        1,
        "openai-responses-stream",
    ),
    "openai stream": (
        (
            'data: {"id":"chatcmpl-q1","object":"chat.completion.chunk","model":"m","choices":[{"delta":{"content":"a"}}]}\n\n'
            'data: {"id":"chatcmpl-q1","object":"chat.completion.chunk","model":"m","choices":[],'
            '"usage":{"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":64}}}\n\ndata: [DONE]\n'
        ),
        100,
        64,
        0,
        1,
        "openai-stream",
    ),
    "anthropic": (_lines({"id": "msg_7k", **_MESSAGE}), 100, 80, 0, 1, "anthropic-reply"),
    "anthropic stream": (
        (
            'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_7k","model":"claude","usage":'
            '{"input_tokens":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":10,"output_tokens":1}}}\n\n'
            'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":40}}\n\n'
            'event: message_stop\ndata: {"type":"message_stop"}\n\n'
        ),
        100,
        80,
        0,
        1,
        "anthropic-stream",
    ),
    "anthropic stream without an end": (
        'data: {"type":"message_start","message":{"id":"msg_7k","model":"claude","usage":{"input_tokens":100}}}\n',
        0,
        0,
        100,
        1,
        "anthropic-stream",
    ),
    "gemini": (
        _lines(
            {
                "candidates": [],
                "modelVersion": "gemini-2.5-pro",
                "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 30},
            }
        ),
        100,
        30,
        0,
        1,
        "gemini-reply",
    ),
    "bedrock": (
        _lines(
            {
                "metrics": {},
                "output": {},
                "stopReason": "end",
                "usage": {
                    "inputTokens": 20,
                    "cacheReadInputTokens": 80,
                    "cacheWriteInputTokens": 0,
                    "outputTokens": 1,
                },
            }
        ),
        100,
        80,
        0,
        1,
        "bedrock-reply",
    ),
    "cohere": (
        _lines(
            {
                "id": "c",
                "message": {},
                "usage": {
                    "billed_units": {},
                    "tokens": {"input_tokens": 100, "output_tokens": 1},
                    "cached_tokens": 48,
                },
            }
        ),
        100,
        48,
        0,
        1,
        "cohere-reply",
    ),
    "openai batch": (
        _lines(
            {
                "id": "b0",
                "custom_id": "r0",
                "response": {"status_code": 200, "body": _chat(1, 100, 64)},
                "error": None,
            },
            {"id": "b1", "custom_id": "r1", "response": None, "error": {"code": "batch_expired"}},
        ),
        100,
        64,
        0,
        1,
        "batch",
    ),
    "anthropic batch": (
        _lines(
            {
                "custom_id": "a",
                "result": {"type": "succeeded", "message": {"id": "msg_1x", **_MESSAGE}},
            }
        ),
        100,
        80,
        0,
        1,
        "batch",
    ),
    "litellm": (
        _lines(
            {
                "request_id": "r1",
                "call_type": "acompletion",
                "prompt_tokens": 100,
                "completion_tokens": 1,
                "startTime": AT.format(1),
                "model": "claude",
                "session_id": "s",
                "metadata": {"usage_object": {"prompt_tokens": 100, "cache_read_input_tokens": 80}},
                "cache_hit": "True",
            }
        ),
        100,
        80,
        0,
        1,
        "litellm",
    ),
    "new-api": (
        json.dumps(
            {
                "success": True,
                "data": {
                    "items": [
                        {**_NEW_API, "other": '{"cache_tokens": 25}'},
                        {**_NEW_API, "id": 8, "type": 1},
                    ]
                },
            },
            indent=2,
        ),
        100,
        25,
        0,
        1,
        "new-api",
    ),
    "openrouter generations": (
        _lines(
            {
                "data": {
                    "id": "gen-1",
                    "created_at": AT.format(1),
                    "model": "a/b",
                    "usage": 0.01,
                    "tokens_prompt": 90,
                    "native_tokens_prompt": 100,
                    "native_tokens_cached": 60,
                }
            }
        ),
        100,
        60,
        0,
        1,
        "openrouter-generation",
    ),
    "openrouter activity": (
        "generation_id,created_at,tokens_prompt,tokens_completion,tokens_cached,model_permaslug\ngen-1,2026-03-01 10:00:00,100,3,60,a/b\n",
        100,
        60,
        0,
        1,
        "openrouter-generation",
    ),
    "langfuse observation": (
        json.dumps(
            [
                {
                    **_OBSERVATION,
                    "usageDetails": {
                        "input": 20,
                        "input_cached_tokens": 80,
                        "output": 3,
                        "total": 103,
                    },
                }
            ],
            indent=1,
        ),
        100,
        80,
        0,
        1,
        "langfuse",
    ),
    "langfuse trace, listed twice": (
        json.dumps(
            {
                "trace": {
                    "id": "t1",
                    "observations": [
                        {**_OBSERVATION, "usageDetails": {"input": 100, "output": 3, "total": 103}}
                    ],
                },
                "observations": [
                    {**_OBSERVATION, "usageDetails": {"input": 100, "output": 3, "total": 103}},
                    {"id": "x", "type": "SPAN", "traceId": "t1", "startTime": AT.format(1)},
                ],
            }
        ),
        0,
        0,
        100,
        1,
        "langfuse",
    ),
    "opentelemetry": (
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [_SPAN]}]}]}, indent=1),
        100,
        80,
        0,
        1,
        "opentelemetry",
    ),
    "opentelemetry spans in lines": (
        _lines(
            {
                "span_id": "1",
                "trace_id": "2",
                "attributes": {
                    "gen_ai.usage.input_tokens": 100,
                    "gen_ai.usage.cache_read_input_tokens": 80,
                },
            }
        ),
        100,
        80,
        0,
        1,
        "opentelemetry",
    ),
    "claude code": (
        _lines(
            {
                "type": "user",
                "uuid": "u",
                "timestamp": AT.format(0),
                "message": {"content": "tea?"},
            },
            _claude_code(1),
            _claude_code(30),
        ),
        100,
        80,
        0,
        1,
        "claude-code",
    ),
    "codex": (
        _lines(
            {"type": "turn_context", "payload": {"model": "gpt-5"}},
            _codex((100, 20), (100, 20)),
            _codex((100, 20), (100, 20)),
            _codex((200, 100), (300, 120)),
        ),
        300,
        120,
        0,
        2,
        "codex",
    ),
    "gemini cli": (
        json.dumps(
            {
                "sessionId": "s",
                "messages": [
                    {"id": "m1", "type": "user", "content": "x"},
                    {
                        "id": "m2",
                        "type": "gemini",
                        "timestamp": AT.format(1),
                        "model": "g",
                        "tokens": {
                            "input": 100,
                            "output": 2,
                            "cached": 40,
                            "thoughts": 1,
                            "total": 103,
                        },
                    },
                ],
            },
            indent=1,
        ),
        100,
        40,
        0,
        1,
        "gemini-cli",
    ),
    "opencode": (
        json.dumps(
            {
                "id": "msg_a",
                "sessionID": "s",
                "role": "assistant",
                "modelID": "claude",
                "tokens": {
                    "input": 10,
                    "output": 2,
                    "reasoning": 0,
                    "cache": {"read": 80, "write": 10},
                },
            },
            indent=1,
        ),
        100,
        80,
        0,
        1,
        "opencode",
    ),
    "langchain": (
        json.dumps(
            {
                "messages": [
                    {"type": "human", "content": "x", "response_metadata": {}},
                    {
                        "type": "ai",
                        "content": "y",
                        "id": "run-1",
                        "response_metadata": {"model_name": "m"},
                        "usage_metadata": {
                            "input_tokens": 100,
                            "output_tokens": 1,
                            "input_token_details": {"cache_read": 40},
                        },
                    },
                ]
            },
            indent=1,
        ),
        100,
        40,
        0,
        1,
        "langchain",
    ),
    "vercel": (
        _lines(
            {
                "timestamp": AT.format(1),
                "model": "m",
                "usage": {"inputTokens": 100, "cachedInputTokens": 40, "outputTokens": 1},
            }
        ),
        100,
        40,
        0,
        1,
        "usage-line",
    ),
    "wrapper": (
        _lines(
            {
                "ts": 1772359200.5,
                "session": "s",
                "request": {"model": "m", "messages": [{"role": "user", "content": "x"}]},
                "response": {
                    "usage": {
                        "prompt_tokens": 100,
                        "prompt_cache_hit_tokens": 64,
                        "prompt_cache_miss_tokens": 36,
                    }
                },
            }
        ),
        100,
        64,
        0,
        1,
        "wrapper",
    ),
    "wrapper around text": (
        _lines({"time": AT.format(1), "response_body": json.dumps(_chat(1, 100, 64))}),
        100,
        64,
        0,
        1,
        "wrapper",
    ),
    "usage log of the seed": (
        _lines(
            {
                "id": "1",
                "at": AT.format(1),
                "sessionId": "s",
                "caller": "direct-chat",
                "model": "m",
                "promptTokens": 100,
                "completionTokens": 2,
                "totalTokens": 102,
                "cachedTokens": 64,
                "cacheMissTokens": 36,
            }
        ),
        100,
        64,
        0,
        1,
        "usage-line",
    ),
    "lines behind a prefix": (
        "2026-03-01 INFO llm " + json.dumps({"model": "m", "usage": {"prompt_tokens": 100}}) + "\n",
        0,
        0,
        100,
        1,
        "usage-line",
    ),
    "console": (
        (
            "[2026-03-07 10:00:00] POST /generate\n{ prompt_tokens: 100, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 64 } }\n"
            "{\n  id: 'msg_\u4f60',\n  content: [Array],\n  note: 'a { brace',\n  usage: {\n    input_tokens: 10,\n    cache_read_input_tokens: 90\n  }\n}\n"
        ),
        200,
        154,
        0,
        2,
        "console",
    ),
    "gemini stream": (
        "".join(
            "data: "
            + json.dumps(
                {
                    "candidates": [{"content": {}, **end}],
                    "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": n},
                }
            )
            + "\n\n"
            for n, end in ((1, {}), (2, {}), (3, {"finishReason": "STOP"}))
        ),
        100,
        0,
        0,
        1,
        "gemini-reply",
    ),
    "bedrock invocation log": (
        _lines(
            {
                "timestamp": AT.format(1),
                "modelId": "anthropic.claude",
                "requestId": "q-1",
                "input": {},
                "output": {"outputBodyJson": {"type": "message", "usage": _CLAUDE}},
            }
        ),
        100,
        80,
        0,
        1,
        "wrapper",
    ),
    "opentelemetry agent over its calls": (
        json.dumps(
            {
                "resourceSpans": [
                    {
                        "scopeSpans": [
                            {
                                "spans": [
                                    _SPAN,
                                    {
                                        **_SPAN,
                                        "spanId": "02",
                                        "attributes": [
                                            *_SPAN["attributes"],
                                            _attribute("gen_ai.operation.name", "invoke_agent"),
                                        ],
                                    },
                                ]
                            }
                        ]
                    }
                ]
            }
        ),
        100,
        80,
        0,
        1,
        "opentelemetry",
    ),
    "opencode export": (
        json.dumps(
            {
                "info": {"id": "ses_1"},
                "messages": [
                    {"info": {"id": "m1", "sessionID": "s", "role": "user"}},
                    {
                        "info": {
                            "id": "msg_a",
                            "sessionID": "s",
                            "role": "assistant",
                            "tokens": {
                                "input": 10,
                                "output": 2,
                                "cache": {"read": 80, "write": 10},
                            },
                        }
                    },
                ],
            },
            indent=1,
        ),
        100,
        80,
        0,
        1,
        "opencode",
    ),
    "gemini cli in lines": (
        _lines(
            {"sessionId": "s", "projectHash": "h", "startTime": AT.format(0)},
            {
                "id": "m2",
                "type": "gemini",
                "timestamp": AT.format(1),
                "model": "g",
                "tokens": {"input": 100, "output": 2, "cached": 40},
            },
        ),
        100,
        40,
        0,
        1,
        "gemini-cli",
    ),
}
