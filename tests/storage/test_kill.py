"""A writer that is killed with -9 at any moment loses no acknowledged turn and leaves none half there."""

import pytest

from tests.torture.kills import torture

pytestmark = pytest.mark.anyio


async def test_a_few_kills_lose_nothing_and_leave_nothing_half(lasting_place):
    outcome = await torture(lasting_place.url, kills=3, seed=7)
    assert outcome.is_good, outcome
    assert outcome.turns >= 3


@pytest.mark.full
async def test_twenty_kills_lose_nothing_and_leave_nothing_half(lasting_place):
    outcome = await torture(lasting_place.url, kills=20, seed=20)
    assert outcome.is_good, outcome
    assert outcome.kills == 20
    assert outcome.turns > 20
    assert outcome.forks > 0
