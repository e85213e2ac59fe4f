"""A process of the crowd: several tasks that commit turns to sessions that others write too.

Started as `python -m tests.storage.crowd URL TENANT NAME TASKS TURNS SESSIONS`; every task goes round the sessions.
With one session all writers meet in it; each retries when another was first, as the engine does.
"""

import asyncio
import sys

from preset_engine.errors import SessionChanged
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import SessionRecord
from preset_engine.storage.open import open_storage


async def write(store, name, turns, sessions):
    for at in range(turns):
        session = sessions[(at * 7 + hash_of(name)) % len(sessions)]
        text = f"{name}.{at}"
        records = [SessionRecord("user", text), SessionRecord("assistant", text)]
        while True:
            meta = await store.get(session)
            try:
                turn = TurnCommit(records, expected_version=meta.version)
                await store.commit_turn(session, turn)
            except SessionChanged:
                continue
            break
    await store.create_session(parent_id=sessions[0], label=name)


def hash_of(name):
    return sum(map(ord, name))


async def main(url, tenant, name, tasks, turns, sessions):
    store = await open_storage(url, tenant)
    ids = [f"s{at}" for at in range(int(sessions))]
    await asyncio.gather(
        *(write(store, f"{name}-{task}", int(turns), ids) for task in range(int(tasks)))
    )
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
