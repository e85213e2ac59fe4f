"""Bags: titled blocks as text and as pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from preset_engine.content.bags import block_pieces, print_blocks
from preset_engine.content.content import Block
from tests import truth


@truth.seeds("wa.world_info_format")
def test_a_bag_prints_titles_over_bodies(row: truth.Row) -> None:
    blocks = [Block(entry["name"], entry["content"]) for entry in row["input"]["entries"]]
    assert print_blocks(blocks) == row["expected"]["text"]


_texts = st.sampled_from(["", " ", "A", " b ", "two\n\nlines"])


@given(st.lists(st.builds(Block, _texts, _texts), max_size=5))
def test_the_pieces_of_a_bag_are_its_text(blocks: list[Block]) -> None:
    pieces = block_pieces(blocks, "worldBookBefore", volatile=False)
    assert "".join(piece.text for piece in pieces) == print_blocks(blocks)
    named = [piece.origin.name for piece in pieces if piece.origin.kind.value == "hole"]
    assert named == [block.title.strip() for block in blocks if block.body.strip()]
