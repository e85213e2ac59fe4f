"""A process that commits turns and acknowledges each on standard output, until it is killed.

One turn is a user record, an assistant record with a call, its tool record and the closing assistant record, with
variables, the clearing of the insight and the turn count; every eighth turn a fork with copied records is made
in one transaction. A line is written only after the store has returned.
"""

from __future__ import annotations

import asyncio
import sys

from preset_engine.llm.request import ToolCall
from preset_engine.session.meta import FrozenConfig
from preset_engine.session.protocols import Store, TurnCommit
from preset_engine.session.record import SessionRecord
from preset_engine.storage.open import open_storage

SESSION = "tortured"
RECORDS_IN_TURN = 4


def turn_records(name: str) -> list[SessionRecord]:
    filler = "." * (sum(map(ord, name)) % 1500)
    return [
        SessionRecord("user", f"{name} {filler}"),
        SessionRecord("assistant", name, tool_calls=(ToolCall(name, "look", {"at": name}),)),
        SessionRecord("tool", name, tool_call_id=name),
        SessionRecord("assistant", f"{name} {filler}"),
    ]


async def fork(store: Store, name: str) -> None:
    async def work(inner: Store) -> None:
        child = await inner.create_session(
            parent_id=SESSION, session_id=f"fork-{name}", source_session_id=SESSION
        )
        await inner.put_config(child.id, FrozenConfig(name, ()))
        await inner.append_records(child.id, turn_records(name))
        await inner.put_system_prompt(child.id, name)

    await store.transaction(work)


async def main(url: str, tenant: str, prefix: str) -> None:
    store = await open_storage(url, tenant)
    print("ready", flush=True)
    for at in range(1_000_000):
        name = f"{prefix}.{at}"
        insight = f"insight {name}"
        await store.put_insight(SESSION, insight)
        meta = await store.get(SESSION)
        assert meta is not None
        turn = TurnCommit(
            turn_records(name),
            expected_version=meta.version,
            consumed_insight=insight,
            variables={"last": name},
        )
        await store.commit_turn(SESSION, turn)
        print(f"turn {name}", flush=True)
        if at % 8 == 7:
            await fork(store, name)
            print(f"fork {name}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
