"""`python -m tests.torture --kills 200`: writers killed with -9 on each lasting back end."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.storage.server import NO_SERVER, postgres_address
from tests.torture.kills import torture


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="kills for each back end")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments")
    parser.add_argument("--only", choices=["files", "sqlite", "postgres"], help="one back end")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="preset-engine-torture-") as folder:
        addresses = {
            "files": f"files:{Path(folder) / 'files'}",
            "sqlite": f"sqlite:{Path(folder) / 'store.db'}",
            "postgres": postgres_address() if options.only in {None, "postgres"} else None,
        }
        for kind, url in addresses.items():
            if options.only not in {None, kind}:
                continue
            if url is None:
                print(f"{kind}: skipped, {NO_SERVER}")
                continue
            start = time.monotonic()
            outcome = asyncio.run(torture(url, options.kills, options.seed))
            good = good and outcome.is_good
            print(
                f"{kind}: {outcome.kills} kills, {outcome.turns} turns and {outcome.forks} forks acknowledged, "
                f"{len(outcome.lost)} lost, {len(outcome.broken)} half there, "
                f"{outcome.unacknowledged} stored without an acknowledgement, {time.monotonic() - start:.0f} s",
                flush=True,
            )
            for line in [*outcome.lost, *outcome.broken][:20]:
                print(f"  {line}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
