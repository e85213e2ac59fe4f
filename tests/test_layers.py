"""The tree keeps the design's shape."""

import ast
import re
import subprocess
import sys

import pytest

import preset_engine
from tests.truth import ROOT

PACKAGES = sorted(
    path.parent
    for path in (ROOT / "preset_engine").glob("*/__init__.py")
    if not path.parent.name.startswith("_")
)


def test_exported_names_are_sorted_and_exist():
    assert sorted(preset_engine.__all__) == preset_engine.__all__
    for name in preset_engine.__all__:
        assert getattr(preset_engine, name) is not None


def test_importing_the_package_loads_no_heavy_library():
    code = "import sys, preset_engine; print([m for m in ('httpx','tiktoken','jsonschema','duckdb','rich','typer') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_says_where_each_of_its_modules_belongs(package):
    told = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    words = set(re.findall(r"\w+", told))
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    assert modules <= words, f"not in the package's map: {sorted(modules - words)}"
