"""`Agent`: many sessions in one store, their turns, forks and upkeep (the seeds' StelloAgent).

::

    async with Agent(await open_storage("sqlite:chat.db"), adapter=model) as agent:
        root = await agent.create_session(label="Trip", system_prompt="You plan trips.")
        turn = await agent.turn(root.id, "Where shall we go?")
        child = await agent.fork_session(root.id, label="Food", context="compress")

Everything that touches one session runs in its queue. As a context manager the agent consolidates in the
background and waits for that at its end; without, a turn that is due for it consolidates before it returns.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from types import TracebackType
from typing import Self

from preset_engine.llm.abort import Abort
from preset_engine.llm.request import ModelAdapter, require_streaming
from preset_engine.session.call import CallReport
from preset_engine.session.config import (
    ContextFn,
    ForkContext,
    ForkProfile,
    SessionConfig,
    merge_config,
)
from preset_engine.session.engine import MAX_TOOL_ROUNDS, AgentTurn, Engine
from preset_engine.session.engines import Engines
from preset_engine.session.events import Event, EventKind, Observer, Observers
from preset_engine.session.forest import Forest
from preset_engine.session.fork import Child, inherited, write_child
from preset_engine.session.frame import Ask, AskKind
from preset_engine.session.greeting import first_records
from preset_engine.session.meta import SessionMeta
from preset_engine.session.prepared import MutationProducer
from preset_engine.session.prompt import PromptSetup
from preset_engine.session.protocols import Store
from preset_engine.session.queue import Queues
from preset_engine.session.setup import AgentSetup, freeze
from preset_engine.session.shared_memory import SharedMemory
from preset_engine.session.skills import Skill, SkillRegistry
from preset_engine.session.split_guard import SplitGuard, SplitStrategy
from preset_engine.session.tools import Tool
from preset_engine.session.turn import TurnStream
from preset_engine.session.upkeep import Upkeep


class Agent(Forest):
    """Sessions with models.

    Args:
        store: where the sessions live.
        adapter: the model of every session that names no other.
        defaults: what every session starts from; the lowest of the four layers.
        prompt: how prompts are made (preset, content, dialect, context).
        tools: tools of every session.
        skills: know-how that the model may ask for.
        profiles: recipes for forks, by name.
        shared_memory: notes that all sessions share; None offers none.
        observers: who is told of events.
        producers: who may add mutations to a prompt.
        split: limits for forks; None does not limit them.
        max_tool_rounds: of one turn.
        consolidate_every: make the memory anew on every so many completed turns; 0 never.
        idle_seconds: how long an engine that nobody holds is kept.
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        adapter: ModelAdapter | None = None,
        defaults: SessionConfig | None = None,
        prompt: PromptSetup | None = None,
        tools: Sequence[Tool] = (),
        skills: Iterable[Skill] = (),
        profiles: Mapping[str, ForkProfile] | None = None,
        shared_memory: SharedMemory | None = None,
        observers: Iterable[Observer] = (),
        producers: Sequence[MutationProducer] = (),
        split: SplitStrategy | None = None,
        max_tool_rounds: int = MAX_TOOL_ROUNDS,
        consolidate_every: int = 0,
        idle_seconds: float = 300.0,
    ) -> None:
        self._setup = AgentSetup(
            defaults=_with_adapter(defaults or SessionConfig(), adapter),
            prompt=prompt or PromptSetup(),
            tools=tuple(tools),
            skills=SkillRegistry(skills),
            profiles=dict(profiles or {}),
            shared_memory=shared_memory,
            producers=tuple(producers),
            max_tool_rounds=max_tool_rounds,
            consolidate_every=consolidate_every,
        )
        super().__init__(store, self._setup.prompt.context)
        self.observers = Observers(observers)
        self.split_guard = SplitGuard(split or SplitStrategy(is_off=True))
        self._queues = Queues()
        self._engines = Engines(self._build, idle_seconds)
        self._upkeep = Upkeep(self._engines, self._queues, self.observers)

    async def __aenter__(self) -> Self:
        await self._upkeep.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del error, trace
        await self._upkeep.close(is_failing=kind is not None)

    @property
    def setup(self) -> AgentSetup:
        """The configuration; `configure` changes it, skills and profiles may be registered here."""
        return self._setup

    # ---- sessions ----

    async def create_session(
        self,
        *,
        label: str | None = None,
        system_prompt: str | None = None,
        opening: str | None = None,
        session_id: str | None = None,
        config: SessionConfig | None = None,
    ) -> SessionMeta:
        """Make a root. `config` is the session's own layer over the agent's defaults."""
        own = config or SessionConfig()
        if system_prompt is not None:
            own = replace(own, system_prompt=system_prompt)
        merged = merge_config(defaults=self._setup.defaults, fork=own)
        records = first_records(self._setup.prompt.content, opening, self.now())

        async def write(inside: Store) -> SessionMeta:
            node = await inside.create_session(label=label, session_id=session_id)
            await freeze(inside, node.id, merged)
            return await write_child(
                inside, Child(node.id, node.label, merged.system_prompt, records)
            )

        meta = await self.store.transaction(write)
        self._setup.remember(meta.id, own)
        return meta

    async def fork_session(
        self,
        source_id: str,
        *,
        label: str,
        context: ForkContext | str | ContextFn | None = None,
        opening: str | None = None,
        config: SessionConfig | None = None,
        profile: str | None = None,
        variables: Mapping[str, str] | None = None,
        parent_id: str | None = None,
        session_id: str | None = None,
    ) -> SessionMeta:
        """Make a session that starts from another.

        Nothing is created before everything that can fail has been done; what is created is created in one
        step, so a failure leaves no node behind.

        Args:
            source_id: whose records, prompt and skills it starts from; may be archived.
            label: its label.
            context: none, inherit, compress or a function; None takes the profile's, else none.
            opening: its first line; None takes the profile's.
            config: the fork's own layer.
            profile: name of a recipe.
            variables: for the recipe's prompt function.
            parent_id: where it hangs in the forest; None is under the source.
            session_id: an id of the caller's.

        Raises:
            NotConfigured: no such profile, or a summary without function and model.
            SplitRefused: the parent may not be forked yet.
        """
        recipe = self._setup.profile(profile)
        above = parent_id or source_id
        async with self._queues.turn(source_id, may_join=True):
            await self.get_session_metadata(source_id)
            turns = (await self.get_session_metadata(above)).turn_count
            self.split_guard.check(above, turns)
            plan = await self._setup.plan_fork(
                self.store,
                source_id,
                context=context,
                recipe=recipe,
                variables=variables,
                fork=config,
            )
            line = opening if opening is not None else recipe.opening if recipe else None
            source = await self.list_messages(source_id)
            records = await inherited(source, plan.context, line, self.now())
            prompt = plan.config.system_prompt
            if prompt is None:
                prompt = await self.store.get_system_prompt(source_id)

            async def write(inside: Store) -> SessionMeta:
                node = await inside.create_session(
                    parent_id=above,
                    label=label,
                    source_session_id=source_id,
                    session_id=session_id,
                )
                await freeze(inside, node.id, plan.config)
                return await write_child(inside, Child(node.id, label, prompt, records))

            meta = await self.store.transaction(write)
            self._setup.remember(meta.id, recipe.config if recipe else None, config)
            self.split_guard.record(above, turns)
        await self._emit(EventKind.SESSION_FORK, source_id, child_id=meta.id)
        return meta

    async def archive_session(self, session_id: str) -> SessionMeta:
        """Let a session take no more turns; its children go on."""
        async with self._queues.turn(session_id, may_join=True):
            meta = await self._stored(session_id).archive()
        self.split_guard.forget(session_id)
        await self._emit(EventKind.SESSION_ARCHIVE, session_id)
        return meta

    # ---- turns ----

    async def turn(
        self, session_id: str, text: str, *, task: str = "", abort: Abort | None = None
    ) -> AgentTurn:
        """Say something and wait for the end of the turn, tool rounds included."""
        return await self.ask(session_id, Ask(AskKind.SEND, text, task=task), abort=abort)

    def stream(
        self, session_id: str, said: str | Ask, *, task: str = "", abort: Abort | None = None
    ) -> TurnStream[AgentTurn]:
        """Say something (or ask for a swipe and the like), and read the text of all rounds as it comes.

        The session's queue is held until the stream ends or is closed; use it as a context manager.
        """
        ask = Ask(AskKind.SEND, said, task=task) if isinstance(said, str) else said
        return TurnStream(self._steps(session_id, ask, is_silent=False), AgentTurn, abort)

    async def ask(self, session_id: str, ask: Ask, *, abort: Abort | None = None) -> AgentTurn:
        """Any call (continue, swipe, regenerate, results), with the tool rounds it takes."""
        steps = self._steps(session_id, ask, is_silent=True)
        return await TurnStream(steps, AgentTurn, abort).result()

    async def _steps(
        self, session_id: str, ask: Ask, *, is_silent: bool
    ) -> AsyncGenerator[str | AgentTurn, None]:
        async with (
            self._engines.hold(session_id) as engine,
            self._queues.turn(session_id),
            aclosing(engine.steps(ask, is_silent=is_silent)) as steps,
        ):
            async for step in steps:
                yield step  # a turn is handed out as soon as it is stored: what follows cannot spoil it
                if isinstance(step, AgentTurn) and ask.kind in (AskKind.SEND, AskKind.RESULTS):
                    await self._upkeep.after_turn(engine, step, self._setup.consolidate_every)

    # ---- upkeep ----

    async def consolidate_session(self, session_id: str) -> str:
        """Make a session's memory anew and store it.

        Raises:
            NotConfigured: there is no consolidate function.
        """
        return await self._upkeep.consolidate(session_id)

    async def attach(self, session_id: str, holder: str) -> Engine:
        """Hold a session's engine under a name.

        Raises:
            SessionNotFound: there is no such session; no engine is built.
        """
        engine = await self._engines.attach(session_id, holder)
        await self._emit(EventKind.SESSION_ENTER, session_id)
        return engine

    async def detach(self, session_id: str, holder: str) -> bool:
        """Let go of it; whether this name held it."""
        was_held = self._engines.detach(session_id, holder)
        if was_held:
            await self._emit(EventKind.SESSION_LEAVE, session_id)
        return was_held

    def configure(
        self,
        *,
        adapter: ModelAdapter | None = None,
        defaults: SessionConfig | None = None,
        prompt: PromptSetup | None = None,
        tools: Sequence[Tool] | None = None,
        max_tool_rounds: int | None = None,
        consolidate_every: int | None = None,
        idle_seconds: float | None = None,
    ) -> None:
        """Change the agent while it runs; None leaves a thing as it is. Running turns end as they began."""
        setup = self._setup
        setup.defaults = _with_adapter(defaults or setup.defaults, adapter)
        setup.prompt = prompt or setup.prompt
        setup.tools = setup.tools if tools is None else tuple(tools)
        if max_tool_rounds is not None:
            setup.max_tool_rounds = max_tool_rounds
        if consolidate_every is not None:
            setup.consolidate_every = consolidate_every
        if idle_seconds is not None:
            self._engines.idle_seconds = idle_seconds
        self._engines.renew()

    async def _build(self, session_id: str) -> Engine:
        return await self._setup.build(
            self.store,
            session_id,
            observers=self.observers,
            queues=self._queues,
            listener=self._listen,
        )

    async def _listen(self, report: CallReport) -> None:
        session_id = report.prepared.loaded.meta.id
        await self.observers.emit(Event(EventKind.MODEL_CALL, session_id, report=report))

    async def _emit(
        self,
        kind: EventKind,
        session_id: str,
        *,
        text: str | None = None,
        child_id: str | None = None,
    ) -> None:
        await self.observers.emit(Event(kind, session_id, text=text, child_id=child_id))


def _with_adapter(config: SessionConfig, adapter: ModelAdapter | None) -> SessionConfig:
    return config if adapter is None else replace(config, adapter=require_streaming(adapter))
