"""What ends a prompt: the continued message, the nudge, the impersonation and quiet prompts, a prefill.

Continue takes one of two forms. With the nudge the newest record moves behind everything and the nudge follows
it; with prefill the newest record leaves the history before anything is injected and ends the prompt
(SillyTavern reference, section 10).
"""

from __future__ import annotations

from dataclasses import replace

from preset_engine.assembler.collection import Collection
from preset_engine.assembler.past import Past, moved_draft, without_last
from preset_engine.assembler.pieces import draft_of, draft_text
from preset_engine.assembler.scene import Scene
from preset_engine.characters import JS_SPACE
from preset_engine.messages import ChatMessage, Draft, Origin, OriginKind


def take_prefill(scene: Scene, past: Past) -> tuple[Past, tuple[Draft, ...]]:
    """For a continuation by prefill: the history without its newest record, and that record."""
    if scene.generation_type != "continue" or not scene.settings.continue_prefill:
        return past, ()
    number = past.turns.length - 1
    rest, taken = without_last(past)
    return rest, tuple(moved_draft(message, number, None) for message in taken)


def take_continued(scene: Scene, past: Past, continued: str) -> tuple[Past, tuple[Draft, ...]]:
    """For a continuation by nudge: the history without its newest record; that record and the nudge.

    Args:
        scene: the scene.
        past: records and injections.
        continued: text of the newest record.
    """
    is_nudged = scene.generation_type == "continue" and not scene.settings.continue_prefill
    if not is_nudged or not (continued + scene.settings.continue_postfix):
        return past, ()
    place = "$.continue_nudge_prompt"
    extra = {"lastChatMessage": continued.strip(JS_SPACE)}
    nudge = scene.expand(scene.settings.continue_nudge_prompt, place, extra=extra)
    number = past.turns.length - 1
    rest, taken = without_last(past)
    drafts = [moved_draft(_nameless(message), number, scene.expand) for message in taken]
    nudge = scene.expand(nudge, place)
    if nudge:
        drafts.append(draft_text("system", nudge, _control("continueNudge", place)))
    return rest, tuple(drafts)


def control_drafts(scene: Scene, collection: Collection) -> list[Draft]:
    """The impersonation prompt, then the quiet prompt, as prepared in the collection."""
    found: list[Draft] = []
    for identifier, wanted in (
        ("impersonate", scene.generation_type == "impersonate"),
        ("quietPrompt", True),
    ):
        prompt = collection.get(identifier)
        if wanted and prompt is not None and prompt.pieces:
            found.append(prompt.draft)
    return found


def fallback_user(scene: Scene, past: Past) -> list[Draft]:
    """`send_if_empty` as a user message, unexpanded, where the sequence ends with the assistant."""
    text = scene.settings.send_if_empty
    if not text or past.last_role != "assistant" or not scene.switches.opens_chat:
        return []
    return [draft_text("user", text, _control("sendIfEmpty", "$.send_if_empty"))]


def group_nudge(scene: Scene, collection: Collection) -> list[Draft]:
    """The group nudge behind the history; not for an impersonation."""
    prompt = collection.get("groupNudge")
    if (
        not scene.is_group
        or scene.generation_type == "impersonate"
        or prompt is None
        or not prompt.pieces
    ):
        return []
    return [draft_of(prompt.role, prompt.pieces, is_fixed=True)]


def new_chat(scene: Scene) -> list[Draft]:
    """The text that heads the history; its macros run here."""
    if not scene.switches.opens_chat:
        return []
    settings = scene.settings
    text, place = settings.new_chat_prompt, "$.new_chat_prompt"
    if scene.is_group:
        text, place = settings.new_group_chat_prompt, "$.new_group_chat_prompt"
    text = scene.expand(text, place)
    return (
        [draft_text("system", text, _control("newMainChat", place), is_fixed=True)] if text else []
    )


def _nameless(message: ChatMessage) -> ChatMessage:
    return replace(message, name=None) if message.name else message


def _control(identifier: str, place: str) -> Origin:
    return Origin(OriginKind.CONTROL, identifier, identifier, place)
