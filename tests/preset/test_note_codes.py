"""The table of note codes is complete, and the page shows it."""

import re

from preset_engine.preset.note_codes import NOTE_KINDS
from tests import truth

SOURCE = truth.ROOT / "preset_engine"


def preset_source() -> str:
    paths = sorted((SOURCE / "preset").glob("*.py"))
    return "".join(path.read_text("utf-8") for path in paths if path.name != "note_codes.py")


def test_every_code_of_the_import_is_used():
    text = preset_source()
    assert [code for code in NOTE_KINDS if f'"{code}"' not in text] == []


def test_every_code_that_is_noted_is_in_the_table():
    calls = re.compile(r'(?:notes|self)\.(?:add|_note)\(\s*"([a-z-]+)"')
    text = "".join(path.read_text("utf-8") for path in (SOURCE / "preset").glob("*.py"))
    assert set(calls.findall(text)) <= set(NOTE_KINDS)


def test_the_page_has_a_row_for_each_code():
    page = (truth.ROOT / "docs/notes.md").read_text("utf-8")
    for code, kind in NOTE_KINDS.items():
        row = re.search(rf"^\| `{code}` \| (\w+) \| (.+?) \| (.*?) \|$", page, re.MULTILINE)
        assert row, f"docs/notes.md has no row for {code!r}"
        assert row.groups() == (kind.weight.value, kind.meaning, kind.advice or "-")


def test_the_page_has_a_row_for_every_note_of_the_package():
    page = (truth.ROOT / "docs/notes.md").read_text("utf-8")
    text = "".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    for code in re.findall(r'\bNote\(\s*(?:code=)?"([a-z_-]+)"', text):
        assert f"`{code}`" in page, f"docs/notes.md has no row for {code!r}"
