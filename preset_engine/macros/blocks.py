"""Pairs opening and closing macros: `{{setvar::a}}` text `{{/setvar}}`.

What stands between a pair becomes one more argument of the opener, if that makes the number of its
arguments right; if not, both stay as text and what stands between is a part of the sentence. A closer
belongs to the nearest opener of its name that can take a block; only outermost pairs are made here, since
the text of a block is parsed on its own. One pass, linear in the number of macros.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from preset_engine.macros.nodes import Call, Node


class Item(NamedTuple):
    """A node of the sentence, and what its neighbourhood makes of it.

    Attributes:
        node: the macro.
        closer: the macro that ends its block, if it has one.
        inner: the nodes in its block.
        is_text: stays as written.
    """

    node: Node
    closer: Call | None = None
    is_text: bool = False
    inner: tuple[Node, ...] = ()

    @property
    def end(self) -> int:
        """Offset behind the whole item."""
        return self.node.end if self.closer is None else self.closer.end


def pair_blocks(nodes: Sequence[Node], takes_block: Callable[[Call], bool]) -> list[Item]:
    """The items of a sentence.

    Args:
        nodes: its macros in order.
        takes_block: whether a macro may take one more argument.
    """
    for node in nodes:
        if isinstance(node, Call) and node.is_closing:
            break
    else:
        return [Item(node) for node in nodes]
    return _Pairing(nodes, takes_block).items()


class _Pairing:
    """One pairing: the closer of every opener that has one, and closers left over, by name."""

    def __init__(self, nodes: Sequence[Node], takes_block: Callable[[Call], bool]) -> None:
        self.nodes = nodes
        self.closers: dict[int, int] = {}
        self.loose: dict[str, list[int]] = defaultdict(list)
        self.openers: set[int] = set()
        waiting: dict[str, list[int]] = defaultdict(list)
        for place, node in enumerate(nodes):
            if not isinstance(node, Call):
                continue
            name = node.name.lower()
            if not node.is_closing:
                if takes_block(node):
                    self.openers.add(place)
                    waiting[name].append(place)
            elif waiting[name]:
                self.closers[waiting[name].pop()] = place
            else:
                self.loose[name].append(place)

    def items(self) -> list[Item]:
        made: list[Item] = []
        as_text: set[int] = set()
        place = 0
        while place < len(self.nodes):
            node = self.nodes[place]
            closer = self.closers.get(place)
            if closer is not None:
                end = self.nodes[closer]
                self._free_inside(place, closer)
                inner = tuple(self.nodes[place + 1 : closer])
                made.append(Item(node, end if isinstance(end, Call) else None, inner=inner))
                place = closer + 1
                continue
            is_text = place in as_text
            if isinstance(node, Call) and node.is_closing:
                is_text = True
            elif isinstance(node, Call) and place not in self.openers:
                partner = self._loose_closer(node, place)
                if partner is not None:
                    as_text.add(partner)
                    is_text = True
            made.append(Item(node, is_text=is_text))
            place += 1
        return made

    def _free_inside(self, place: int, closer: int) -> None:
        """An opener inside a block gives up a closer outside of it."""
        for inside in range(place + 1, closer):
            end = self.closers.get(inside, -1)
            node = self.nodes[inside]
            if end > closer and isinstance(node, Call):
                insort(self.loose[node.name.lower()], end)

    def _loose_closer(self, node: Call, place: int) -> int | None:
        """The next closer of this name that no opener took."""
        closers = self.loose.get(node.name.lower(), [])
        at = bisect_right(closers, place)
        return closers.pop(at) if at < len(closers) else None
