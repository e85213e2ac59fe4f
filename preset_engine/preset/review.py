"""Looks over a preset that was read, and notes what its author may not have meant.

Nothing here changes anything. Most of it is information: real files contradict themselves in ways that do no
harm (in 86 % of them an entry's own flag disagrees with the order).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from preset_engine.messages import JsonValue
from preset_engine.preset.builtin import BUILT_IN_TEXTS, CURRENT_ORDER_ID, FILLED, MARKERS
from preset_engine.preset.model import PresetSource, PromptEntry, PromptOrder
from preset_engine.preset.notebook import Notebook, shown
from preset_engine.preset.scripts import SETTINGS_ENTRY
from preset_engine.preset.secrets import find_secrets

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
"""Soft hyphen, zero-width and direction characters."""


def review_entries(prompts: tuple[PromptEntry, ...], notes: Notebook) -> None:
    """Notes on the entries by themselves: doubles, markers, odd characters."""
    _review_identifiers(prompts, notes)
    for entry in prompts:
        if entry.is_marker:
            _review_marker(entry, notes)
        elif entry.identifier in MARKERS and entry.content:
            notes.add(
                "marker-with-text",
                f"{shown(entry.identifier)} is filled from elsewhere; its own text is ignored",
                f"{entry.place}.content",
            )
        if "marker" not in entry.saved and entry.identifier in MARKERS and entry.saved:
            notes.add(
                "marker-flag-missing",
                f"{shown(entry.identifier)} has no marker flag; its name makes it one",
                f"{entry.place}.marker",
            )
        if entry.system_prompt and _is_custom(entry) and entry.position == 0:
            notes.add(
                "custom-system-prompt",
                "entries of the author are flagged system_prompt; SillyTavern silently drops them",
                f"{entry.place}.system_prompt",
            )
        _review_text(entry, notes)


def _is_custom(entry: PromptEntry) -> bool:
    return entry.identifier not in BUILT_IN_TEXTS and entry.identifier not in MARKERS


def _review_identifiers(prompts: tuple[PromptEntry, ...], notes: Notebook) -> None:
    counts = Counter(entry.identifier for entry in prompts)
    later: set[str] = set()
    for entry in prompts:
        if counts[entry.identifier] > 1 and entry.identifier in later:
            notes.add(
                "duplicate-identifier",
                f"{shown(entry.identifier)} stands more than once; the first one counts",
                f"{entry.place}.identifier",
            )
        later.add(entry.identifier)
    folded: dict[str, str] = {}
    for identifier in counts:
        twin = folded.setdefault(identifier.strip().casefold(), identifier)
        if twin != identifier:
            notes.add(
                "identifier-twins",
                f"{shown(twin)} and {shown(identifier)} differ in case or spaces only; they are two entries",
                "$.prompts",
            )


def _review_marker(entry: PromptEntry, notes: Notebook) -> None:
    if entry.identifier not in FILLED:
        notes.add(
            "marker-unknown",
            f"{shown(entry.identifier)} is flagged as a marker, but nothing fills it; its text is used",
            f"{entry.place}.marker",
        )
    elif entry.content.strip():
        notes.add(
            "marker-with-text",
            f"{shown(entry.identifier)} is filled from elsewhere; its own text is ignored",
            f"{entry.place}.content",
        )


def _review_text(entry: PromptEntry, notes: Notebook) -> None:
    text = entry.content
    if not text.isascii() and any(character in text for character in _INVISIBLE):
        notes.add(
            "invisible-characters",
            "texts hold zero-width or soft-hyphen characters; they go to the model as they are",
            f"{entry.place}.content",
        )
    if "\r" in text:
        notes.add(
            "carriage-returns",
            "texts hold carriage returns; they go to the model as they are",
            f"{entry.place}.content",
        )
    if entry.identifier == SETTINGS_ENTRY and text:
        notes.add(
            "settings-entry",
            "an entry holds the configuration of an extension (SPreset); it is not meant for the model",
            entry.place,
        )


def review_order(
    prompts: tuple[PromptEntry, ...],
    orders: tuple[PromptOrder, ...],
    chosen: PromptOrder,
    source: PresetSource,
    notes: Notebook,
) -> None:
    """Notes on the order lists and on what the chosen one does with the entries."""
    if source is PresetSource.SILLYTAVERN:
        _review_lists(orders, chosen, notes)
    states: dict[str, bool] = {}
    doubles = 0
    for item in chosen.items:
        doubles += item.identifier in states
        states.setdefault(item.identifier, item.is_enabled)
    if doubles:
        notes.add(
            "order-double",
            "an order lists an entry twice; the first place counts",
            "$.prompt_order",
            doubles,
        )
    _review_ghosts(prompts, chosen, notes)
    _review_states(prompts, states, source, notes)
    _review_anchors(prompts, states, notes)


def _review_lists(orders: tuple[PromptOrder, ...], chosen: PromptOrder, notes: Notebook) -> None:
    ids = [order.character_id for order in orders]
    if len(orders) > 1:
        notes.add(
            "several-orders",
            f"{len(orders)} order lists; the native dialect follows the one of character "
            f"{shown(chosen.character_id)}, SillyTavern the one of {CURRENT_ORDER_ID}",
            "$.prompt_order",
        )
    if ids and CURRENT_ORDER_ID not in ids:
        notes.add(
            "order-not-current",
            f"no order list is saved for {CURRENT_ORDER_ID}; SillyTavern uses its default order instead",
            "$.prompt_order",
        )
    elif len(orders) > 1 and chosen.character_id != CURRENT_ORDER_ID:
        notes.add(
            "order-choice-differs",
            f"the list with the most enabled texts is not the one of {CURRENT_ORDER_ID}; the dialects differ here",
            "$.prompt_order",
        )


def _review_ghosts(prompts: tuple[PromptEntry, ...], chosen: PromptOrder, notes: Notebook) -> None:
    known = {entry.identifier for entry in prompts} | {*MARKERS, *BUILT_IN_TEXTS}
    ghosts = list(
        dict.fromkeys(item.identifier for item in chosen.items if item.identifier not in known)
    )
    if ghosts:
        names = ", ".join(shown(name) for name in ghosts[:3])
        notes.add(
            "order-ghost",
            f"the order names entries that do not exist ({names}); they are skipped",
            "$.prompt_order",
            len(ghosts),
        )


def _review_states(
    prompts: tuple[PromptEntry, ...],
    states: Mapping[str, bool],
    source: PresetSource,
    notes: Notebook,
) -> None:
    unlisted = [entry for entry in prompts if entry.identifier not in states]
    if unlisted and states:
        notes.add(
            "entry-not-listed",
            "entries are not in the order and take no part",
            unlisted[0].place or "$.prompts",
            len(unlisted),
        )
    for entry in prompts:
        is_on = states.get(entry.identifier, False)
        if is_on and not entry.is_marker and not entry.content.strip():
            notes.add(
                "blank-content",
                "entries are switched on but hold no text",
                f"{entry.place}.content",
            )
        if (
            source is PresetSource.SILLYTAVERN
            and isinstance(entry.saved.get("enabled"), bool)
            and entry.is_enabled != is_on
        ):
            notes.add(
                "flag-against-order",
                "entries have a flag of their own that disagrees with the order; the order decides",
                f"{entry.place}.enabled",
            )


def _review_anchors(
    prompts: tuple[PromptEntry, ...], states: Mapping[str, bool], notes: Notebook
) -> None:
    if not states:
        return
    if "main" not in states:
        if any(entry.identifier == "main" for entry in prompts):
            notes.add(
                "main-not-listed",
                "the main prompt is not in the order; what hangs on it is lost in SillyTavern",
                "$.prompt_order",
            )
    elif not states["main"]:
        notes.add("main-off", "the main prompt is switched off", "$.prompt_order")
    if "chatHistory" not in states:
        notes.add(
            "history-missing",
            "the chat history is not in the order; the native dialect adds it",
            "$.prompt_order",
        )
    elif not states["chatHistory"]:
        notes.add(
            "history-off",
            "the chat history is switched off; the model never sees the chat",
            "$.prompt_order",
        )


def review_document(document: Mapping[str, JsonValue], notes: Notebook) -> None:
    """Notes on what stands beside the prompts: private data, extensions."""
    secrets = find_secrets(dict(document))
    if secrets:
        names = ", ".join(shown(name, 30) for name in secrets[:4])
        more = f" and {len(secrets) - 4} more" if len(secrets) > 4 else ""
        notes.add(
            "private-data",
            f"the file holds private connection data ({names}{more}); it is never shown",
            count=len(secrets),
        )
    if "extensions" in document and not isinstance(document["extensions"], dict):
        notes.add(
            "extensions-odd", "extensions is no object; it is kept and not read", "$.extensions"
        )
