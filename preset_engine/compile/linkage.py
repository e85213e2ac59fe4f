"""The two checks of the pipeline: the shape of one message, and calls matched by answers.

A provider refuses a list in which a tool call has no answer, or an answer no call. Inside the pipeline such a
list is our own mistake, so it raises; what comes from a store or a user is cleaned before (design decision 5).
Rules of linkage:

* an open call is answered by tool messages before any user or system message, and before an assistant message
  without calls; answers may come in any order;
* a further assistant message *with* calls may stand between;
* an answer to a call that is not open is an error, and nothing may be open at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn, cast

from preset_engine.errors import CompileError
from preset_engine.messages import ChatMessage, JsonValue, Role

_ROLES = frozenset({"system", "user", "assistant", "tool", "function"})


def check_shape(message: object, index: int = 0) -> Mapping[str, JsonValue]:
    """The message itself, if it has the shape of its role.

    Args:
        message: what should be a message object.
        index: its place in the list, for the error.

    Raises:
        CompileError: `not_a_mapping`, `bad_role`, `missing_content`, `bad_content`, `tool_calls_not_a_list`,
            `tool_call_not_a_mapping`, `tool_call_without_id`, `tool_message_without_id`.
    """
    if not isinstance(message, Mapping):
        _refuse(index, f"is {type(message).__name__}, not an object", "not_a_mapping")
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        _refuse(index, f"has the role {role!r}; known are {', '.join(sorted(_ROLES))}", "bad_role")
    if "content" not in message:
        _refuse(index, f"({role}) has no content", "missing_content")
    if not _fits(role, message["content"]):
        kind = type(message["content"]).__name__
        _refuse(index, f"({role}) cannot have content of type {kind}", "bad_content")
    if role == Role.ASSISTANT:
        _check_calls(message.get("tool_calls"), index)
    if role == Role.TOOL and not _is_id(message.get("tool_call_id")):
        _refuse(index, "(tool) names no call: tool_call_id is missing", "tool_message_without_id")
    return cast("Mapping[str, JsonValue]", message)  # a Mapping of JSON, as just checked


def _fits(role: str, content: object) -> bool:
    if isinstance(content, str):
        return True
    if isinstance(content, list):
        return role in {Role.USER, Role.ASSISTANT}
    return content is None and role == Role.ASSISTANT


def _check_calls(calls: object, index: int) -> None:
    if calls is None:
        return
    if not isinstance(calls, list):
        _refuse(index, "has tool_calls that are no list", "tool_calls_not_a_list")
    for call in calls:
        if not isinstance(call, Mapping):
            _refuse(index, "has a tool call that is no object", "tool_call_not_a_mapping")
        if not _is_id(call.get("id")):
            _refuse(index, "has a tool call without an id", "tool_call_without_id")


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _refuse(index: int, what: str, code: str) -> NoReturn:
    message = f"message {index} {what}"
    raise CompileError(message, code)


def call_ids(message: ChatMessage) -> tuple[str, ...]:
    """Ids of the calls of an assistant message; empty for every other message."""
    if message.role != Role.ASSISTANT or not message.tool_calls:
        return ()
    ids = (call.get("id") for call in message.tool_calls)
    return tuple(call_id for call_id in ids if isinstance(call_id, str) and call_id)


def open_calls(messages: Iterable[ChatMessage]) -> tuple[str, ...]:
    """Ids of the calls without an answer so far, in the order of the calls. Never raises."""
    pending: list[str] = []
    for message in messages:
        pending.extend(call_ids(message))
        if message.role == Role.TOOL and message.tool_call_id in pending:
            pending.remove(message.tool_call_id)
    return tuple(pending)


def check_linkage(messages: Iterable[ChatMessage]) -> None:
    """Check that calls and answers match.

    Raises:
        CompileError: `missing_results_before_assistant`, `pending_before_other_role`, `orphan_tool_result` (no
            call is open), `tool_id_mismatch` (others are open), `unmatched_at_end`.
    """
    pending: list[str] = []
    for index, message in enumerate(messages):
        if message.role == Role.TOOL:
            _close(pending, message.tool_call_id, index)
        elif pending and message.role != Role.ASSISTANT:
            _refuse(
                index,
                f"({message.role}) stands before {_answers(pending)}",
                "pending_before_other_role",
            )
        elif pending and not message.tool_calls:
            _refuse(
                index,
                f"(assistant) stands before {_answers(pending)}",
                "missing_results_before_assistant",
            )
        pending.extend(call_ids(message))
    if pending:
        text = f"the list ends before {_answers(pending)}"
        raise CompileError(text, "unmatched_at_end")


def _close(pending: list[str], call_id: str | None, index: int) -> None:
    if not pending:
        _refuse(index, f"answers {call_id!r}, but no call is open", "orphan_tool_result")
    if call_id not in pending:
        _refuse(index, f"answers {call_id!r}, but open are {pending!r}", "tool_id_mismatch")
    pending.remove(call_id)


def _answers(pending: list[str]) -> str:
    return f"the answers to the tool calls {', '.join(map(repr, pending))}"
