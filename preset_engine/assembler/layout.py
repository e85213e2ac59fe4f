"""From the collection to three zones: which prompt gives a message, and where it stands.

Prompts stand in the order of the collection; `chatHistory` parts what stands before the history from what
stands after it. Relative extension prompts stand around `main` (SillyTavern reference,
section 5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from preset_engine.assembler.collection import IN_CHAT, Collection, Prompt
from preset_engine.assembler.extension import KNOWN_KEYS, ExtensionPrompt, Place
from preset_engine.messages import Draft

# Prompts that give a message because SillyTavern adds them by name.
_PLACED = frozenset(
    {
        "worldInfoBefore", "main", "worldInfoAfter", "charDescription", "charPersonality", "scenario",
        "personaDescription", "nsfw", "jailbreak", "enhanceDefinitions", "bias",
    }
)  # fmt: skip
_NEVER = frozenset({"impersonate", "quietPrompt", "groupNudge", *KNOWN_KEYS.values()})


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands around the history.

    Attributes:
        before: messages before the history; all of them where the history has no place.
        after: messages behind it.
        has_history: `chatHistory` is in use.
        examples: number of messages of `before` or `after` in front of which the examples stand.
        has_examples: `dialogueExamples` is in use.
        are_examples_after: the examples stand in `after`.
        in_chat: the prompts that stand in the chat instead.
    """

    before: tuple[Draft, ...]
    after: tuple[Draft, ...]
    has_history: bool
    has_examples: bool
    examples: int = 0
    are_examples_after: bool = False
    in_chat: tuple[Prompt, ...] = ()

    def zones(self, examples: Sequence[Draft]) -> tuple[tuple[Draft, ...], tuple[Draft, ...]]:
        """The messages before and after the history, with the examples in their place."""
        before, after, at = self.before, self.after, self.examples
        if self.has_examples and examples:
            if self.are_examples_after:
                after = (*after[:at], *examples, *after[at:])
            else:
                before = (*before[:at], *examples, *before[at:])
        return before, after


# A layout follows from the prompts alone where no extension prompt stands among them, and most turns have the same.
_known: deque[tuple[tuple[object, ...], Layout]] = deque(maxlen=16)


def lay_out(
    collection: Collection,
    extensions: Sequence[ExtensionPrompt],
    *,
    drops_unflagged: bool,
) -> Layout:
    """Put every relative prompt where it stands.

    Args:
        collection: the prepared prompts.
        extensions: extension prompts; the relative ones stand around `main`.
        drops_unflagged: a custom prompt needs `system_prompt: false` to give a message.
    """
    if extensions:
        return _fill(collection, extensions, drops_unflagged=drops_unflagged)
    key = (drops_unflagged, collection.disabled, tuple(collection.prompts))
    found = next((layout for known, layout in tuple(_known) if known == key), None)
    if found is None:
        found = _fill(collection, (), drops_unflagged=drops_unflagged)
        _known.append((key, found))
    return found


def _fill(
    collection: Collection, extensions: Sequence[ExtensionPrompt], *, drops_unflagged: bool
) -> Layout:
    zones: tuple[list[Draft], list[Draft]] = ([], [])
    zone, at, example_zone = 0, 0, -1
    hidden = {*collection.disabled - {"main"}, *_NEVER}
    hidden.update(one.identifier for one in extensions if one.is_relative)
    seen: set[str] = set()
    for prompt in collection.prompts:
        identifier = prompt.identifier
        if identifier in seen:
            continue
        seen.add(identifier)
        if identifier == "chatHistory":
            zone = 1
        elif identifier == "dialogueExamples":
            example_zone, at = zone, len(zones[zone])
        elif prompt.position == IN_CHAT or identifier in hidden:
            continue
        elif identifier == "main":
            zones[zone].extend(_around_main(prompt, collection, extensions))
        elif prompt.pieces and (prompt.is_custom or not drops_unflagged or identifier in _PLACED):
            zones[zone].append(prompt.draft)
    return Layout(
        tuple(zones[0]),
        tuple(zones[1]),
        has_history=zone == 1,
        has_examples=example_zone >= 0,
        examples=at,
        are_examples_after=example_zone == 1,
        in_chat=tuple(_chat_prompts(collection, extensions)),
    )


def _chat_prompts(collection: Collection, extensions: Sequence[ExtensionPrompt]) -> list[Prompt]:
    """The prompts that stand in the chat; a `main` in the chat draws the relative extension prompts there."""
    found = [prompt for prompt in collection.prompts if prompt.position == IN_CHAT]
    place = next((n for n, prompt in enumerate(found) if prompt.identifier == "main"), -1)
    if place < 0:
        return found
    main = found[place]
    for number, (text, is_before) in enumerate(_relative(collection, extensions)):
        drawn = main._replace(identifier=f"{main.identifier}+{number}", pieces=text.pieces)
        place = next(n for n, prompt in enumerate(found) if prompt is main)
        found.insert(place if is_before else place + 1, drawn)
    return found


def _around_main(
    prompt: Prompt, collection: Collection, extensions: Sequence[ExtensionPrompt]
) -> Iterable[Draft]:
    """The prompt `main` with the relative extension prompts around it."""
    own = [prompt.draft] if prompt.pieces else []
    before: list[Draft] = []
    behind: list[Draft] = []
    for text, is_before in _relative(collection, extensions):
        draft = text.draft
        if is_before:
            before.insert(0, draft)
        else:
            behind.append(draft)
    return [*before, *own, *behind]


def _relative(
    collection: Collection, extensions: Sequence[ExtensionPrompt]
) -> Iterable[tuple[Prompt, bool]]:
    """Relative extension prompts as prepared in the collection, the known ones first, with their side."""
    order = list(KNOWN_KEYS)
    known = sorted(
        (one for one in extensions if one.is_relative and one.key in KNOWN_KEYS),
        key=lambda one: order.index(one.key),
    )
    others = [one for one in extensions if one.is_relative and one.key not in KNOWN_KEYS]
    for one in (*known, *others):
        prompt = collection.get(one.identifier)
        if prompt is not None and prompt.pieces:
            yield prompt, one.place == Place.BEFORE_PROMPT
