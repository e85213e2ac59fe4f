"""Every test named in docs/features.md exists."""

import re

import pytest

from tests.truth import ROOT

ROWS = re.findall(
    r"^\| ([A-Z]+-\d+) \| (.+?) \| (.+?) \|$",
    (ROOT / "docs/features.md").read_text("utf-8"),
    re.MULTILINE,
)


def test_the_table_has_every_feature_once():
    ids = [row[0] for row in ROWS]
    assert len(ids) == 153
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_named_tests_exist(row):
    for name in re.findall(r"`([^`]+)`", row[2]):
        file, _, test = name.partition("::")
        text = (ROOT / "tests" / file).read_text("utf-8")
        assert test, f"{name!r} names no test"
        assert re.search(rf"def {re.escape(test)}\b", text), f"no {test!r} in {file!r}"
