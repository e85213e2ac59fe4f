"""The collection: every prompt that may take part, in the order of the list, macros run.

First the listed entries are prepared in list order, then the prompts that the system supplies (card texts,
persona, bias and the like) take their listed places or stand at the end, then the card's overrides replace
`main` and `jailbreak`. Each step runs its macros when it is its turn, for variables are set on the way
(SillyTavern reference, sections 4 and 18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from preset_engine.assembler.pieces import Pieces, draft_of, expand, text_of
from preset_engine.assembler.recall import Known, Memory
from preset_engine.assembler.scene import Scene
from preset_engine.assembler.skeleton import read_skeleton
from preset_engine.messages import Draft, JsonValue, Origin, OriginKind, Piece
from preset_engine.preset.model import OrderItem, PromptEntry

_PROMPTS, _LONGEST = 2048, 16_384

# Prompts by identifier and text, with the entry that they were made of: a turn makes most of them again, and so
# does a preset that is read anew.
_prepared: dict[tuple[str, str], tuple[PromptEntry, Prompt]] = {}

IN_CHAT = 1  # `injection_position` of an entry that stands in the chat


class Prompt(NamedTuple):
    """One prepared prompt; a tuple, since a fresh preset makes many of them.

    Attributes:
        identifier: unique in the collection; of several the first counts.
        role: wire name of the role.
        pieces: the text after macros.
        position: 0 in the list's order, 1 in the chat.
        depth: as in the file; only a whole number 0 to 10000 finds a place.
        order: as in the file.
        is_custom: the entry says `system_prompt: false`.
        forbids_overrides: the card may not replace it.
    """

    identifier: str
    role: str
    pieces: Pieces
    position: int = 0
    depth: JsonValue = 4
    order: JsonValue = 100
    is_custom: bool = False
    forbids_overrides: bool = False
    ready: Draft | None = None  # the message of these pieces, made once

    @property
    def draft(self) -> Draft:
        """The prompt as a message."""
        ready = self.ready
        if ready is not None and ready.pieces is self.pieces and ready.message.role == self.role:
            return ready
        return draft_of(self.role, self.pieces)

    @property
    def text(self) -> str:
        """The whole text."""
        return text_of(self.pieces)


@dataclass(frozen=True, slots=True)
class Supplied:
    """A prompt that the system puts in: its identifier, its raw text in pieces, its own role."""

    identifier: str
    pieces: Pieces
    role: str = "system"
    is_control: bool = False  # joins the collection in every dialect, listed or not


class Collection:
    """Prompts in order; the first one with an identifier counts.

    Args:
        prompts: in order.
        disabled: identifiers whose first place in the order is switched off.
    """

    def __init__(self, prompts: Iterable[Prompt], disabled: Iterable[str] = ()) -> None:
        self.prompts = list(prompts)
        self.disabled = frozenset(disabled)
        self._places: dict[str, int] = {}
        for number, prompt in enumerate(self.prompts):
            self._places.setdefault(prompt.identifier, number)

    def copy(self) -> Collection:
        """The same prompts in a collection of its own."""
        made = Collection.__new__(Collection)
        made.prompts, made.disabled = self.prompts.copy(), self.disabled
        made._places = self._places.copy()
        return made

    def index(self, identifier: str) -> int:
        """Place of the first prompt with this identifier, -1 where there is none."""
        return self._places.get(identifier, -1)

    def get(self, identifier: str) -> Prompt | None:
        """The first prompt with this identifier."""
        number = self.index(identifier)
        return None if number < 0 else self.prompts[number]

    def put(self, prompt: Prompt) -> None:
        """Let a prompt take its listed place, or stand at the end."""
        number = self.index(prompt.identifier)
        if number < 0:
            self._places[prompt.identifier] = len(self.prompts)
            self.prompts.append(prompt)
        else:
            self.prompts[number] = prompt


@dataclass(frozen=True, slots=True)
class Programme:
    """What the listed and supplied prompts of a preset came out as, and what made them so.

    Attributes:
        memory: what the texts were remembered in: for one set of names, card and settings.
        given: what was supplied.
        effects: the variables that the texts read and wrote.
        collection: what came out; never handed on, only copies of it.
    """

    memory: Memory
    given: tuple[object, ...]
    effects: Known
    collection: Collection


def collect(
    scene: Scene, given: tuple[object, ...], supplied: Callable[[], Iterable[Supplied]]
) -> Collection:
    """Prepare the listed prompts in list order, then let the supplied ones take their places.

    Where nothing that they read has changed since the last turn of this preset, they are what they were.

    Args:
        scene: the scene.
        given: what decides, beside the scene's card and names, what is supplied.
        supplied: makes the supplied prompts.
    """
    expander, programmes = scene.expander, scene.workshop.programmes
    known = programmes.get(scene.generation_type)
    if (
        known is not None
        and known.memory is expander.memory
        and known.given == given
        and expander.replay(known.effects)
    ):
        return known.collection.copy()
    expander.begin_trail()
    order, entries = read_skeleton(scene.preset, scene.switches)
    collection = _collect(scene, order, entries)
    supply(scene, collection, supplied())
    effects = expander.end_trail()
    if effects is not None and not scene.causes:
        programmes[scene.generation_type] = Programme(
            expander.memory, given, effects, collection.copy()
        )
    return collection


def _collect(
    scene: Scene, order: Sequence[OrderItem], entries: Mapping[str, PromptEntry]
) -> Collection:
    found: list[Prompt] = []
    enabled: dict[str, bool] = {}
    for item in order:
        enabled.setdefault(item.identifier, item.is_enabled)
        entry = entries.get(item.identifier)
        if entry is None:
            continue
        if item.is_enabled and is_triggered(entry, scene.generation_type):
            found.append(prepare_entry(scene, entry))
        elif entry.identifier == "main":
            found.append(_prompt_of(entry, ()))
    return Collection(found, (key for key, is_on in enabled.items() if not is_on))


def is_triggered(entry: PromptEntry, generation_type: str) -> bool:
    """Whether an entry takes part in this type of generation."""
    return not entry.triggers or (generation_type or "normal") in entry.triggers


def prepare_entry(scene: Scene, entry: PromptEntry) -> Prompt:
    """Run an entry's macros."""
    text = scene.expand(entry.content, entry.place or entry.identifier)
    if not text:
        return _prompt_of(entry, ())
    if scene.expander.last_volatile:
        origin = entry_origin(entry)
        scene.causes[origin] = entry.content
        return _prompt_of(entry, (Piece(origin, text, volatile=True),))
    known = _prepared.get((entry.identifier, text))
    if known is not None and (known[0] is entry or known[0] == entry):
        return known[1]
    prompt = _prompt_of(entry, (Piece(entry_origin(entry), text),))
    if len(text) <= _LONGEST:
        if len(_prepared) >= _PROMPTS:
            _prepared.clear()
        _prepared[entry.identifier, text] = (entry, prompt)
    return prompt


def entry_origin(entry: PromptEntry) -> Origin:
    """The origin of an entry's own text."""
    return Origin(OriginKind.ENTRY, entry.identifier, entry.name, entry.place)


def supply(scene: Scene, collection: Collection, prompts: Iterable[Supplied]) -> None:
    """Let the supplied prompts take their places; the listed role, position, depth and order stay."""
    for supplied in prompts:
        listed = collection.get(supplied.identifier)
        if not scene.switches.appends_unlisted and not (
            supplied.pieces and (listed or supplied.is_control)
        ):
            continue
        if not supplied.pieces and (listed is None or (not listed.pieces and listed.role)):
            continue
        pieces = expand(supplied.pieces, partial(scene.trace_supplied, place=supplied.identifier))
        if listed is None:
            collection.put(Prompt(supplied.identifier, supplied.role, pieces))
        else:
            role = listed.role or supplied.role
            collection.put(listed._replace(pieces=pieces, role=role, is_custom=False))


def override(scene: Scene, collection: Collection, identifier: str, text: str, place: str) -> None:
    """Let a card's text replace a preset prompt; `{{original}}` gives the preset's text, once."""
    prompt = collection.get(identifier)
    if not text or prompt is None or prompt.forbids_overrides or identifier in collection.disabled:
        return
    if scene.switches.expands_supplied:
        result = scene.expand(text, place, original=prompt.text)
    else:
        result = scene.expand_supplied(text, place).replace("{{original}}", prompt.text, 1)
    origin = Origin(OriginKind.CARD, identifier, f"Card text for {identifier}", place)
    collection.put(prompt._replace(pieces=(Piece(origin, result),) if result else ()))


def _prompt_of(entry: PromptEntry, pieces: Pieces) -> Prompt:
    return Prompt(
        entry.identifier,
        entry.role,
        pieces,
        entry.position,
        entry.depth,
        entry.injection_order,
        entry.system_prompt is False,
        entry.forbid_overrides,
        draft_of(entry.role, pieces) if pieces else None,
    )
