"""The first page of the documentation leads to every other."""

from tests.truth import ROOT


def test_the_index_leads_to_every_page_and_schema():
    index = (ROOT / "docs/index.md").read_text("utf-8")
    pages = [
        path for pattern in ("*.md", "schema/*.json") for path in (ROOT / "docs").glob(pattern)
    ]
    missing = [path.name for path in pages if f"{path.name})" not in index and path.stem != "index"]
    assert missing == []
