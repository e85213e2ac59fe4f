"""Content from files: what `probe` is given by `--content`, `--card`, `--persona`, `--world`, `--chat`, `--turn`.

Without `--content` the built-in samples fill the preset; each file then takes the place of its own part. A chat
takes the place of the history and of the sample's turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from preset_engine.assembler.skeleton import read_skeleton
from preset_engine.cli.content_json import read_content
from preset_engine.cli.json_io import parse_json, read_text
from preset_engine.cli.part_files import (
    read_card_file,
    read_chat_file,
    read_persona_file,
    read_world_file,
)
from preset_engine.cli.samples import sample_content
from preset_engine.content.content import Block, Content
from preset_engine.dialect import Dialect
from preset_engine.errors import Note
from preset_engine.history.chat_file import read_chat
from preset_engine.history.load import LoadedHistory, load_history
from preset_engine.messages import ChatMessage, ChatRecord
from preset_engine.preset.model import Preset


@dataclass(frozen=True, slots=True)
class GivenContent:
    """Content with its notes, and the names of the parts that are built-in samples."""

    content: Content
    notes: tuple[Note, ...] = ()
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContentFiles:
    """The files of one probe; None for what was not given."""

    content: Path | None = None
    card: Path | None = None
    persona: Path | None = None
    worlds: Sequence[Path] = ()
    chat: Path | None = None
    turn: str | None = None


def gather_content(files: ContentFiles, preset: Preset, dialect: Dialect) -> GivenContent:
    """Read the files and put the content together.

    Raises:
        InputRefused: a file cannot be read or holds something else.
    """
    samples: dict[str, None] = {}
    if files.content is not None:
        content = read_content(parse_json(read_text(files.content), files.content))
    else:
        content = _fitting(sample_content(preset), preset, dialect)
        has_blocks = content.before or content.after or content.post_turn
        blocks = ("blocks",) if has_blocks else ()
        samples = dict.fromkeys(("card", "persona", *blocks, "history", "turn"))
    if files.card is not None:
        content = replace(content, card=read_card_file(files.card))
        samples.pop("card", None)
    if files.persona is not None:
        content = replace(content, persona=read_persona_file(files.persona))
        samples.pop("persona", None)
    if files.worlds:
        books = tuple(read_world_file(path) for path in files.worlds)
        content = replace(content, world_books=(*content.world_books, *books))
    notes: tuple[Note, ...] = ()
    if files.chat is not None:
        content, notes = _with_chat(content, files.chat, dialect)
        samples.pop("history", None)
        samples.pop("turn", None)
    if files.turn is not None:
        content = replace(content, turn=files.turn)
        samples.pop("turn", None)
    return GivenContent(content, notes, tuple(samples))


def _fitting(content: Content, preset: Preset, dialect: Dialect) -> Content:
    """The sample without blocks for holes that take no part."""
    order, _ = read_skeleton(preset, dialect.switches)
    on = {item.identifier for item in order if item.is_enabled}
    return replace(
        content,
        before=content.before if "worldBookBefore" in on else (),
        after=content.after if "worldBookAfter" in on else (),
        post_turn=content.post_turn if "postTurn" in on else (),
    )


def _with_chat(content: Content, path: Path, dialect: Dialect) -> tuple[Content, tuple[Note, ...]]:
    """The content with a chat; in SillyTavern's dialect its lines stay raw, since macros run in them there."""
    data = read_chat_file(path)
    user = content.persona.name if content.persona else content.user
    loaded = load_history(data, user, content.char)
    content = replace(content, history=_history(loaded, data, dialect), turn="")
    if loaded.preamble:
        content = replace(content, before=(*content.before, Block("", loaded.preamble)))
    if loaded.chat is not None:
        content = _with_metadata(content, loaded)
    return content, loaded.notes


def _history(
    loaded: LoadedHistory, data: bytes, dialect: Dialect
) -> tuple[ChatMessage, ...] | tuple[ChatRecord, ...]:
    is_raw = dialect is Dialect.sillytavern and loaded.chat is not None
    return read_chat(data).records if is_raw else loaded.history


def _with_metadata(content: Content, loaded: LoadedHistory) -> Content:
    chat = loaded.chat
    assert chat is not None
    variables = chat.metadata.get("variables")
    return replace(
        content,
        user=content.user or chat.user,
        char=content.char or chat.char,
        variables=variables if isinstance(variables, dict) else content.variables,
        settings={**content.settings, "chat_metadata": dict(chat.metadata)},
    )
