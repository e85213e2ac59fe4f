r"""Bags: titled blocks that fill the holes around the history.

A bag prints as one text, each block as ``### title`` over its body, blocks parted by blank lines; a block
without a body vanishes, one without a title is its bare body::

    Block("Stage", "An old town"), Block("", "Rain.")   ->   "### Stage\n\nAn old town\n\nRain."

Framing turns a flat task list into bags: its system messages become the contract, which leads the first bag.
Source: golden/seeds `wa.world_info_format`, `wa.frame_split`; reference/seeds.md, sections 3.2, 3.3, 3.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from preset_engine.content.card import JS_SPACE
from preset_engine.content.content import Block, Content
from preset_engine.messages import ChatMessage, Origin, OriginKind, Piece

CONTRACT_TITLE = "任务契约"
BLANK_LINE = "\n\n"


def print_blocks(blocks: Iterable[Block]) -> str:
    """The text of a bag; empty when no block has a body."""
    return BLANK_LINE.join(text for block in blocks if (text := print_block(block)))


def print_block(block: Block) -> str:
    """One block as text; empty without a body."""
    title, body = block.title.strip(JS_SPACE), block.body.strip(JS_SPACE)
    if not body:
        return ""
    return f"### {title}\n\n{body}" if title else body


def block_pieces(
    blocks: Iterable[Block], hole: str, kind: OriginKind = OriginKind.HOLE, *, volatile: bool
) -> tuple[Piece, ...]:
    """The same text in pieces: one a block, named by its title, with joiners between.

    Args:
        blocks: the bag.
        hole: the hole it fills; the pieces' origin.
        kind: what sort of source the blocks are.
        volatile: the bag can change from turn to turn.
    """
    found: list[Piece] = []
    for number, block in enumerate(blocks):
        text = print_block(block)
        if not text:
            continue
        if found:
            found.append(Piece(Origin(OriginKind.JOINER, "block"), BLANK_LINE))
        origin = Origin(kind, hole, block.title.strip(JS_SPACE), f"{hole}[{number}]")
        found.append(Piece(origin, text, volatile))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Frame:
    """A flat task list, taken apart.

    Attributes:
        contract: all system texts of the framed part, joined by blank lines.
        history: the other messages but the turn.
        turn: the last of them where it is the user's; None otherwise.
        tail: from the first tool message or call on; it follows the frame unchanged.
    """

    contract: str
    history: tuple[ChatMessage, ...]
    turn: ChatMessage | None
    tail: tuple[ChatMessage, ...] = ()


def split_frame(messages: Sequence[ChatMessage]) -> Frame:
    """Split task messages into contract, history, turn and the running tool loop."""
    border = next(
        (number for number, message in enumerate(messages) if _is_tool_loop(message)),
        len(messages),
    )
    framed = messages[:border]
    texts = (message.text.strip(JS_SPACE) for message in framed if message.role == "system")
    body = tuple(message for message in framed if message.role != "system")
    has_turn = bool(body) and body[-1].role == "user"
    return Frame(
        contract=BLANK_LINE.join(text for text in texts if text),
        history=body[:-1] if has_turn else body,
        turn=body[-1] if has_turn else None,
        tail=tuple(messages[border:]),
    )


def _is_tool_loop(message: ChatMessage) -> bool:
    return message.role == "tool" or bool(message.tool_calls)


def frame_content(messages: Sequence[ChatMessage], pack: Content | None = None) -> Content:
    """The content that a task list makes.

    Args:
        messages: task messages, a running tool loop included.
        pack: bags that are ready. Then the list gives its contract and its tool loop only, so that nothing
            is sent twice; without a pack it gives history and turn too.
    """
    frame = split_frame(messages)
    content = pack or Content()
    before = content.before
    if frame.contract:
        before = (Block(CONTRACT_TITLE, frame.contract), *before)
    content = replace(content, before=before, tail=(*content.tail, *frame.tail))
    if pack is not None:
        return content
    if frame.turn is not None and not isinstance(frame.turn.content, str):
        return replace(content, history=(*frame.history, frame.turn))
    turn = frame.turn.text if frame.turn is not None else ""
    return replace(content, history=frame.history, turn=turn)
