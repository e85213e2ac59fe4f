import pytest

from preset_engine.storage.open import open_storage


@pytest.fixture
async def store(anyio_backend):
    store = await open_storage("memory:")
    yield store
    await store.close()
