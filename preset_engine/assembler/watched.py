"""Variables that know what was read and written: what decides whether a remembered expansion still holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preset_engine.messages import JsonValue


class WatchedVariables(dict[str, JsonValue]):
    """A variable store that notes what is read before it is written, and what is written.

    Args:
        values: the variables to begin with; copied.
    """

    missing = object()
    """What `peek` gives for a name that has no value."""

    def __init__(self, values: Mapping[str, JsonValue]) -> None:
        super().__init__(values)
        self.read: dict[str, object] = {}
        self.written: set[str] = set()

    def watch(self) -> None:
        """Begin anew."""
        self.read = {}
        self.written = set()

    def peek(self, name: str) -> object:
        """The value, or `missing`; not noted."""
        return super().get(name, self.missing)

    def put(self, name: str, value: object) -> None:
        """Set a value that was read from such a store before; not noted."""
        super().__setitem__(name, value)  # type: ignore[assignment]  # a JSON value by origin

    def _note(self, name: str) -> None:
        if name not in self.written and name not in self.read:
            self.read[name] = self.peek(name)

    # What a macro may do with a store; `dict` does the rest.

    def __getitem__(self, name: str) -> JsonValue:
        self._note(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str):
            self._note(name)
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:  # noqa: D102  # `dict` lets any default pass
        self._note(name)
        return super().get(name, default)

    def __setitem__(self, name: str, value: JsonValue) -> None:
        self.written.add(name)
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        self._note(name)
        self.written.add(name)
        super().__delitem__(name)

    def pop(self, name: str, *default: Any) -> Any:  # noqa: D102  # likewise
        self._note(name)
        self.written.add(name)
        return super().pop(name, *default)
