"""What an agent's sessions are made from, and the engine of one of them. May change while the agent runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from preset_engine.errors import NotConfigured
from preset_engine.session.call import CallListener
from preset_engine.session.config import (
    ContextFn,
    ForkContext,
    ForkProfile,
    SessionConfig,
    merge_config,
    read_context,
)
from preset_engine.session.engine import MAX_TOOL_ROUNDS, Engine
from preset_engine.session.events import Observers
from preset_engine.session.fork import ForkPlan, resolve_context
from preset_engine.session.meta import FrozenConfig
from preset_engine.session.options import SessionSetup
from preset_engine.session.prepared import MutationProducer
from preset_engine.session.prompt import PromptSetup
from preset_engine.session.protocols import Store
from preset_engine.session.queue import Queues
from preset_engine.session.refusals import not_found
from preset_engine.session.session import Session
from preset_engine.session.shared_memory import SharedMemory
from preset_engine.session.skills import SkillRegistry
from preset_engine.session.tools import Tool


@dataclass(slots=True)
class AgentSetup:
    """The agent's configuration.

    Attributes:
        defaults: the lowest of the four layers.
        prompt: how prompts are made.
        tools: tools of every session.
        skills: know-how on offer.
        profiles: recipes for forks, by name.
        shared_memory: notes that all sessions share, or None.
        producers: who may add mutations to a prompt.
        max_tool_rounds: of one turn.
        consolidate_every: completed turns between two consolidations; 0 never.
        own: what single sessions brought beside their frozen part, for as long as the process runs.
    """

    defaults: SessionConfig
    prompt: PromptSetup
    tools: tuple[Tool, ...] = ()
    skills: SkillRegistry = field(default_factory=SkillRegistry)
    profiles: dict[str, ForkProfile] = field(default_factory=dict)
    shared_memory: SharedMemory | None = None
    producers: tuple[MutationProducer, ...] = ()
    max_tool_rounds: int = MAX_TOOL_ROUNDS
    consolidate_every: int = 0
    own: dict[str, SessionConfig] = field(default_factory=dict)

    def profile(self, name: str | None) -> ForkProfile | None:
        """The recipe of this name; None for no name.

        Raises:
            NotConfigured: there is no such recipe.
        """
        if name is None:
            return None
        if name not in self.profiles:
            known = ", ".join(self.profiles) or "none"
            raise NotConfigured(f"no profile {name!r}; profiles are: {known}")
        return self.profiles[name]

    async def plan_fork(
        self,
        store: Store,
        source_id: str,
        *,
        context: ForkContext | str | ContextFn | None,
        recipe: ForkProfile | None,
        variables: Mapping[str, str] | None,
        fork: SessionConfig | None,
    ) -> ForkPlan:
        """Compose the four layers, and make the source's summary where one is wanted.

        Raises:
            NotConfigured: a summary is wanted and neither a function nor a model is there.
        """
        merged = merge_config(
            defaults=self.defaults,
            parent=thawed(await store.get_config(source_id)),
            profile=recipe,
            variables=variables,
            fork=fork,
        )
        if context is None and recipe is not None:
            context = recipe.context
        context = read_context(context)
        if context is ForkContext.COMPRESS and merged.system_prompt is None:
            merged = replace(merged, system_prompt=await store.get_system_prompt(source_id))
        return await resolve_context(merged, context, await store.list_records(source_id))

    def remember(self, session_id: str, *layers: SessionConfig | None) -> None:
        """Keep what a new session brings beside its frozen part: model, tools, functions."""
        low, high = (*layers, None)[:2]
        own = replace(merge_config(parent=low, fork=high), system_prompt=None, skills=None)
        if own != SessionConfig():
            self.own[session_id] = own

    async def build(
        self,
        store: Store,
        session_id: str,
        *,
        observers: Observers,
        queues: Queues,
        listener: CallListener,
    ) -> Engine:
        """An engine for an existing session, its configuration composed anew.

        Raises:
            SessionNotFound: there is no such session.
        """
        if await store.get_session(session_id) is None:
            raise not_found(session_id)
        frozen = thawed(await store.get_config(session_id))
        config = merge_config(defaults=self.defaults, parent=frozen, fork=self.own.get(session_id))
        setup = SessionSetup(
            prompt=self.prompt,
            compress=config.compress,
            consolidate=config.consolidate,
            shared_memory=self.shared_memory,
            producers=self.producers,
            listener=listener,
        )
        session = Session(
            store, session_id, adapter=config.adapter, tools=config.tools, setup=setup
        )
        return Engine(
            session,
            tools=self._offered(config),
            observers=observers,
            max_tool_rounds=self.max_tool_rounds,
            queues=queues,
        )

    def _offered(self, config: SessionConfig) -> tuple[Tool, ...] | None:
        """The agent's tools for a session; None where there are none, so that no empty list is sent."""
        skill = self.skills.activation_tool(config.skills)
        shared = self.shared_memory.tools() if self.shared_memory is not None else ()
        return (*self.tools, *((skill,) if skill else ()), *shared) or None


def thawed(frozen: FrozenConfig | None) -> SessionConfig | None:
    """The frozen part as a layer."""
    if frozen is None:
        return None
    return SessionConfig(system_prompt=frozen.system_prompt, skills=frozen.skills)


async def freeze(store: Store, session_id: str, config: SessionConfig) -> None:
    """Store the two fields that are ever frozen; nothing when both are missing."""
    if config.system_prompt is None and config.skills is None:
        return
    await store.put_config(session_id, FrozenConfig(config.system_prompt, config.skills))
