"""`compile_turn`: preset and content in, the exact messages out, every piece explained.

The one entry for both dialects; it is synchronous and pure. What the outside world tells comes in through a
`Context`, and equal inputs give equal bytes in any process::

    turn = compile_turn(preset, Content(history=past, turn="Hello"), dialect=Dialect.sillytavern)
    turn.messages     what is sent
    turn.plan         what each message is made of, worked out when asked for
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from preset_engine.assembler.assemble import assemble, early_readers
from preset_engine.assembler.holes import plain_zones, ready_content
from preset_engine.assembler.params import request_params
from preset_engine.assembler.plan import Plan
from preset_engine.assembler.scene import open_scene
from preset_engine.assembler.shape import ShapedTurn, shape_plain, shape_turn
from preset_engine.compile.unread import unread_parts
from preset_engine.content.check import check_content
from preset_engine.content.content import Content
from preset_engine.context import Context
from preset_engine.dialect import Dialect, Switches
from preset_engine.errors import AssemblyError, Note
from preset_engine.history.window import window_start
from preset_engine.messages import ChatMessage, JsonObject, JsonValue, Origin
from preset_engine.preset.model import Preset

_FIXED_CONTEXT = Context()


@dataclass(frozen=True)
class CompiledTurn:
    """One turn, ready to be sent.

    Attributes:
        messages: what the model gets.
        notes: what was odd on the way.
        params: generation parameters, `frontend` and `backend` (see `assembler.params`).
        variables: `local` and `global` variables after the macros have run.
    """

    messages: tuple[ChatMessage, ...]
    notes: tuple[Note, ...] = ()
    params: Mapping[str, JsonObject] = field(default_factory=dict)
    variables: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    _shaped: ShapedTurn = field(default_factory=ShapedTurn, repr=False)
    _causes: Callable[[], Mapping[Origin, str]] = field(default=dict, repr=False)
    _context: Context = field(default=_FIXED_CONTEXT, repr=False)

    @property
    def assembled(self) -> tuple[ChatMessage, ...]:
        """The messages before a post-processing mode shaped them: what SillyTavern's page posts."""
        return self._shaped.assembled

    @cached_property
    def plan(self) -> Plan:
        """What each message is made of; spans, tokens and digests are worked out when asked for."""
        return Plan(self._shaped, self._context.tokens, self._causes())


def compile_turn(
    preset: Preset | None,
    content: Content,
    *,
    dialect: Dialect | str = Dialect.native,
    context: Context = _FIXED_CONTEXT,
    squash: str | bool | None = None,
    window: int | None = None,
) -> CompiledTurn:
    """Compile one turn.

    Args:
        preset: a loaded preset, or None to pass the content on in the fixed order.
        content: what fills the preset.
        dialect: whose rules hold; a dialect or its name.
        context: clock, random source, token counter, pattern matcher.
        squash: a post-processing mode, or True for the boolean squash; None leaves it to preset and dialect.
        window: number of history blocks to keep, cut with hysteresis; None keeps all.

    Raises:
        AssemblyError: an unknown mode, a wrong type, or content that cannot become messages.
        MacroError: a text outgrew the limits of expansion.
        InputRefused: there is no such dialect.
    """
    dialect = dialect if isinstance(dialect, Dialect) else Dialect.read(dialect)
    _check(preset, content)
    if not isinstance(content.history, str | tuple):
        history: Any = tuple(content.history)  # of one kind, as before
        content = replace(content, history=history)
    content, notes = ready_content(content)
    notes = (*notes, *unread_parts(content))
    if preset is None:
        return _plain_turn(content, notes, squash, context, window)
    scene = open_scene(preset, content, dialect, context, window=window)
    scene.notes.extend(notes)
    zones = assemble(scene)
    shaped = shape_turn(scene, zones, squash)
    return CompiledTurn(
        shaped.messages,
        (*scene.notes, *scene.expander.notes()),
        request_params(scene),
        {"local": dict(scene.view.variables.local), "global": dict(scene.view.variables.shared)},
        shaped,
        partial(_causes, preset, dialect.switches, scene.causes, scene.changed_variables()),
        context,
    )


def _check(preset: object, content: Content) -> None:
    if preset is not None and not isinstance(preset, Preset):
        kind = type(preset).__name__
        message = f"the preset is of type {kind}; give load_preset(…).preset or None"
        raise AssemblyError(message)
    check_content(content)


def _causes(
    preset: Preset,
    switches: Switches,
    causes: Mapping[Origin, str],
    changed: set[tuple[str, str]],
) -> Mapping[Origin, str]:
    """Raw texts of the origins that can change; worked out when a plan is asked for."""
    return {**causes, **early_readers(preset, switches, changed)}


def _plain_turn(
    content: Content,
    notes: tuple[Note, ...],
    squash: str | bool | None,
    context: Context,
    window: int | None,
) -> CompiledTurn:
    """A turn without a preset: the fixed order, shaped only where the caller asks for it."""
    zones = plain_zones(content)
    if window is not None:
        start = window_start(zones.history.records, window)
        zones = replace(zones, history=replace(zones.history, start=start))
    shaped = shape_plain(zones, squash)
    variables = {"local": dict(content.variables), "global": dict(content.global_variables)}
    return CompiledTurn(shaped.messages, notes, {}, variables, shaped, dict, context)
