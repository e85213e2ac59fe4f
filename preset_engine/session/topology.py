"""The shape of the forest: nodes, the nested view, and the pure rules about references.

A session knows nothing of its place; a `TopologyNode` does. Several roots are legal and independent.
Everything here is a function of values, the same over every back end.
Source: seed 001, "SessionTree"; reference/seeds.md 1.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from preset_engine.errors import InvalidReference
from preset_engine.messages import JsonObject, JsonValue
from preset_engine.session.meta import SessionMeta, SessionStatus


@dataclass(frozen=True, slots=True)
class TopologyNode:
    """The place of one session in the forest.

    Attributes:
        id: the session's id.
        parent_id: None for a root.
        children: ids of the children in order of creation.
        refs: ids that this node points to across the tree, in order of adding.
        depth: 0 for a root.
        index: place among the siblings at creation; 0 for a root.
        label: the session's label.
        source_session_id: the session it was forked from, which need not be the parent.
    """

    id: str
    parent_id: str | None
    children: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    depth: int = 0
    index: int = 0
    label: str = ""
    source_session_id: str | None = None

    def to_json(self) -> JsonObject:
        """All fields."""
        return {
            "id": self.id,
            "parent_id": self.parent_id,
            "children": list(self.children),
            "refs": list(self.refs),
            "depth": self.depth,
            "index": self.index,
            "label": self.label,
            "source_session_id": self.source_session_id,
        }


@dataclass(frozen=True, slots=True)
class SessionTreeNode:
    """A node of the nested view that front ends draw."""

    id: str
    label: str
    status: SessionStatus
    turn_count: int
    children: tuple[SessionTreeNode, ...] = ()
    source_session_id: str | None = None

    def to_json(self) -> JsonObject:
        """The nested object, made from the leaves up; `source_session_id` only where there is one."""
        nodes = [self]
        for node in nodes:
            nodes.extend(node.children)
        made: dict[str, JsonObject] = {}
        for node in reversed(nodes):
            made[node.id] = node._body([made.pop(child.id) for child in node.children])
        return made[self.id]

    def _body(self, children: list[JsonValue]) -> JsonObject:
        body: JsonObject = {
            "id": self.id,
            "label": self.label,
            "status": self.status.value,
            "turn_count": self.turn_count,
            "children": children,
        }
        if self.source_session_id is not None:
            body["source_session_id"] = self.source_session_id
        return body


def build_forest(
    nodes: Sequence[TopologyNode], metas: Mapping[str, SessionMeta]
) -> list[SessionTreeNode]:
    """The nested view of all roots; a child id without a node is left out.

    Built from the leaves up, so that a chain of any depth needs no recursion.
    """
    by_id = {node.id: node for node in nodes}
    built: dict[str, SessionTreeNode] = {}
    for node in sorted(nodes, key=lambda node: -node.depth):
        meta = metas[node.id]
        built[node.id] = SessionTreeNode(
            id=node.id,
            label=meta.label,
            status=meta.status,
            turn_count=meta.turn_count,
            children=tuple(built[child] for child in node.children if child in by_id),
            source_session_id=node.source_session_id,
        )
    return [built[node.id] for node in nodes if node.parent_id is None]


def check_reference(
    source: str, target: str, above_source: Iterable[str], above_target: Iterable[str]
) -> None:
    """Refuse a reference to the node itself, to an ancestor or to a descendant.

    Args:
        source: the node that points.
        target: the node pointed to; both exist.
        above_source: ids of the ancestors of `source`.
        above_target: ids of the ancestors of `target`.

    Raises:
        InvalidReference: `reason` is `self_ref`, `ancestor_ref` or `descendant_ref`.
    """
    if source == target:
        raise InvalidReference(f"session {source!r} cannot refer to itself", "self_ref")
    if target in above_source:
        raise InvalidReference(
            f"session {source!r} cannot refer to {target!r}, its ancestor", "ancestor_ref"
        )
    if source in above_target:
        raise InvalidReference(
            f"session {source!r} cannot refer to {target!r}, its descendant", "descendant_ref"
        )
