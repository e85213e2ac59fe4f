"""Messages as LangChain dumps them, alone or in a conversation.

`usage_metadata.input_tokens` includes the cached part (`input_token_details.cache_read`). Other kits write flat
lines with a usage object, which `bodies` reads.
"""

from __future__ import annotations

from preset_engine.log.call import Reading, Skip, SkipKind
from preset_engine.log.readers.fields import Body, Envelope, first_text, identity, inner, text
from preset_engine.log.readers.memory import Memory
from preset_engine.log.times import read_time
from preset_engine.log.usage import parse_usage

_TURNS = ("human", "system", "tool", "function", "HumanMessage", "SystemMessage", "ToolMessage")


def read(value: Body, memory: Memory) -> list[Reading] | None:
    """A LangChain message with its metadata."""
    metadata = value.get("response_metadata")
    if metadata is None and "usage_metadata" not in value:
        return None
    if value.get("type") in _TURNS:
        return [Skip(SkipKind.NO_CALL, "a transcript line that is no model call")]
    about = inner(value, "response_metadata")
    found = (
        parse_usage(value.get("usage_metadata"))
        or parse_usage(about.get("token_usage"))
        or parse_usage(about.get("usage"))
    )
    if found is None:
        return None
    message = identity(text(value.get("id")))
    around = Envelope(
        at_ms=read_time(value.get("timestamp") or about.get("created")),
        session=memory.session,
        caller="langchain",
        model=first_text(about, ("model_name", "model", "model_id")),
        provider=first_text(about, ("model_provider", "ls_provider")),
        request_id=f"langchain:{message}" if message else None,
    )
    return [around.call("langchain", found)]
