"""`Content`: everything a turn is filled with, beside the preset.

A caller sets what it has; every field may stay empty. JSON files for `probe --content` hold the same
fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from preset_engine.messages import ChatMessage, ChatRecord, JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Block:
    """A titled block of a bag: printed as ``### title``, a newline and the body; bare without a title."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Persona:
    """The user's side.

    Attributes:
        name: the user's name.
        description: free text, raw.
        position: 0 in prompt, 2 top of note, 3 bottom of note, 4 at depth, 9 none (SillyTavern's numbers).
        depth: for position 4, in messages.
        role: for position 4: 0 system, 1 user, 2 assistant.
    """

    name: str = "User"
    description: str = ""
    position: int = 0
    depth: int = 2
    role: int = 0

    @classmethod
    def from_json(cls, body: Mapping[str, JsonValue]) -> Persona:
        """Read a persona object; what is missing or of a wrong type has its default."""
        numbers = {
            key: number
            for key in ("position", "depth", "role")
            if isinstance(number := body.get(key), int) and not isinstance(number, bool)
        }
        name, description = body.get("name"), body.get("description")
        return cls(str(name or "User"), str(description or ""), **numbers)


@dataclass(frozen=True, slots=True)
class Slots:
    """What a session puts into a prompt beside its records (the Stello slots; memory is never among them).

    Without a preset they stand in Stello's fixed order: system prompt, identity, insight, summary, history,
    turn. With a preset the system prompt and identity lead `worldBookBefore`, the summary leads
    `chatHistory`, the insight goes to `worldBookAfter` and the task to `postTurn` (design decision 6).
    """

    system_prompt: str = ""
    identity: str = ""
    insight: str = ""
    summary: str = ""
    task: str = ""
    shared_memory: str = ""  # optional: between the system prompt and the identity


@dataclass(frozen=True, slots=True)
class Content:
    """What fills a preset's holes.

    Attributes:
        before: blocks of `worldBookBefore`.
        after: blocks of `worldBookAfter`.
        post_turn: blocks of `postTurn`.
        history: the conversation so far: messages, SillyTavern records, or text in one of the three head
            forms; oldest first.
        slots: what a session adds; None outside sessions.
        turn: the newest user input (native: the `currentTurn` hole; sillytavern: typed into the box).
        tail: a running tool loop (assistant calls and their results); it follows the whole frame unchanged.
        user: the user's name; the persona's name wins when a persona is given.
        char: the character's name; the card's name wins when a card is given.
        persona: the user's persona.
        card: a character card's JSON (V1, V2 or V3).
        world_books: world books as JSON, in SillyTavern's form.
        note: the author's note: `prompt`, `interval`, `position`, `depth`, `role`.
        regex_scripts: global regex scripts as JSON.
        variables: chat variables.
        global_variables: the user's variables.
        generation_type: normal, continue, impersonate, swipe, regenerate or quiet.
        settings: further switches under the names of `golden/README.md` (`power_user`, `chat_metadata`,
            `extension_prompts`, `world_info`, `quiet_prompt`, `group`, ...).
    """

    before: Sequence[Block] = ()
    after: Sequence[Block] = ()
    post_turn: Sequence[Block] = ()
    history: Sequence[ChatMessage] | Sequence[ChatRecord] | str = ()
    slots: Slots | None = None
    turn: str = ""
    tail: Sequence[ChatMessage] = ()
    user: str = ""
    char: str = ""
    persona: Persona | None = None
    card: JsonObject | None = None
    world_books: Sequence[JsonObject] = ()
    note: JsonObject | None = None
    regex_scripts: Sequence[JsonObject] = ()
    variables: Mapping[str, JsonValue] = field(default_factory=dict)
    global_variables: Mapping[str, JsonValue] = field(default_factory=dict)
    generation_type: str = "normal"
    settings: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def user_name(self) -> str:
        """The name that counts for the user: the persona's, else `user`, else `User`."""
        return (self.persona.name if self.persona else "") or self.user or "User"
