"""The slots of a session: a pair of doors for each, over one text by name.

Every slot is its own pair of methods (seed 001 forbids a general key-value door); inside, a back end only has to
read and write one text under a name. Three slots are texts, three are JSON objects.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from enum import StrEnum

from preset_engine.characters import clean_text
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.session.meta import CompressionSnapshot
from preset_engine.storage.border import clean_object, dumps


class Slot(StrEnum):
    """Names of the slots as they are stored."""

    SYSTEM_PROMPT = "system_prompt"
    INSIGHT = "insight"
    MEMORY = "memory"
    COMPRESSION = "compression"
    VARIABLES = "variables"
    STATE = "state"


JSON_SLOTS = frozenset({Slot.COMPRESSION, Slot.VARIABLES, Slot.STATE})


def slot_value(slot: str, text: str) -> JsonValue:
    """What a stored text means: itself, or the JSON in it."""
    value: JsonValue = json.loads(text) if slot in JSON_SLOTS else text
    return value


def slot_text(slot: str, value: JsonValue) -> str:
    """The text that is stored for a value."""
    return dumps(value) if slot in JSON_SLOTS else str(value)


class SlotDoors:
    """The slot methods of `SessionStorage` over two methods of the back end."""

    @abstractmethod
    async def read_slot(self, session_id: str, slot: Slot) -> str | None:
        """The stored text, or None."""

    @abstractmethod
    async def write_slot(self, session_id: str, slot: Slot, text: str | None) -> None:
        """Replace or (None) remove the text; raises `SessionNotFound`."""

    async def get_system_prompt(self, session_id: str) -> str | None:
        """The system prompt slot."""
        return await self.read_slot(session_id, Slot.SYSTEM_PROMPT)

    async def put_system_prompt(self, session_id: str, content: str) -> None:
        """Replace the system prompt; an empty text is a value."""
        await self.write_slot(session_id, Slot.SYSTEM_PROMPT, clean_text(content))

    async def get_insight(self, session_id: str) -> str | None:
        """The unread insight, or None."""
        return await self.read_slot(session_id, Slot.INSIGHT)

    async def put_insight(self, session_id: str, content: str) -> None:
        """Replace the insight."""
        await self.write_slot(session_id, Slot.INSIGHT, clean_text(content))

    async def clear_insight(self, session_id: str) -> None:
        """Remove the insight."""
        await self.write_slot(session_id, Slot.INSIGHT, None)

    async def get_memory(self, session_id: str) -> str | None:
        """The memory, for readers outside the session."""
        return await self.read_slot(session_id, Slot.MEMORY)

    async def put_memory(self, session_id: str, content: str) -> None:
        """Replace the memory."""
        await self.write_slot(session_id, Slot.MEMORY, clean_text(content))

    async def get_compression_cache(self, session_id: str) -> CompressionSnapshot | None:
        """The kept summary, or None."""
        text = await self.read_slot(session_id, Slot.COMPRESSION)
        return None if text is None else CompressionSnapshot.from_json(json.loads(text))

    async def put_compression_cache(self, session_id: str, snapshot: CompressionSnapshot) -> None:
        """Replace the kept summary."""
        await self._write_object(session_id, Slot.COMPRESSION, snapshot.to_json())

    async def clear_compression_cache(self, session_id: str) -> None:
        """Remove the kept summary."""
        await self.write_slot(session_id, Slot.COMPRESSION, None)

    async def get_variables(self, session_id: str) -> JsonObject:
        """The chat's macro variables; empty when never written."""
        return await self._read_object(session_id, Slot.VARIABLES)

    async def put_variables(self, session_id: str, variables: Mapping[str, JsonValue]) -> None:
        """Replace all variables."""
        await self._write_object(session_id, Slot.VARIABLES, variables)

    async def get_state(self, session_id: str) -> JsonObject:
        """What the engine keeps between turns; empty when never written."""
        return await self._read_object(session_id, Slot.STATE)

    async def put_state(self, session_id: str, state: Mapping[str, JsonValue]) -> None:
        """Replace the engine's state."""
        await self._write_object(session_id, Slot.STATE, state)

    async def _read_object(self, session_id: str, slot: Slot) -> JsonObject:
        text = await self.read_slot(session_id, slot)
        value: JsonObject = {} if text is None else json.loads(text)
        return value

    async def _write_object(
        self, session_id: str, slot: Slot, value: Mapping[str, JsonValue]
    ) -> None:
        await self.write_slot(session_id, slot, dumps(clean_object(value)))


def turn_slots(
    variables: Mapping[str, JsonValue] | None,
    state: Mapping[str, JsonValue] | None,
    compression: CompressionSnapshot | None,
) -> list[tuple[Slot, str]]:
    """The slot texts that a committed turn writes; None leaves a slot alone."""
    written = (
        (Slot.VARIABLES, variables),
        (Slot.STATE, state),
        (Slot.COMPRESSION, None if compression is None else compression.to_json()),
    )
    return [(slot, dumps(clean_object(value))) for slot, value in written if value is not None]
