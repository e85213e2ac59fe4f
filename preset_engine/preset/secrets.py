"""Keys whose values nobody but the owner may see.

The values never enter a note, an error or a report, and `without_secrets` removes them for sharing. A key is
secret when SillyTavern stores a private address or password under it, or when its name smells of one.
"""

from __future__ import annotations

import re

from preset_engine.json_values import as_object
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
    r"(?:api|access|secret|auth|private|open_?ai|claude|horde|proxy|router|nai|novel|mancer|vertex|google|azure|"
    r"client|server|bearer|service)[\w-]*(?:key|token)s?$"
    r"|api[_-]?key|service_?account|passw(?:or)?d|secret|credential|authorization|bearer|cookie"
    r"|^(?:token|apikey|reverse_?proxy|proxy)$"
    r"|(?:proxy|server|webhook|endpoint|base)[_-]?(?:url|uri|address)$"
    r"|include_?(?:headers|body)$",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"max|min|(?<!ac)count|limit|budget|used|total|tokenizer", re.IGNORECASE)
"""Names of numbers of tokens, which are no access tokens."""


def is_secret_key(key: str) -> bool:
    """Whether a key names something private; of an over-long key the ends are looked at."""
    key = key if len(key) <= 100 else f"{key[:50]}{key[-50:]}"
    if key in PRIVATE_KEYS:
        return True
    return _SMELL.search(key) is not None and _AMOUNT.search(key) is None


def find_secrets(value: JsonValue) -> tuple[str, ...]:
    """Names of the secret keys that hold something, sorted, each once."""
    found: set[str] = set()
    flags: dict[str, bool] = {}
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, list):
            todo.extend(child for child in item if isinstance(child, (dict, list)) and child)
            continue
        for key, child in item.items() if isinstance(item, dict) else ():
            is_secret = flags.get(key)
            if is_secret is None:
                is_secret = flags[key] = is_secret_key(key)
            if is_secret:
                if child not in (None, "", [], {}, False):
                    found.add(key)
            elif isinstance(child, (dict, list)) and child:
                todo.append(child)
    return tuple(sorted(found))


def without_secrets(document: JsonObject) -> JsonObject:
    """A copy of the document without any secret key, for sharing."""
    return as_object(_without(document))


def _without(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _without(item) for key, item in value.items() if not is_secret_key(key)}
    if isinstance(value, list):
        return [_without(item) for item in value]
    return value
