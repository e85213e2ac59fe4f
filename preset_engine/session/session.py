"""A session: one model call at a time over stored records (the Stello model, seeds 000, 001, 003).

A call loads the state, compiles the prompt, streams the reply and commits everything in one step. A failed or
aborted call stores nothing and leaves the insight where it was. Where another writer committed first, the prompt
is compiled anew and sent again, a few times at most; not once text has already been handed out.

The loop over tool calls is not here: a reply with calls is a stored reply, and its results come back through
`send_results`. The engine does that.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

import anyio

from preset_engine.errors import NotConfigured, SessionChanged
from preset_engine.llm.abort import Abort
from preset_engine.llm.request import ModelAdapter, require_streaming
from preset_engine.llm.stream import Reply
from preset_engine.session.call import Call, CallReport
from preset_engine.session.clock import fresh_id
from preset_engine.session.commit import TurnResult, commit
from preset_engine.session.config import (
    CompressFn,
    ConsolidateFn,
    ContextFn,
    ForkContext,
    SessionConfig,
)
from preset_engine.session.fork import Child, inherited, resolve_context, write_child
from preset_engine.session.frame import Ask, AskKind, make_frame
from preset_engine.session.greeting import first_records
from preset_engine.session.loading import Loader
from preset_engine.session.options import SessionSetup
from preset_engine.session.prepared import Prepared
from preset_engine.session.prompt import PromptParts, prepare
from preset_engine.session.protocols import SessionStorage
from preset_engine.session.refine import compress_with
from preset_engine.session.stored import StoredSession
from preset_engine.session.tools import Tool, ToolResult
from preset_engine.session.turn import TurnStream

DEFAULT_LABEL = "New Session"
_log = logging.getLogger(__name__)


class Session(StoredSession):
    """A stored session with a model.

    Args:
        storage: where the session lives.
        session_id: its id; it must exist there when it is first used (`Session.create` makes one).
        adapter: the model; may be set later and changed between calls.
        tools: tools on offer; None names no tools at all.
        setup: everything that stays.

    Raises:
        NotConfigured: the adapter cannot stream.
    """

    def __init__(
        self,
        storage: SessionStorage,
        session_id: str,
        *,
        adapter: ModelAdapter | None = None,
        tools: Sequence[Tool] | None = None,
        setup: SessionSetup | None = None,
    ) -> None:
        self._setup = setup or SessionSetup()
        super().__init__(storage, session_id, self._setup.prompt.context)
        self._loader = Loader(storage, session_id)
        self._adapter = None if adapter is None else require_streaming(adapter)
        self.tools = None if tools is None else tuple(tools)

    @classmethod
    async def create(
        cls,
        storage: SessionStorage,
        *,
        label: str = DEFAULT_LABEL,
        system_prompt: str | None = None,
        session_id: str | None = None,
        opening: str | None = None,
        adapter: ModelAdapter | None = None,
        tools: Sequence[Tool] | None = None,
        setup: SessionSetup | None = None,
    ) -> Session:
        """Make a new root session in the store.

        Args:
            storage: where it will live.
            label: its label, which its prompts show; empty for none.
            system_prompt: its system prompt.
            session_id: an id of the caller's; default a new one.
            opening: a first line of the assistant; None takes the card's greeting, if there is a card.
            adapter: as for the constructor.
            tools: as for the constructor.
            setup: as for the constructor.
        """
        setup = setup or SessionSetup()
        session = cls(
            storage, session_id or _new_id(setup), adapter=adapter, tools=tools, setup=setup
        )
        records = first_records(setup.prompt.content, opening, session.now())
        child = Child(session.id, label, system_prompt, records)
        await storage.transaction(lambda inside: write_child(inside, child))
        return session

    @property
    def setup(self) -> SessionSetup:
        """How the session works."""
        return self._setup

    @property
    def adapter(self) -> ModelAdapter | None:
        """The model of the next call."""
        return self._adapter

    @adapter.setter
    def adapter(self, adapter: ModelAdapter | None) -> None:
        self._adapter = None if adapter is None else require_streaming(adapter)

    # ---- calls ----

    async def send(self, text: str, *, task: str = "", abort: Abort | None = None) -> TurnResult:
        """Say something and wait for the whole reply; drains the same stream as `stream`."""
        return await self.ask(Ask(AskKind.SEND, text, task=task), abort=abort)

    def stream(
        self, text: str, *, task: str = "", abort: Abort | None = None
    ) -> TurnStream[TurnResult]:
        """Say something and read the reply as it comes."""
        return self.stream_ask(Ask(AskKind.SEND, text, task=task), abort=abort)

    async def send_results(
        self, results: Sequence[ToolResult], *, task: str = "", abort: Abort | None = None
    ) -> TurnResult:
        """Answer the open tool calls and wait for the reply."""
        return await self.ask(Ask(AskKind.RESULTS, results=tuple(results), task=task), abort=abort)

    async def continue_reply(self, *, abort: Abort | None = None) -> TurnResult:
        """Let the model go on with the last reply; the new text joins it."""
        return await self.ask(Ask(AskKind.CONTINUE), abort=abort)

    async def swipe(self, *, abort: Abort | None = None) -> TurnResult:
        """Ask for one more alternative of the last reply; it is chosen, the others stay."""
        return await self.ask(Ask(AskKind.SWIPE), abort=abort)

    async def regenerate(self, *, abort: Abort | None = None) -> TurnResult:
        """Answer the last user message anew; the old answer goes when the new one is there."""
        return await self.ask(Ask(AskKind.REGENERATE), abort=abort)

    async def ask(self, ask: Ask, *, abort: Abort | None = None) -> TurnResult:
        """Make one call and wait for its result."""
        return await TurnStream(self.steps(ask, is_silent=True), TurnResult, abort).result()

    def stream_ask(self, ask: Ask, *, abort: Abort | None = None) -> TurnStream[TurnResult]:
        """Make one call and read its text as it comes.

        Raises:
            NotConfigured: the session has no model.
        """
        self._model()
        return TurnStream(self.steps(ask), TurnResult, abort)

    async def preview(self, text: str, *, task: str = "") -> Prepared:
        """Exactly what `send` would send now; calls no model and stores nothing.

        Where a new summary would be needed its place says so, since making one is a model call.
        """

        async def no_summary(records: Sequence[object]) -> str:
            return f"[{len(records)} records would be summarised here]"

        return await self._prepare(
            Ask(AskKind.SEND, text, task=task), lambda: no_summary, is_preview=True
        )

    async def steps(
        self, ask: Ask, *, is_silent: bool = False
    ) -> AsyncGenerator[str | TurnResult, None]:
        """The work of one call: yields text as it comes, and its stored result last.

        Args:
            ask: the call.
            is_silent: text is not yielded, so that the call may be repeated when another writer was first.
        """
        for attempt in range(1, self._setup.attempts + 1):
            has_spoken = False
            prepared = await self._prepare(ask, self._compress)
            call = Call(self._model(), prepared, self.now())
            try:
                async with aclosing(call.texts()) as texts:
                    async for text in texts:
                        if not is_silent:
                            has_spoken = True
                            yield text
                reply = call.reply()
            except BaseException as error:
                await self._report(call.report(error))
                raise
            await self._report(call.report(None))
            try:
                with anyio.CancelScope(shield=True):
                    result = await self._commit(prepared, reply)
            except SessionChanged:
                if has_spoken or attempt == self._setup.attempts:
                    raise
                continue
            yield result
            return

    async def consolidate(self, function: ConsolidateFn | None = None) -> str:
        """Make the memory anew from all records and the old memory, and store it.

        Raises:
            NotConfigured: there is no consolidate function.
        """
        await self._active()
        function = function or self._setup.consolidate
        if function is None:
            raise NotConfigured(
                f"session {self._id!r} has no consolidate function; give one, as consolidate_with(adapter)"
            )
        memory = await self.memory()
        text = await function(memory, await self.messages())
        await self.put_memory(text)
        return text

    async def fork(
        self,
        *,
        label: str,
        session_id: str | None = None,
        system_prompt: str | None = None,
        context: ForkContext | str | ContextFn = ForkContext.NONE,
        opening: str | None = None,
        adapter: ModelAdapter | None = None,
        tools: Sequence[Tool] | None = None,
        setup: SessionSetup | None = None,
    ) -> Session:
        """Make a session that starts from this one; an archived one may be forked too.

        Args:
            label: the child's label.
            session_id: the child's id; a node made before has it already. Default a new one.
            system_prompt: the child's prompt; None takes this session's, an empty text means none.
            context: what of the records is copied; `compress` puts a summary into the prompt instead.
            opening: a first line of the child's assistant, behind copied records.
            adapter: the child's model; None takes this session's.
            tools: the child's tools; None takes this session's.
            setup: the child's setup; None takes this session's.
        """
        setup = setup or self._setup
        adapter = adapter or self._adapter
        prompt = await self.system_prompt() if system_prompt is None else system_prompt
        records = await self.messages()
        config = SessionConfig(system_prompt=prompt, adapter=adapter, compress=setup.compress)
        plan = await resolve_context(config, context, records)
        child = Child(
            session_id or _new_id(setup),
            label,
            plan.config.system_prompt,
            await inherited(records, plan.context, opening, self.now()),
        )
        await self._storage.transaction(lambda inside: write_child(inside, child))
        return Session(
            self._storage,
            child.id,
            adapter=adapter,
            tools=self.tools if tools is None else tools,
            setup=setup,
        )

    # ---- inside ----

    def _model(self) -> ModelAdapter:
        if self._adapter is None:
            raise NotConfigured(f"session {self._id!r} has no model; give it an adapter")
        return self._adapter

    def _compress(self) -> CompressFn:
        tokens = self._setup.prompt.context.tokens
        return self._setup.compress or compress_with(self._model(), tokens=tokens)

    async def _prepare(
        self, ask: Ask, compress: Callable[[], CompressFn], *, is_preview: bool = False
    ) -> Prepared:
        adapter = self._adapter if is_preview else self._model()
        loaded = await self._loader.load()
        self._check_active(loaded.meta)
        shared = self._setup.shared_memory
        parts = PromptParts(
            task=ask.task,
            shared_memory=shared.index() if shared else "",
            tools=None if self.tools is None else tuple(tool.spec for tool in self.tools),
            window_tokens=adapter.max_context_tokens if adapter else None,
            compress=compress,
            producers=self._setup.producers,
            memo=self._loader.memo,
        )
        frame = make_frame(ask, loaded.records, self.now())
        prepared = await prepare(self._setup.prompt, loaded, frame, parts)
        if prepared.compressed.is_new and not is_preview:
            self._loader.keep(prepared.compressed.snapshot)
        return prepared

    async def _commit(self, prepared: Prepared, reply: Reply) -> TurnResult:
        tokens = self._setup.prompt.context.tokens
        result = await commit(self._storage, prepared, reply, self.now(), tokens)
        self._loader.committed(prepared, result)
        return result

    async def _report(self, report: CallReport) -> None:
        if self._setup.listener is not None:
            try:
                with anyio.CancelScope(shield=True):
                    await self._setup.listener(report)
            except Exception:  # noqa: BLE001  a log that cannot be written loses no turn
                _log.exception("a listener of session %r failed; the call goes on", self._id)


def _new_id(setup: SessionSetup) -> str:
    return (setup.prompt.context.new_id or fresh_id)()
