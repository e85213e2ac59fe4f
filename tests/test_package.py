"""The package as built holds what it needs and runs outside a checkout."""

import os
import subprocess
import sys
import zipfile

import pytest

from tests.truth import ROOT

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The wheel, built from the checkout and unpacked into an empty folder."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    place = folder / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


def test_the_wheel_carries_types_presets_and_no_tests(unpacked):
    assert (unpacked / "preset_engine" / "py.typed").is_file()
    assert list((unpacked / "preset_engine" / "_presets").glob("*.json"))
    assert not (unpacked / "tests").exists()


def test_the_demo_runs_from_the_wheel_alone(unpacked, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "preset_engine", "demo"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
