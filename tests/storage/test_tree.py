"""The shape of the forest over every back end: captured scripts, and claims of our own."""

import asyncio

import pytest

from preset_engine.errors import InvalidReference, SessionNotFound
from preset_engine.session.meta import FrozenConfig, MetaUpdate, SessionStatus
from preset_engine.session.topology import TopologyNode, build_forest
from tests import truth
from tests.storage.conftest import KINDS, make_place

pytestmark = pytest.mark.anyio


# ---- captured scripts ----


class Script:
    """Runs the operations of one row; ids of the row are the ids in the store."""

    def __init__(self, store):
        self.store = store

    async def step(self, op):
        try:
            return {"op": op["op"], **await getattr(self, op["op"])(op)}
        except SessionNotFound:
            return {"op": op["op"], "error": "not_found"}
        except InvalidReference as error:
            return {"op": op["op"], "error": error.reason}

    async def create(self, op):
        node = await self.store.create_session(
            session_id=op["as"],
            parent_id=op.get("parent"),
            label=op.get("label"),
            source_session_id=op.get("source"),
        )
        return {"node": node_json(node)}

    async def roots(self, op):
        return {"ids": sorted(node.id for node in await self.store.list_roots())}

    async def list_all(self, op):
        return {"ids": sorted(node.id for node in await self.store.list_all())}

    async def tree(self, op):
        return {"forest": [view_json(node) for node in await self.store.get_tree()]}

    async def get_node(self, op):
        node = await self.store.get_node(op["id"])
        return {"node": None if node is None else node_json(node)}

    async def get(self, op):
        meta = await self.store.get(op["id"])
        return {"meta": None if meta is None else meta_json(meta)}

    async def ancestors(self, op):
        return {"ids": [node.id for node in await self.store.get_ancestors(op["id"])]}

    async def siblings(self, op):
        return {"ids": [node.id for node in await self.store.get_siblings(op["id"])]}

    async def archive(self, op):
        await self.store.archive(op["id"])
        return {}

    async def add_ref(self, op):
        await self.store.add_ref(op["from"], op["to"])
        return {}

    async def update_meta(self, op):
        changes = op["updates"]
        count = changes.get("turnCount", changes.get("turn_count"))
        meta = await self.store.update_meta(op["id"], MetaUpdate(changes.get("label"), count))
        return {"meta": meta_json(meta)}

    async def put_config(self, op):
        given = op["config"]
        skills = given.get("skills")
        await self.store.put_config(
            op["id"],
            FrozenConfig(
                given.get("systemPrompt", given.get("system_prompt")),
                None if skills is None else tuple(skills),
            ),
        )
        return {}

    async def get_config(self, op):
        config = await self.store.get_config(op["id"])
        return {"config": None if config is None else config.to_json()}


def node_json(node):
    body = node.to_json()
    return {
        **{key: body[key] for key in ("id", "children", "refs", "depth", "index", "label")},
        "parent": node.parent_id,
        "source": node.source_session_id,
    }


def view_json(node):
    keys = ("id", "label", "status", "turn_count")
    body = node.to_json()
    return {key: body[key] for key in keys} | {"children": [view_json(c) for c in node.children]}


def meta_json(meta):
    return {"label": meta.label, "turn_count": meta.turn_count, "status": meta.status.value}


def by_id(forest):
    return sorted(forest, key=lambda node: node["id"])


def comparable(step):
    """The order of roots is open, and a config may be written in either spelling."""
    step = dict(step)
    if step["op"] in {"roots", "list_all"}:
        step["ids"] = sorted(step["ids"])
    if "forest" in step:
        step["forest"] = by_id(step["forest"])
    if isinstance(step.get("config"), dict) and "systemPrompt" in step["config"]:
        config = dict(step["config"])
        step["config"] = {"system_prompt": config.pop("systemPrompt"), **config}
    return step


@pytest.mark.parametrize("kind", KINDS)
@truth.seeds("stello.tree_script")
async def test_tree_script(row, kind, tmp_path):
    store = await make_place(kind, tmp_path).open()
    script = Script(store)
    try:
        for op, expected in zip(row["input"]["ops"], row["expected"]["steps"], strict=True):
            assert comparable(await script.step(op)) == comparable(expected)
    finally:
        await store.close()


# ---- our own claims ----


async def grow(store, *edges):
    """Create nodes from `child<parent` words; a word alone is a root."""
    for edge in edges:
        id_, _, parent = edge.partition("<")
        await store.create_session(session_id=id_, parent_id=parent or None)


async def test_a_node_knows_depth_index_and_children_in_order(store):
    await grow(store, "r", "a<r", "b<r", "a1<a", "c<r")
    node = await store.get_node("r")
    assert (node.children, node.depth, node.index, node.parent_id) == (("a", "b", "c"), 0, 0, None)
    assert [(n.depth, n.index) for n in await store.list_all()] == [
        (0, 0),
        (1, 0),
        (1, 1),
        (2, 0),
        (1, 2),
    ]


async def test_the_forest_nests_and_shows_the_present_label_status_and_count(store):
    await grow(store, "r", "a<r", "a1<a", "s")
    await store.update_meta("a1", MetaUpdate(label="deep", turn_count=3))
    await store.archive("a")
    root, other = await store.get_tree()
    assert (root.id, other.id, other.children) == ("r", "s", ())
    (a,) = root.children
    (a1,) = a.children
    assert a.status is SessionStatus.ARCHIVED
    assert (a1.label, a1.turn_count, a1.status) == ("deep", 3, SessionStatus.ACTIVE)
    assert (await store.get_node("a1")).label == "deep"


async def test_ancestors_come_nearest_first_and_siblings_in_order(store):
    await grow(store, "r", "a<r", "b<r", "c<r", "b1<b", "b2<b1")
    assert [node.id for node in await store.get_ancestors("b2")] == ["b1", "b", "r"]
    assert await store.get_ancestors("r") == []
    assert [node.id for node in await store.get_siblings("b")] == ["a", "c"]
    assert await store.get_siblings("r") == []
    assert (await store.get_ancestors("b2"))[1].children == ("b1",)


async def test_references_refuse_the_node_itself_ancestors_and_descendants(store):
    await grow(store, "r", "a<r", "a1<a", "b<r", "s", "s1<s")
    for from_id, to_id, reason in (
        ("a", "a", "self_ref"),
        ("a1", "r", "ancestor_ref"),
        ("a1", "a", "ancestor_ref"),
        ("r", "a1", "descendant_ref"),
    ):
        with pytest.raises(InvalidReference) as caught:
            await store.add_ref(from_id, to_id)
        assert caught.value.reason == reason
    with pytest.raises(SessionNotFound):
        await store.add_ref("a", "ghost")
    with pytest.raises(SessionNotFound):
        await store.add_ref("ghost", "ghost")
    await store.add_ref("a1", "b")
    await store.add_ref("a1", "s1")
    await store.add_ref("a1", "b")
    await store.add_ref("s1", "a1")
    assert (await store.get_node("a1")).refs == ("b", "s1")
    assert (await store.get_node("s1")).refs == ("a1",)
    assert (await store.get_node("b")).refs == ()


async def test_twenty_children_made_at_once_are_all_there(store):
    await grow(store, "r")
    await asyncio.gather(*(store.create_session(parent_id="r") for _ in range(20)))
    children = [node for node in await store.list_all() if node.parent_id == "r"]
    assert sorted(node.index for node in children) == list(range(20))
    assert len(set((await store.get_node("r")).children)) == 20


async def test_archiving_is_repeatable_and_leaves_children_alone(store):
    await grow(store, "r", "a<r")
    await store.archive("r")
    await store.archive("r")
    assert (await store.get("r")).status is SessionStatus.ARCHIVED
    assert (await store.get("a")).status is SessionStatus.ACTIVE
    await store.create_session(parent_id="r")


async def test_meta_is_updated_in_part(store):
    await grow(store, "r")
    before = await store.get("r")
    meta = await store.update_meta("r", MetaUpdate(label="new"))
    assert (meta.label, meta.turn_count) == ("new", 0)
    meta = await store.update_meta("r", MetaUpdate(turn_count=4))
    assert (meta.label, meta.turn_count) == ("new", 4)
    meta = await store.update_meta("r", MetaUpdate())
    assert (meta.label, meta.turn_count, meta.created_at) == ("new", 4, before.created_at)
    assert meta.updated_at > before.updated_at
    assert meta == await store.get("r")


async def test_parallel_updates_of_one_meta_lose_nothing(store):
    await grow(store, "r")
    await asyncio.gather(
        store.update_meta("r", MetaUpdate(label="new")),
        store.archive("r"),
        store.update_meta("r", MetaUpdate(turn_count=9)),
    )
    meta = await store.get("r")
    assert (meta.label, meta.status, meta.turn_count) == ("new", SessionStatus.ARCHIVED, 9)


async def test_a_frozen_config_is_replaced_as_a_whole(store):
    await grow(store, "r")
    assert await store.get_config("r") is None
    for config in (
        FrozenConfig("frozen", ("a", "b")),
        FrozenConfig(None, ()),
        FrozenConfig("", None),
        FrozenConfig(),
    ):
        await store.put_config("r", config)
        assert await store.get_config("r") == config


async def test_the_source_of_a_fork_need_not_be_its_parent(store):
    await grow(store, "r", "a<r")
    node = await store.create_session(session_id="b", parent_id="r", source_session_id="a")
    assert (node.parent_id, node.source_session_id) == ("r", "a")
    assert await store.get_node("b") == node
    view = (await store.get_tree())[0].children[1]
    assert view.source_session_id == "a"


async def test_a_long_chain_is_walked_and_shown(store):
    edges = ["n0", *(f"n{at}<n{at - 1}" for at in range(1, 120))]

    async def build(inner):
        await grow(inner, *edges)

    await store.transaction(build)
    assert len(await store.get_ancestors("n119")) == 119
    depth, (view,) = 0, await store.get_tree()
    while view.children:
        depth, (view,) = depth + 1, view.children
    assert depth == 119


async def test_a_child_id_without_a_node_is_left_out_of_the_view(store):
    await grow(store, "r")
    meta = await store.get("r")
    (view,) = build_forest([TopologyNode("r", None, ("ghost",))], {"r": meta})
    assert view.children == ()
