"""Tools: what the model may call, how a call runs, and how its result is written into the records.

Results are typed values. The text that stands in a tool record is fixed by the seed's rules: a failure is
its error text ("Unknown error" where there is none), text stays as it is, None is the empty text, anything
else is compact JSON. A user who types JSON has typed text, never a result.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from preset_engine.errors import NotConfigured, SessionError
from preset_engine.llm.request import ToolCall, ToolSpec
from preset_engine.messages import JsonValue
from preset_engine.session.cancellation import is_asked_for

ToolFunction: TypeAlias = Callable[
    [Mapping[str, JsonValue]], "ToolOutput | JsonValue | Awaitable[ToolOutput | JsonValue]"
]


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool says: data, or that it failed. A tool may also return plain data, or raise."""

    data: JsonValue = None
    error: str | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call.

    Attributes:
        call_id: the call that is answered.
        name: the tool's name.
        arguments: what it was called with.
        success: whether it worked.
        data: what it gave.
        error: why it failed, or None.
    """

    call_id: str
    name: str
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)
    success: bool = True
    data: JsonValue = None
    error: str | None = None

    @property
    def text(self) -> str:
        """What stands in the tool record.

        Raises:
            SessionError: the data is no JSON.
        """
        if not self.success:
            return self.error or "Unknown error"
        if self.data is None:
            return ""
        if isinstance(self.data, str):
            return self.data
        try:
            return json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            raise SessionError(
                f"the tool {self.name!r} returned what is no JSON ({error}); return text or JSON values"
            ) from error


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool with its function.

    Attributes:
        spec: what the model sees.
        run: takes the arguments; may be asynchronous; returns data or a `ToolOutput`, or raises.
        is_read_only: changes nothing outside.
        is_idempotent: calling it twice does what calling it once does.
        title: what a person calls it.
    """

    spec: ToolSpec
    run: ToolFunction
    is_read_only: bool = False
    is_idempotent: bool = False
    title: str = ""

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.spec.name


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


N = TypeVar("N", bound=Named)


def union_by_name(base: Sequence[N] | None, override: Sequence[N] | None) -> tuple[N, ...] | None:
    """Both lists as one: same name, the override wins in the base's place; new names follow in order.

    Both missing is None (no tools are named at all).
    """
    if base is None and override is None:
        return None
    merged: dict[str, N] = {item.name: item for item in base or ()}
    merged.update({item.name: item for item in override or ()})
    return tuple(merged.values())


@dataclass(frozen=True, slots=True)
class ToolRun:
    """What a running tool may know of its call: the session, and the call itself."""

    session_id: str
    call: ToolCall


_run: ContextVar[ToolRun] = ContextVar("tool_run")


def current_run() -> ToolRun:
    """The call that the code runs for, inside a tool that an engine runs.

    Raises:
        NotConfigured: no engine runs a tool here.
    """
    run = _run.get(None)
    if run is None:
        raise NotConfigured("no tool is running here; call this inside a tool of an engine")
    return run


class ToolRegistry:
    """Tools by name, in the order of registration; a later one of the same name replaces the earlier."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> None:
        """Add or replace a tool."""
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """The tool of this name, or None."""
        return self._tools.get(name)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools."""
        return tuple(self._tools.values())

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model sees of them."""
        return tuple(tool.spec for tool in self._tools.values())

    async def execute(self, call: ToolCall, session_id: str = "") -> ToolResult:
        """Run one call. Whatever goes wrong, an unknown name included, is a failed result.

        Run every call in a task of its own: `current_run` tells the tool which one it is.
        """
        _run.set(ToolRun(session_id, call))
        tool = self._tools.get(call.name)
        if tool is None:
            return _result(call, ToolOutput(error=f"Unknown tool: {call.name}", is_error=True))
        try:
            output = tool.run(call.arguments)
            if inspect.isawaitable(output):
                output = await output
        except Exception as error:  # noqa: BLE001  a tool's failure is told to the model, not to the caller
            output = ToolOutput(error=str(error) or type(error).__name__, is_error=True)
        except asyncio.CancelledError:
            if is_asked_for():
                raise
            output = ToolOutput(error="The tool was cancelled from within", is_error=True)
        return _checked(call, output if isinstance(output, ToolOutput) else ToolOutput(data=output))


def _checked(call: ToolCall, output: ToolOutput) -> ToolResult:
    """The result, or a failed one where its data could not be written into a record."""
    result = _result(call, output)
    try:
        result.text  # noqa: B018  asked for its error
    except SessionError as error:
        return _result(call, ToolOutput(error=str(error), is_error=True))
    return result


def _result(call: ToolCall, output: ToolOutput) -> ToolResult:
    return ToolResult(
        call_id=call.id,
        name=call.name,
        arguments=call.arguments,
        success=not output.is_error,
        data=output.data,
        error=None if output.error is None else str(output.error),
    )
