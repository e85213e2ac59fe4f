"""Records to store, and turns until there is no room."""

from preset_engine.errors import StorageFull
from preset_engine.session.protocols import TurnCommit
from preset_engine.session.record import SessionRecord


def user(text):
    """What the user said."""
    return SessionRecord("user", text)


async def fill_up(store, session_id, text=lambda: "x" * 3000):
    """Commit turns until the store is full; gives the number of turns acknowledged."""
    for stored in range(5000):
        turn = TurnCommit([user(f"{stored} {text()}")])
        try:
            await store.commit_turn(session_id, turn)
        except StorageFull as error:
            words = str(error)
            break
    else:
        raise AssertionError("the store was never full")
    assert "no room left" in words
    assert "free space and retry" in words
    assert "\n" not in words
    return stored
