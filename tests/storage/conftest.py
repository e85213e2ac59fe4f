"""One store of each kind, fresh for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from preset_engine.session.protocols import Store
from preset_engine.storage.open import open_storage
from tests.storage.server import NO_SERVER, postgres_address


@dataclass(frozen=True)
class Place:
    """Where a store lives; opening it again finds what was stored (but for memory)."""

    kind: str
    url: str
    tenant: str

    async def open(self, tenant: str | None = None) -> Store:
        return await open_storage(self.url, tenant or self.tenant)


KINDS = [
    "memory",
    "files",
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.postgres),
]
LASTING = KINDS[1:]


def make_place(kind: str, folder: Path) -> Place:
    tenant = f"test-{uuid4().hex[:12]}"
    if kind == "postgres":
        address = postgres_address()
        if address is None:
            pytest.skip(NO_SERVER)
        return Place(kind, address, tenant)
    urls = {
        "memory": "memory:",
        "files": f"files:{folder / 'store'}",
        "sqlite": f"sqlite:{folder / 'store.db'}",
    }
    return Place(kind, urls[kind], tenant)


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return make_place(request.param, tmp_path)


@pytest.fixture(params=LASTING)
def lasting_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return make_place(request.param, tmp_path)


@pytest.fixture
async def store(place: Place) -> AsyncIterator[Store]:
    opened = await place.open()
    yield opened
    await opened.close()


@pytest.fixture
def postgres_place(tmp_path: Path) -> Place:
    return make_place("postgres", tmp_path)
