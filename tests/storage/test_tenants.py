"""Another tenant sees and changes nothing through any method; every method of the protocol is walked."""

import inspect

import pytest

from preset_engine.errors import InputRefused, SessionError, SessionNotFound
from preset_engine.session.meta import CompressionSnapshot, FrozenConfig, MetaUpdate
from preset_engine.session.protocols import Store, TurnCommit
from preset_engine.session.record import SessionRecord

pytestmark = pytest.mark.anyio

RECORD = SessionRecord("user", "secret", number=1)

# For every method that takes a session's id: how a stranger calls it.
CALLS = {
    "get_session": lambda s, i: s.get_session(i),
    "append_record": lambda s, i: s.append_record(i, RECORD),
    "append_records": lambda s, i: s.append_records(i, [RECORD]),
    "list_records": lambda s, i: s.list_records(i),
    "replace_record": lambda s, i: s.replace_record(i, RECORD),
    "trim_records": lambda s, i: s.trim_records(i, 0),
    "remove_records_after": lambda s, i: s.remove_records_after(i, 0),
    "commit_turn": lambda s, i: s.commit_turn(i, TurnCommit([RECORD], consumed_insight="secret")),
    "get_system_prompt": lambda s, i: s.get_system_prompt(i),
    "put_system_prompt": lambda s, i: s.put_system_prompt(i, "stolen"),
    "get_insight": lambda s, i: s.get_insight(i),
    "put_insight": lambda s, i: s.put_insight(i, "stolen"),
    "clear_insight": lambda s, i: s.clear_insight(i),
    "get_memory": lambda s, i: s.get_memory(i),
    "put_memory": lambda s, i: s.put_memory(i, "stolen"),
    "get_compression_cache": lambda s, i: s.get_compression_cache(i),
    "put_compression_cache": lambda s, i: s.put_compression_cache(i, CompressionSnapshot("x", 1)),
    "clear_compression_cache": lambda s, i: s.clear_compression_cache(i),
    "get_variables": lambda s, i: s.get_variables(i),
    "put_variables": lambda s, i: s.put_variables(i, {"x": "stolen"}),
    "get_state": lambda s, i: s.get_state(i),
    "put_state": lambda s, i: s.put_state(i, {"x": "stolen"}),
    "get": lambda s, i: s.get(i),
    "get_node": lambda s, i: s.get_node(i),
    "create_session": lambda s, i: s.create_session(parent_id=i),
    "get_ancestors": lambda s, i: s.get_ancestors(i),
    "get_siblings": lambda s, i: s.get_siblings(i),
    "archive": lambda s, i: s.archive(i),
    "add_ref": lambda s, i: s.add_ref(i, i),
    "update_meta": lambda s, i: s.update_meta(i, MetaUpdate(label="stolen")),
    "get_config": lambda s, i: s.get_config(i),
    "put_config": lambda s, i: s.put_config(i, FrozenConfig("stolen")),
    "dump_session": lambda s, i: s.dump_session(i),
    # without an id
    "list_sessions": lambda s, i: s.list_sessions(),
    "list_all": lambda s, i: s.list_all(),
    "list_roots": lambda s, i: s.list_roots(),
    "get_tree": lambda s, i: s.get_tree(),
}
# Methods that make a session under any id, or that are no access to sessions.
OTHERS = {"put_session", "restore_session", "transaction", "tenant", "for_tenant", "close"}
NOTHING = (None, [], {})


async def filled(store):
    root = await store.create_session(label="secret")
    child = await store.create_session(parent_id=root.id)
    other = await store.create_session()
    await store.add_ref(child.id, other.id)
    for id_ in (root.id, child.id):
        await store.append_records(id_, [RECORD, RECORD])
        await store.put_system_prompt(id_, "secret")
        await store.put_insight(id_, "secret")
        await store.put_memory(id_, "secret")
        await store.put_variables(id_, {"x": "secret"})
        await store.put_state(id_, {"x": "secret"})
        await store.put_compression_cache(id_, CompressionSnapshot("secret", 1))
        await store.put_config(id_, FrozenConfig("secret", ()))
    return [root.id, child.id, other.id]


async def snapshot(store):
    return [await store.dump_session(node.id) for node in await store.list_all()]


def test_the_walk_names_every_method_of_the_protocol():
    methods = {name for name, _ in inspect.getmembers(Store) if not name.startswith("_")}
    assert methods == CALLS.keys() | OTHERS


@pytest.mark.parametrize("opened", ["for_tenant", "open"])
async def test_a_stranger_sees_nothing_and_changes_nothing(store, place, opened):
    ids = await filled(store)
    before = await snapshot(store)
    name = f"{place.tenant}-stranger"
    stranger = store.for_tenant(name) if opened == "for_tenant" else await place.open(name)
    assert stranger.tenant == name
    for id_ in ids:
        for method, call in CALLS.items():
            try:
                seen = await call(stranger, id_)
            except SessionNotFound:
                continue
            assert seen in NOTHING, method
    assert await snapshot(store) == before
    assert await stranger.list_sessions() == []
    if opened == "open":
        await stranger.close()


async def test_two_tenants_may_use_the_same_id(store, place):
    (root, *_) = ids = await filled(store)
    before = await snapshot(store)
    stranger = store.for_tenant(f"{place.tenant}-stranger")
    for id_ in ids:
        dump = await store.dump_session(id_)
        assert await stranger.put_session(dump.meta)
        with pytest.raises(SessionError):
            await stranger.create_session(session_id=id_)
    for method, call in CALLS.items():
        if method not in {"add_ref", "archive", "replace_record"}:
            await call(stranger, root)
    await stranger.replace_record(root, (await stranger.append_record(root, RECORD)))
    await stranger.add_ref(root, ids[2])
    await stranger.archive(root)
    assert await snapshot(store) == before


async def test_a_parent_of_another_tenant_is_no_parent(store, place):
    (root, *_) = await filled(store)
    dump = await store.dump_session((await store.get_node(root)).children[0])
    stranger = store.for_tenant(f"{place.tenant}-stranger")
    with pytest.raises(SessionNotFound):
        await stranger.restore_session(dump)
    assert await stranger.list_all() == []


@pytest.mark.parametrize("name", ["", "a\x00b", "x" * 201, "\udc00"])
async def test_a_strange_tenant_is_refused(store, place, name):
    with pytest.raises(InputRefused, match="tenant"):
        store.for_tenant(name)
    if name:
        with pytest.raises(InputRefused, match="tenant"):
            await place.open(name)


async def test_tenants_with_names_like_paths_stay_apart(lasting_place):
    names = [
        f"{lasting_place.tenant}{end}" for end in ("/..", "/../x", ".", "..", "%2E", "~", "名")
    ]
    store = await lasting_place.open()
    for name in names:
        await store.for_tenant(name).create_session(label=name)
    for name in names:
        assert [meta.label for meta in await store.for_tenant(name).list_sessions()] == [name]
    await store.close()
