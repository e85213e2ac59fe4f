"""Making a probe: a preset and content are compiled as for a real call, and the result is laid out to be looked at.

Nothing is assembled here and nothing is stored: the messages are `compile_turn`'s own, and changed variables are
shown and forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from preset_engine.assembler.skeleton import read_skeleton
from preset_engine.cli.assemble import wire
from preset_engine.cli.content_files import GivenContent
from preset_engine.cli.probe_view import MessageView, ProbeView
from preset_engine.compile.turn import CompiledTurn, compile_turn
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.errors import Note
from preset_engine.messages import JsonObject, JsonValue, OriginKind
from preset_engine.preset.model import Preset


@dataclass(frozen=True, slots=True)
class Wish:
    """How to probe: whose rules, which shaping (None leaves it to the preset), what the world says."""

    dialect: Dialect
    squash: str | bool | None
    context: Context


def probe_turn(
    preset: Preset, given: GivenContent, wish: Wish, notes: tuple[Note, ...] = ()
) -> ProbeView:
    """Compile the turn and lay it out.

    Args:
        preset: the loaded preset.
        given: what fills it.
        wish: how.
        notes: remarks of the import; those of content and assembly follow them.
    """
    turn = compile_turn(
        preset, given.content, dialect=wish.dialect, context=wish.context, squash=wish.squash
    )
    messages = tuple(
        MessageView(planned.message, tokens, planned.pieces)
        for planned, tokens in zip(turn.plan.messages(), turn.plan.message_tokens())
    )
    return ProbeView(
        preset=preset.name or preset.id,
        dialect=wish.dialect.value,
        shaping=_shaping(preset, wish),
        counter=wish.context.tokens.name,
        messages=messages,
        prefix=turn.plan.stable_prefix(),
        body=request_body(turn, wish.dialect),
        notes=(*notes, *given.notes, *turn.notes),
        variables=_changed(turn, given),
        samples=given.samples,
        silent=tuple(_silent(preset, messages, wish.dialect)),
    )


def request_body(turn: CompiledTurn, dialect: Dialect) -> JsonObject:
    """The body of the request: parameters and messages.

    The model is left out where nobody has named one. In SillyTavern's dialect a message without content has no
    such key, as SillyTavern posts it.
    """
    bodies = [message.to_json() for message in turn.messages]
    messages: list[JsonValue] = [
        wire(body) if dialect is Dialect.sillytavern else body for body in bodies
    ]
    params = dict(turn.params.get("backend") or {})
    if not params.get("model"):
        params.pop("model", None)
    return {**params, "messages": messages}


def _shaping(preset: Preset, wish: Wish) -> str:
    """The mode that holds, in words."""
    settings, switches = preset.settings, wish.dialect.switches
    mode: str | bool = settings.custom_prompt_post_processing or switches.default_mode
    if switches.shapes_zones and preset.squash is not None:
        mode = preset.squash
    if wish.squash is not None:
        mode = wish.squash
    words = "squash" if mode is True else str(mode or "none")
    is_squashed = settings.squash_system_messages and not switches.shapes_zones
    return f"squash, then {words}" if is_squashed and mode is not True else words


def _changed(turn: CompiledTurn, given: GivenContent) -> JsonObject:
    """Variables that are not what they were; global ones carry a `$`."""
    before = {"local": given.content.variables, "global": given.content.global_variables}
    return {
        (name if store == "local" else f"${name}"): value
        for store, values in turn.variables.items()
        for name, value in values.items()
        if before.get(store, {}).get(name) != value
    }


def _silent(preset: Preset, messages: tuple[MessageView, ...], dialect: Dialect) -> Iterator[str]:
    """Names of entries that take part and left no text."""
    heard = {
        piece.origin.id
        for message in messages
        for piece in message.pieces
        if piece.origin.kind in {OriginKind.ENTRY, OriginKind.HOLE}
    }
    order, entries = read_skeleton(preset, dialect.switches)
    for item in order:
        entry = entries.get(item.identifier)
        if entry and item.is_enabled and not entry.is_marker and entry.identifier not in heard:
            yield entry.name.strip() or entry.identifier
