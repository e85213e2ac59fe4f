"""`preset-engine import`: statuses, the screen, JSON, and what it writes."""

import json

import pytest
from typer.testing import CliRunner

from preset_engine.cli.app import build
from preset_engine.errors import InputRefused
from tests import truth
from tests.preset.samples import native, preset


def run(*arguments):
    return CliRunner().invoke(build(), ["import", *map(str, arguments)])


@pytest.fixture
def tea(tmp_path):
    path = tmp_path / "tea.json"
    path.write_text(json.dumps(preset(seed=-1)), "utf-8")
    return path


def test_a_preset_with_notes_has_status_0(tea):
    done = run(tea)
    assert done.exit_code == 0
    assert "4 entries" in done.output
    assert "seed" in done.output


def test_a_refused_file_has_status_2_and_one_line(tmp_path):
    path = tmp_path / "mira.json"
    path.write_text('{"spec": "chara_card_v2", "data": {}}', "utf-8")
    done = run(path)
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    assert "character card" in done.output


def test_the_other_files_are_taken_when_one_is_refused(tea, tmp_path):
    done = run(tea, tmp_path / "nowhere.json", "--json")
    assert done.exit_code == 2
    reports = json.loads(done.stdout)
    assert reports[0]["kind"] == "sillytavern"
    assert reports[1]["error"]["type"] == "UnreadableInput"


def test_json_has_kind_preset_notes_and_macros(tea):
    report = json.loads(run(tea, "--json").stdout)
    assert set(report) >= {"file", "kind", "preset", "notes", "diagnostics"}
    assert report["diagnostics"]["macros"][0].keys() == {"name", "known", "count", "first"}
    tokens = report["preset"]["tokens"]
    assert 0 < tokens["enabled"] < tokens["all"]


def test_out_writes_an_equal_file(tea, tmp_path):
    out = tmp_path / "copy.json"
    assert run(tea, "--out", out).exit_code == 0
    assert json.loads(out.read_text("utf-8")) == preset(seed=-1)


def test_to_native_and_back(tea, tmp_path):
    there, back = tmp_path / "native.json", tmp_path / "back.json"
    assert run(tea, "--to", "native", "--out", there).exit_code == 0
    assert json.loads(there.read_text("utf-8"))["promptOrder"]
    assert run(there, "--to", "sillytavern", "--out", back).exit_code == 0
    assert json.loads(back.read_text("utf-8")) == preset(seed=-1)


def test_conversion_notes_are_told(tmp_path):
    path = tmp_path / "native.json"
    path.write_text(json.dumps(native()), "utf-8")
    report = json.loads(run(path, "--to", "sillytavern", "--json").stdout)
    assert {note["code"] for note in report["conversion_notes"]} == {"flags-joined", "mode-crossed"}


def test_a_conversion_without_a_place_says_that_nothing_is_written(tea):
    assert "nothing is written; name a file with --out" in run(tea, "--to", "native").output


def test_the_screen_counts_in_good_english_and_gives_codes_and_advice(tmp_path):
    path = tmp_path / "bare.json"
    items = [{"identifier": "main", "content": "You are {{char}}, {{not known}}."}]
    path.write_text(json.dumps(items), "utf-8")
    text = " ".join(run(path).output.split())
    assert "1 entry, 1 switched on" in text
    assert "none in the file; the default order stands in" in text
    assert "1 known name: char 1; 1 unknown name stays as text" in text
    assert "warning order-missing ($.prompt_order)" in text
    assert "→ Add a prompt_order." in text


def test_several_files_are_written_into_a_folder(tea, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps(preset()), "utf-8")
    out = tmp_path / "out"
    out.mkdir()
    assert run(tea, other, "--out", out).exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["other.json", "tea.json"]


@pytest.mark.parametrize("arguments", [["--to", "other"], ["--out", "."]], ids=["form", "itself"])
def test_a_wrong_wish_is_refused(tea, arguments, monkeypatch):
    monkeypatch.chdir(tea.parent)
    done = run(tea, *arguments)
    assert isinstance(done.exception, InputRefused)


def test_a_terminal_is_not_driven_by_the_file(tmp_path):
    path = tmp_path / "red.json"
    document = preset(name="\x1b[31mred\x1b[0m [bold]x")
    document["prompts"][0]["role"] = "\x1b]0;t\x07"
    path.write_text(json.dumps(document), "utf-8")
    done = run(path)
    assert "\x1b" not in done.output
    assert "[bold]x" in done.output


def test_a_large_preset_fits_a_screen(tmp_path):
    path = tmp_path / "large.json"
    items = [
        {
            "identifier": f"e{i}",
            "name": "",
            "role": "system",
            "content": f"{{{{char}}}} {{{{blank {i}}}}}",
            "enabled": True,
        }
        for i in range(111)
    ]
    order = [{"identifier": f"e{i}", "enabled": i % 3 == 0} for i in range(100)]
    path.write_text(
        json.dumps(preset(prompts=items, prompt_order=[{"character_id": 100001, "order": order}])),
        "utf-8",
    )
    assert run(path).output.count("\n") < 40


@pytest.mark.full
@truth.corpus("presets")
def test_a_real_preset_fits_a_screen(path):
    from rich.console import Console

    from preset_engine.cli import import_screen
    from preset_engine.preset.importer import load_preset
    from preset_engine.tokens import Estimate

    imported = load_preset(path)
    report = imported.to_report(Estimate())
    console = Console(width=100, highlight=False, color_system=None)
    with console.capture() as capture:
        import_screen.print_report(path.name, imported, report, (), console)
    assert capture.get().count("\n") <= 50


def test_files_of_one_name_are_not_written_over_each_other(tea, tmp_path):
    (tmp_path / "b").mkdir()
    twin = tmp_path / "b" / tea.name
    twin.write_text(tea.read_text("utf-8"), "utf-8")
    done = run(tea, twin, "--out", tmp_path / "b")
    assert isinstance(done.exception, InputRefused)
    assert "'tea'" in str(done.exception)


def test_a_file_that_is_not_there_is_named_once(tmp_path):
    assert run(tmp_path / "nowhere.json").output.count("nowhere.json") == 1
