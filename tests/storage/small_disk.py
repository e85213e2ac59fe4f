"""A real disk with little room: a tmpfs of its own, mounted for one test."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """A folder with so much room; the test skips where mounting is not allowed, with or without sudo."""
    folder = Path(tempfile.mkdtemp(prefix="preset-engine-full-"))
    options = f"size={megabytes}m,mode=777"
    prefix = _run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)])
    if prefix is None:
        folder.rmdir()
        pytest.skip("mounting a small tmpfs is not allowed here")
    try:
        yield folder
    finally:
        subprocess.run([*prefix, "umount", "-l", str(folder)], check=True)
        folder.rmdir()


def _run(command: list[str]) -> list[str] | None:
    """Run the command as it is or by sudo; gives what stood before it when it worked."""
    for prefix in ([], ["sudo", "-n"]):
        try:
            done = subprocess.run([*prefix, *command], capture_output=True, check=False)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return prefix
    return None
