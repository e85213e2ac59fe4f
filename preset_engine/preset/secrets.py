"""Keys whose values nobody but the owner may see.

The values never enter a note, an error or a report, and `without_secrets` removes them for sharing. A key is
secret when SillyTavern stores a private address or password under it, or when its name smells of one.
"""

from __future__ import annotations

import re

from preset_engine.messages import JsonObject, JsonValue

PRIVATE_KEYS = frozenset(
    [
        "proxy_password",
        "reverse_proxy",
        "custom_url",
        "custom_include_headers",
        "custom_include_body",
        "custom_exclude_body",
        "azure_base_url",
        "azure_deployment_name",
        "vertexai_express_project_id",
        "proxies",
        "selected_proxy",
        "api_server",
        "api_server_textgenerationwebui",
        "server_urls",
        "api_url",
    ]
)
"""SillyTavern's keys that hold addresses, headers or passwords."""

_SMELL = re.compile(
    r"(?:^|[_-])(?:api[_-]?)?(?:key|secret|token|password|passwd|credentials?|authorization|bearer)$"
    r"|api[_-]?key|apikey|(?:access|auth|secret)[_-]?(?:key|token)|password|credential",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?:Key|Secret|Token|Password|Url|Proxy|Auth)$")
_PLAIN = frozenset(
    (
        "count_penalty",
        "use_google_tokenizer",
        "use_ai21_tokenizer",
        "max_tokens",
        "openai_max_tokens",
    )
)


def is_secret_key(key: str) -> bool:
    """Whether a key names something private."""
    if key in _PLAIN:
        return False
    return key in PRIVATE_KEYS or _SMELL.search(key) is not None or _CAMEL.search(key) is not None


def find_secrets(value: JsonValue) -> tuple[str, ...]:
    """Names of the secret keys that hold something, sorted, each once."""
    found: set[str] = set()
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            for key, child in item.items():
                if is_secret_key(key):
                    if child not in (None, "", [], {}, False):
                        found.add(key)
                elif isinstance(child, (dict, list)):
                    todo.append(child)
        elif isinstance(item, list):
            todo.extend(child for child in item if isinstance(child, (dict, list)))
    return tuple(sorted(found))


def without_secrets(document: JsonObject) -> JsonObject:
    """A copy of the document without any secret key, for sharing."""
    copy = _without(document)
    return copy if isinstance(copy, dict) else {}


def _without(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _without(item) for key, item in value.items() if not is_secret_key(key)}
    if isinstance(value, list):
        return [_without(item) for item in value]
    return value
