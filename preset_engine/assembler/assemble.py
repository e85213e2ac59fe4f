"""The story of one assembly, from preset and content to three zones of drafts.

Each line of `assemble` is one stage; its place in the order is a fact, for macros set variables on the way
(SillyTavern reference, sections 3 and 18). Both dialects pass through all of it; switches decide what a stage
does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from preset_engine.assembler.change import reads_old
from preset_engine.assembler.collection import (
    Collection,
    collect,
    entry_origin,
    override,
)
from preset_engine.assembler.examples import ExampleBlock, example_drafts, parse_examples
from preset_engine.assembler.extension import (
    ExtensionPrompt,
    expand_for_bookkeeping,
    expand_unused,
    gather_extensions,
    in_chat,
)
from preset_engine.assembler.fields import (
    Control,
    Fields,
    expand_story,
    format_fields,
    read_fields,
    supplied_prompts,
)
from preset_engine.assembler.holes import lead_history, put_holes, tail_drafts
from preset_engine.assembler.inject import group_prompts, place_groups
from preset_engine.assembler.layout import Layout, lay_out
from preset_engine.assembler.opening import drop_reply, open_chat, refresh_first
from preset_engine.assembler.past import Past, read_past, run_macros
from preset_engine.assembler.pieces import sent
from preset_engine.assembler.scene import Scene
from preset_engine.assembler.skeleton import read_skeleton, skeleton_notes
from preset_engine.assembler.tail import (
    control_drafts,
    fallback_user,
    group_nudge,
    new_chat,
    take_continued,
    take_prefill,
)
from preset_engine.assembler.turns import Style, Turns
from preset_engine.dialect import Switches
from preset_engine.history.window import window_start
from preset_engine.json_values import as_text
from preset_engine.messages import Draft, Origin
from preset_engine.preset.model import Preset
from preset_engine.squash.zones import HistoryZone, Zones


@dataclass(frozen=True, slots=True)
class _Material:
    """What the stages before the preset's own prompts have gathered."""

    fields: Fields
    extensions: tuple[ExtensionPrompt, ...]
    examples: tuple[ExampleBlock, ...]
    turns: Turns
    continued: str
    control: Control


def assemble(scene: Scene) -> Zones:
    """Fill the skeleton of a scene."""
    scene.notes.extend(skeleton_notes(scene.preset, scene.switches))
    material = _gather(scene)
    collection = _collect(scene, material)
    zones = _fill(scene, material, collection)
    if scene.switches.keeps_variables:
        expand_for_bookkeeping(scene, material.extensions)
    return zones


def early_readers(
    preset: Preset, switches: Switches, changed: set[tuple[str, str]]
) -> dict[Origin, str]:
    """Entries that read a variable before another sets it, and so say something else next turn.

    Args:
        preset: the preset.
        switches: the dialect's differences.
        changed: variables that the assembly has changed, by store and name.
    """
    found: dict[Origin, str] = {}
    if not changed or not switches.keeps_variables:
        return found
    order, entries = read_skeleton(preset, switches)
    known: set[tuple[str, str]] = set()
    for item in order:
        entry = entries.get(item.identifier)
        if entry is None or not item.is_enabled or "{{" not in entry.content:
            continue
        if reads_old(entry.content, changed, known):
            found[entry_origin(entry)] = entry.content
    return found


def _gather(scene: Scene) -> _Material:
    quiet = scene.expand(as_text(scene.setting("quiet_prompt")), "quiet_prompt")
    bias = ""
    if scene.switches.opens_chat:
        bias = open_chat(scene)
    else:
        drop_reply(scene)
    fields = read_fields(scene)
    if scene.switches.opens_chat:
        refresh_first(scene)
    turns = read_past(scene, style_of(scene))
    continued = ""
    if scene.generation_type == "continue" and turns.messages:
        newest = turns.source(len(turns.messages) - 1)  # hidden records are not continued
        continued = scene.chat[newest].text
    extensions = gather_extensions(scene, fields.depth_note)
    if scene.switches.expands_supplied:
        expand_unused(scene, extensions)
        expand_story(scene, fields)
    examples = parse_examples(fields.examples, scene.user, scene.char)
    if scene.user_switch("strip_examples"):
        examples = ()
    fields, nudge, impersonation = format_fields(scene, fields)
    return _Material(
        fields, extensions, examples, turns, continued, Control(impersonation, quiet, nudge, bias)
    )


def _collect(scene: Scene, material: _Material) -> Collection:
    fields, control, extensions = material.fields, material.control, material.extensions
    collection = collect(
        scene,
        (fields, control, extensions, scene.persona, frozenset(scene.volatile_fields)),
        lambda: supplied_prompts(scene, fields, control, extensions),
    )
    put_holes(scene, collection)
    override(scene, collection, "main", fields.system_prompt, "card.system_prompt")
    override(scene, collection, "jailbreak", fields.post_history, "card.post_history_instructions")
    return collection


def _fill(scene: Scene, material: _Material, collection: Collection) -> Zones:
    layout = lay_out(
        collection, material.extensions, drops_unflagged=scene.switches.drops_unflagged
    )
    controls = control_drafts(scene, collection)
    past, prefill = take_prefill(scene, Past(material.turns, start=_start(scene, material.turns)))
    controls.extend(prefill)
    groups = group_prompts(layout.in_chat, in_chat(material.extensions), scene.trace_supplied)
    past = Past(past.turns, place_groups(groups, past.turns.length), past.start)
    is_pinned = bool(scene.user_switch("pin_examples"))
    examples = _examples(scene, material, layout) if is_pinned else ()
    if layout.has_history:
        head, history, foot, moved = _history(scene, material, collection, past)
    else:
        head, history, foot, moved = [], HistoryZone(), [], ()
    if not is_pinned:
        examples = _examples(scene, material, layout)
    before, after = layout.zones(examples)
    return Zones(
        tuple(sent([*before, *head])),
        history,
        tuple(sent([*foot, *after, *moved, *controls])),
        tail_drafts(scene.content),
    )


def _history(
    scene: Scene, material: _Material, collection: Collection, past: Past
) -> tuple[list[Draft], HistoryZone, list[Draft], Iterable[Draft]]:
    """What heads the history, the history, what ends it, and what it gives to the end of the prompt."""
    head = new_chat(scene)
    past, moved = take_continued(scene, past, material.continued)
    foot = [*fallback_user(scene, past), *group_nudge(scene, collection)]
    zone = lead_history(scene.content, run_macros(past, scene))
    return head, zone, foot, moved


def _start(scene: Scene, turns: Turns) -> int:
    """The first message that is sent, by the caller's window."""
    if scene.window is None:
        return 0
    return window_start(turns.messages, scene.window)


def _examples(scene: Scene, material: _Material, layout: Layout) -> Sequence[Draft]:
    """The example messages; the head of each block runs its macros once for all."""
    if not layout.has_examples or not material.examples:
        return ()
    text = scene.expand(scene.settings.new_example_chat_prompt, "$.new_example_chat_prompt")
    is_volatile = "card.mes_example" in scene.volatile_fields
    return example_drafts(material.examples, text, volatile=is_volatile)


def style_of(scene: Scene) -> Style:
    """How the records of this scene become messages."""
    settings = scene.settings
    mode = as_text(scene.setting("custom_prompt_post_processing"))
    return Style(
        names=settings.names_behavior if scene.switches.opens_chat else -1,
        user=scene.user,
        char=scene.char,
        is_group=scene.is_group,
        has_media=settings.media_inlining,
        quality=as_text(scene.preset.raw.get("inline_image_quality")) or "auto",
        keeps_tools=settings.function_calling and (mode in ("", "none") or mode.endswith("_tools")),
        reads_text=scene.switches.expands_history,
    )
