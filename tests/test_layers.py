"""The tree keeps the design's shape."""

import subprocess
import sys

import preset_engine


def test_exported_names_are_sorted_and_exist():
    assert sorted(preset_engine.__all__) == preset_engine.__all__
    for name in preset_engine.__all__:
        assert getattr(preset_engine, name) is not None


def test_importing_the_package_loads_no_heavy_library():
    code = "import sys, preset_engine; print([m for m in ('httpx','tiktoken','jsonschema','duckdb','rich','typer') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
