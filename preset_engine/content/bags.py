r"""Bags: titled blocks that fill the holes around the history.

A bag prints as one text, each block as ``### title`` over its body, blocks parted by blank lines; a block
without a body vanishes, one without a title is its bare body::

    Block("Stage", "An old town"), Block("", "Rain.")   ->   "### Stage\n\nAn old town\n\nRain."

Source: golden/seeds `wa.world_info_format`; reference/seeds.md, sections 3.2, 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from preset_engine.characters import JS_SPACE
from preset_engine.content.content import Block
from preset_engine.messages import Origin, OriginKind, Piece

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
