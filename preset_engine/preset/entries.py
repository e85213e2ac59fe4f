"""Reads `prompts[]` of a SillyTavern file: every element that can mean something becomes an entry.

Wrong types are read by their meaning, with a note; the element itself stays in the document and in
`PromptEntry.saved`, so that an export loses nothing.
"""

from __future__ import annotations

from preset_engine.errors import InputTooLarge
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.preset.builtin import FILLED
from preset_engine.preset.meanings import is_depth, part_text, read_flag, type_name
from preset_engine.preset.model import PromptEntry
from preset_engine.preset.notebook import Notebook, shown

MAX_ENTRIES = 5_000
"""Most entries of a preset, ten times the largest real one: it still assembles within a second or two."""

ROLES = ("system", "user", "assistant")
TRIGGERS = ("normal", "continue", "impersonate", "swipe", "regenerate", "quiet")
_KNOWN_KEYS = frozenset(
    [
        "identifier",
        "name",
        "role",
        "content",
        "system_prompt",
        "marker",
        "enabled",
        "injection_position",
        "injection_depth",
        "injection_order",
        "injection_trigger",
        "forbid_overrides",
    ]
)


def read_entries(
    value: JsonValue, notes: Notebook, path: str = "$.prompts"
) -> tuple[PromptEntry, ...]:
    """The entries of a `prompts` value of any type.

    Args:
        value: a list of objects, or what a damaged file has in its place.
        notes: gets a note for each reading that is not the plain one.
        path: JSON path of the value.

    Raises:
        InputTooLarge: more than `MAX_ENTRIES` elements.
    """
    items = _items(value, notes, path)
    if len(items) > MAX_ENTRIES:
        message = f"{path} has {len(items):,} entries; presets are read up to {MAX_ENTRIES:,}"
        raise InputTooLarge(message)
    entries: list[PromptEntry] = []
    for place, item in items:
        if isinstance(item, dict):
            entries.append(_Reader(item, notes, place).entry(len(entries)))
        else:
            notes.add(
                "entry-not-object",
                f"an entry is {type_name(item)}, not an object; it is left out",
                place,
            )
    return tuple(entries)


def _items(value: JsonValue, notes: Notebook, path: str) -> list[tuple[str, JsonValue]]:
    if isinstance(value, list):
        return [(f"{path}[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, dict):
        notes.add(
            "prompts-not-list",
            "the prompts are an object, not a list; its values are taken in order",
            path,
        )
        found = []
        for key, item in value.items():
            named = {"identifier": key, **item} if isinstance(item, dict) else item
            found.append((f"{path}.{key}", named))
        return found
    if value is not None:
        notes.add(
            "prompts-not-list",
            f"the prompts are {type_name(value)}, not a list; they are left out",
            path,
        )
    return []


class _Reader:
    """One element of `prompts[]`, field by field."""

    def __init__(self, item: JsonObject, notes: Notebook, place: str) -> None:
        self.item = item
        self.notes = notes
        self.place = place

    def entry(self, number: int) -> PromptEntry:
        item = self.item
        identifier = self._identifier(number)
        is_marker = self._flag("marker", default=False) or (
            identifier in FILLED and not item.get("content")
        )
        if not _KNOWN_KEYS.issuperset(item):
            self._note_unknown_keys()
        position = self._position()
        return PromptEntry(
            identifier=identifier,
            name=self._name(identifier),
            role=self._role(is_marker),
            content=self._content(is_marker),
            is_marker=is_marker,
            is_enabled=self._flag("enabled", default=True),
            system_prompt=self._system_prompt(),
            position=position,
            depth=self._depth(position),
            injection_order=self._injection_order(position),
            triggers=self._triggers(),
            forbid_overrides=self._flag("forbid_overrides", default=False),
            place=self.place,
            saved=item,
        )

    def _note(self, code: str, message: str, key: str) -> None:
        self.notes.add(code, message, f"{self.place}.{key}")

    def _identifier(self, number: int) -> str:
        value = self.item.get("identifier")
        if isinstance(value, str) and value:
            if value != value.strip():
                self._note(
                    "identifier-spaces",
                    f"the identifier {shown(value)} has outer spaces; they count",
                    "identifier",
                )
            elif "{{" in value:
                self._note(
                    "identifier-macro",
                    f"the identifier {shown(value)} holds braces; they are not expanded",
                    "identifier",
                )
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self._note(
                "identifier-not-text",
                f"the identifier {shown(value)} is read as text",
                "identifier",
            )
            return str(value)
        made = f"unnamed-{number + 1}"
        self._note(
            "identifier-missing",
            f"an entry has no identifier; it is called {made!r} here",
            "identifier",
        )
        return made

    def _name(self, identifier: str) -> str:
        value = self.item.get("name")
        if isinstance(value, str) and value.strip():
            if not value.isprintable():
                self._note(
                    "name-odd",
                    "a name holds invisible or control characters; it is shown escaped",
                    "name",
                )
            return value
        if "name" in self.item and not isinstance(value, str) and value is not None:
            self._note(
                "name-missing",
                f"a name is {type_name(value)}; the identifier is shown instead",
                "name",
            )
        else:
            self._note(
                "name-missing", "an entry has no name; the identifier is shown instead", "name"
            )
        return identifier

    def _role(self, is_marker: bool) -> str:
        value = self.item.get("role")
        if value in ROLES:
            return str(value)
        if value is None:
            if not is_marker:
                self._note("role-missing", "an entry has no role; it is read as 'system'", "role")
            return "system"
        folded = value.strip().lower() if isinstance(value, str) else ""
        role = folded if folded in ROLES else "system"
        self._note("role-unknown", f"the role {shown(value)} is read as {role!r}", "role")
        return role

    def _content(self, is_marker: bool) -> str:
        value = self.item.get("content")
        if isinstance(value, str):
            return value
        if value is None:
            if not is_marker:
                self._note(
                    "content-missing", "an entry has no content; it is read as empty", "content"
                )
            return ""
        if isinstance(value, list):
            texts = [part_text(part) for part in value]
            self._note(
                "content-not-text",
                "a content is a list of parts; its texts are joined by newlines",
                "content",
            )
            return "\n".join(text for text in texts if text is not None)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self._note("content-not-text", f"the content {shown(value)} is read as text", "content")
            return str(value)
        self._note(
            "content-not-text", f"a content is {type_name(value)}; it is read as empty", "content"
        )
        return ""

    def _flag(self, key: str, *, default: bool) -> bool:
        if key not in self.item:
            return default
        value = self.item[key]
        if isinstance(value, bool):
            return value
        read = read_flag(value, default=default)
        self._note(
            "flag-not-boolean", f"{key} is {shown(value)}; it is read as {str(read).lower()}", key
        )
        return read

    def _system_prompt(self) -> bool | None:
        if "system_prompt" not in self.item:
            return None
        value = self.item["system_prompt"]
        if isinstance(value, bool):
            return value
        self._note(
            "flag-not-boolean",
            f"system_prompt is {shown(value)}; it is read as missing",
            "system_prompt",
        )
        return None

    def _position(self) -> int:
        if "injection_position" not in self.item:
            return 0
        value = self.item["injection_position"]
        if not isinstance(value, bool) and value in (0, 1):
            return int(value == 1)
        position = int(value == "1")
        where = "in the chat" if position else "relative"
        self._note(
            "injection-position-odd",
            f"injection_position is {shown(value)}; it is read as {position} ({where})",
            "injection_position",
        )
        return position

    def _depth(self, position: int) -> JsonValue:
        depth = self.item.get("injection_depth", 4)
        if position and not is_depth(depth):
            self._note(
                "injection-depth-odd",
                f"injection_depth is {shown(depth)}, no whole number from 0 to 10000; SillyTavern drops the entry",
                "injection_depth",
            )
        elif position and isinstance(depth, int) and depth > 500:
            self._note(
                "injection-depth-large",
                f"injection_depth is {depth}: above the first message of nearly every chat",
                "injection_depth",
            )
        return depth

    def _injection_order(self, position: int) -> JsonValue:
        order = self.item.get("injection_order", 100)
        is_number = isinstance(order, (int, float)) and not isinstance(order, bool)
        if position and not is_number:
            self._note(
                "injection-order-odd",
                f"injection_order is {shown(order)}, no number; texts of digits are read as numbers",
                "injection_order",
            )
        return order

    def _triggers(self) -> tuple[str, ...]:
        value = self.item.get("injection_trigger")
        if value is None or value == []:
            return ()
        if not isinstance(value, list):
            text = isinstance(value, str) and bool(value)
            what = "it is read as a list of one" if text else "it is left out"
            self._note(
                "trigger-odd",
                f"injection_trigger is {shown(value)}, no list; {what}",
                "injection_trigger",
            )
            return (str(value),) if text else ()
        kept = tuple(dict.fromkeys(item for item in value if isinstance(item, str)))
        if len(kept) != len(value):
            self._note(
                "trigger-odd",
                "injection_trigger holds doubles or what is no text; they are left out",
                "injection_trigger",
            )
        unknown = [name for name in kept if name not in TRIGGERS]
        if unknown:
            self._note(
                "trigger-unknown",
                f"no generation has the type {shown(unknown[0])}; it never matches",
                "injection_trigger",
            )
        return kept

    def _note_unknown_keys(self) -> None:
        unknown = [key for key in self.item if key not in _KNOWN_KEYS]
        keys = ", ".join(shown(key, 20) for key in unknown[:3])
        self.notes.add(
            "entry-keys-unknown",
            f"entries have fields of other tools ({keys}); they are kept",
            self.place,
        )
