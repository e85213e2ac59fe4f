"""The error tree, and notes: the two ways in which the engine says that something is odd.

Errors stop the work; every one of them is ours, says what, where and what to do, and is one line::

    PresetEngineError
    ├── InputRefused                 a file or value that cannot be used (exit status 2)
    │   ├── UnreadableInput          not text, not JSON, damaged beyond repair
    │   ├── WrongKind                readable, but not what was asked for ("this is a character card")
    │   └── InputTooLarge            over the size or depth limit
    ├── MacroError                   a macro text that cannot be expanded within its limits
    │   ├── ExpansionTooLarge        the result, a variable or the number of steps outgrew its limit
    │   ├── MacroTooDeep             nesting beyond the limit
    │   └── MacroNameTaken           a macro was registered under a name that is in use
    ├── AssemblyError                a preset and content that cannot become messages
    ├── CompileError                 a transcript or mutation that breaks the rules (our own mistake)
    ├── SessionError                 the Stello model refuses
    │   ├── SessionNotFound
    │   ├── SessionArchived
    │   ├── SessionChanged           another writer committed first
    │   ├── InvalidReference         a reference to itself, an ancestor or a descendant
    │   ├── SplitRefused             the split guard says no
    │   ├── NotConfigured            no adapter, no consolidate function, no storage
    │   └── ToolLoopLimit            the model asked for more tool rounds than allowed
    ├── AdapterError                 the model's side failed
    │   ├── ModelAborted             cancelled by the caller
    │   ├── BadReply                 a reply that breaks its own format
    │   └── ProviderRefused          the provider answered with an error
    ├── StorageError                 a back end failed; nothing was half written
    │   ├── StorageFull
    │   ├── StorageLost              the connection or the file is gone
    │   └── StorageFormat            written by a newer version, or damaged
    ├── LogError                     a log or report that cannot be made
    └── MissingExtra                 an optional part is not installed; the message is the install line

Notes do not stop: they travel in the result and reach the report, the log and the probe.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PresetEngineError(Exception):
    """Root of all errors raised on purpose; its text is one line fit for a person."""


class InputRefused(PresetEngineError):
    """A file or value cannot be used. The command line ends with status 2."""


class UnreadableInput(InputRefused):
    """The bytes are no text or no JSON, and no repair helps."""


class WrongKind(InputRefused):
    """The file is readable but of another kind; `kind` names it.

    Attributes:
        kind: the recognised kind as a slug, for example ``character_card``.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class InputTooLarge(InputRefused):
    """The input is over the size or depth limit."""


class MacroError(PresetEngineError):
    """A macro text cannot be expanded within its limits; names the entry and the place."""


class ExpansionTooLarge(MacroError):
    """The expanded text, a variable or the number of steps outgrew its limit."""


class MacroTooDeep(MacroError):
    """Macros are nested beyond the limit."""


class MacroNameTaken(MacroError):
    """A macro was registered under a name or alias that is in use."""


class AssemblyError(PresetEngineError):
    """The preset and the content cannot become messages."""


class CompileError(PresetEngineError):
    """A transcript or a mutation breaks the rules of the pipeline.

    Attributes:
        code: short slug of the rule, for example ``unmatched_at_end``.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class SessionError(PresetEngineError):
    """The session model refuses."""


class SessionNotFound(SessionError):
    """No session or topology node has this id."""


class SessionArchived(SessionError):
    """The session is archived and takes no writes."""


class SessionChanged(SessionError):
    """Another writer committed to the session first; load again and retry."""


class InvalidReference(SessionError):
    """A reference points to the session itself, an ancestor or a descendant.

    Attributes:
        reason: `self_ref`, `ancestor_ref` or `descendant_ref`.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class SplitRefused(SessionError):
    """The split guard does not allow a fork yet."""


class NotConfigured(SessionError):
    """An adapter, a function or a storage that the call needs was not given."""


class ToolLoopLimit(SessionError):
    """The model asked for more tool rounds than the limit allows."""


class AdapterError(PresetEngineError):
    """The model's side failed."""


class ModelAborted(AdapterError):
    """The caller cancelled the model call."""


class BadReply(AdapterError):
    """The model's reply breaks its own format."""


class ProviderRefused(AdapterError):
    """The provider answered with an error.

    Attributes:
        status: the HTTP status, or None where there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class StorageError(PresetEngineError):
    """A back end failed; the transaction was not half written."""


class StorageFull(StorageError):
    """There is no room left on the device."""


class StorageLost(StorageError):
    """The connection or the file is gone."""


class StorageFormat(StorageError):
    """The store was written by a newer version, or is damaged."""


class LogError(PresetEngineError):
    """A log cannot be written or a report cannot be made."""


class MissingExtra(PresetEngineError):
    """An optional part is not installed.

    Args:
        what: what the part does, for example ``"PostgreSQL storage"``.
        extra: the extra's name in ``preset-engine[EXTRA]``.
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part: pip install 'preset-engine[{extra}]'")
        self.extra = extra


class Weight(StrEnum):
    """How much a note matters; reports sort by it."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Note:
    """A remark that does not stop the work.

    Attributes:
        code: stable slug, listed in ``docs/notes.md``.
        message: what was found and what was done about it, one line, no secrets.
        path: JSON path or place (``$.prompts[3].role``, ``history[12]``); empty when it is the whole.
        advice: what the reader may do; empty when nothing is needed.
        weight: how much it matters.
        count: how many places of this kind the note stands for.
    """

    code: str
    message: str
    path: str = ""
    advice: str = ""
    weight: Weight = Weight.WARNING
    count: int = 1

    def to_json(self) -> dict[str, str | int]:
        """The note as a JSON object with all six fields."""
        return {
            "code": self.code,
            "weight": self.weight.value,
            "path": self.path,
            "message": self.message,
            "advice": self.advice,
            "count": self.count,
        }
