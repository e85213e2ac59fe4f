import io
import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from preset_engine.cli.app import build
from preset_engine.cli.content_files import ContentFiles, gather_content
from preset_engine.cli.probe_screen import probe_screen
from preset_engine.cli.probing import Wish, probe_turn
from preset_engine.compile.turn import compile_turn
from preset_engine.context import Context
from preset_engine.dialect import Dialect
from preset_engine.errors import InputRefused
from preset_engine.preset.importer import load_preset
from tests import truth
from tests.truth import ROOT

PRESETS = sorted((ROOT / "presets").glob("*.json"))
PLAIN = str(ROOT / "presets/plain-page.json")
LARGE = str(ROOT / "presets/bai-men.json")
FIXED = Context()


def run(*arguments):
    result = CliRunner().invoke(build(), ["probe", *map(str, arguments)], env={"COLUMNS": "100"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return result.stdout


def run_json(*arguments):
    return json.loads(run(*arguments, "--json", "--fixed"))


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return path


def screen(view, width=100, *, full=False):
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(probe_screen(view, full=full))
    return console.file.getvalue()


def probed(path, dialect=Dialect.native, **content):
    imported = load_preset(path)
    files = ContentFiles(**content)
    given = gather_content(files, imported.preset, dialect)
    return probe_turn(imported.preset, given, Wish(dialect, None, FIXED), imported.notes)


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_a_probe_shows_the_messages_of_compile_turn(path, dialect):
    preset = load_preset(path).preset
    content = gather_content(ContentFiles(), preset, dialect).content
    turn = compile_turn(preset, content, dialect=dialect, context=FIXED)
    shown = run_json(path, "--dialect", dialect.value)
    assert shown["messages"] == [message.to_json() for message in turn.messages]


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_the_pieces_of_a_message_join_to_its_text(path):
    for message in probed(path).messages:
        assert "".join(piece.text for piece in message.pieces) == message.message.text


def test_raw_prints_the_request_body_and_nothing_else():
    body = json.loads(run(PLAIN, "--raw", "--fixed"))
    shown = run_json(PLAIN)
    assert body == {**shown["params"], "messages": shown["messages"]}
    assert {"temperature", "max_tokens", "messages"} <= set(body)


def test_a_file_alone_shows_something_true():
    text = run(PLAIN)
    assert "filled with built-in samples: card, persona, blocks, history, turn" in text
    for wanted in ("Main Prompt", "You are Mira, in a conversation with Noa.", "stable up to here"):
        assert wanted in text


def test_a_chinese_preset_gets_chinese_samples():
    assert "米拉" in run(ROOT / "presets/shuo-shu-ren.json")


def test_a_probe_stores_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = write(tmp_path / "content.json", {"turn": "Hi", "variables": {"n": "7"}})
    preset = tmp_path / "preset.json"
    preset.write_bytes((ROOT / "presets/weather-vane.json").read_bytes())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    run(preset, "--content", content, "--dialect", "sillytavern")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@truth.cases("probe")
def test_fault_reports_about_looking_at_a_prompt(row, tmp_path):
    given, wanted = row["input"], row["expected"]
    preset = write(tmp_path / "preset.json", given["preset"])
    content = {
        "history": given.get("history", []),
        "variables": given.get("variables", {}),
        **given.get("macros", {}),
    }
    file = write(tmp_path / "content.json", content)
    shown = run_json(preset, "--content", file, "--dialect", given.get("dialect", "sillytavern"))
    assert shown["messages"] == wanted["messages"]
    if "variables_after_probe" in wanted:
        kept = json.loads(file.read_text("utf-8"))["variables"]
        assert kept == wanted["variables_after_probe"]


def test_content_fills_the_holes_and_leaves_no_sample(tmp_path):
    content = {
        "before": [{"title": "Here", "body": "A pier."}, "Bare."],
        "history": [{"role": "assistant", "content": "Ahoy."}],
        "turn": "Who is there?",
        "char": "Ada",
        "user": "Lin",
    }
    shown = run_json(PLAIN, "--content", write(tmp_path / "c.json", content))
    texts = "\n".join(message["content"] for message in shown["messages"])
    assert shown["samples"] == []
    for wanted in (
        "You are Ada, in a conversation with Lin.",
        "### Here",
        "A pier.",
        "Bare.",
        "Ahoy.",
    ):
        assert texts.count(wanted) == 1
    assert "Mira" not in texts


def test_each_file_takes_the_place_of_its_part(tmp_path):
    card = write(tmp_path / "card.json", {"spec": "chara_card_v2", "data": {"name": "Ada"}})
    chat = tmp_path / "chat.jsonl"
    lines = [
        {"user_name": "Lin", "character_name": "Ada", "chat_metadata": {}},
        {"name": "Ada", "is_user": False, "mes": "Welcome, {{user}}."},
    ]
    chat.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    persona = tmp_path / "persona.txt"
    persona.write_text("A surveyor.", "utf-8")
    shown = run_json(
        PLAIN, "--card", card, "--chat", chat, "--persona", persona, "--turn", "Good evening."
    )  # fmt: skip
    texts = [message["content"] for message in shown["messages"]]
    assert shown["samples"] == ["blocks"]
    assert texts[0].startswith("You are Ada")
    assert any("A surveyor." in text for text in texts)
    assert any("Welcome, " in text for text in texts)
    assert any("Good evening." in text for text in texts)


def test_a_shaping_given_by_the_caller_wins():
    strict, none = (run_json(PLAIN, "--squash", mode) for mode in ("single", "none"))
    assert len(strict["messages"]) < len(none["messages"])
    assert none["shaping"] == "none"


def test_unknown_names_are_refused_in_one_line(tmp_path):
    with pytest.raises(InputRefused, match="'klingon': use native or sillytavern"):
        run(PLAIN, "--dialect", "klingon")
    with pytest.raises(InputRefused, match="'histroy'"):
        run(PLAIN, "--content", write(tmp_path / "c.json", {"histroy": []}))
    with pytest.raises(InputRefused, match="cannot be read"):
        run(PLAIN, "--card", tmp_path / "none.json")


def test_a_hundred_entries_stay_readable_and_full_shows_all(tmp_path):
    assert run(LARGE).count("\n") < 260
    body = json.loads((ROOT / "presets/bai-men.json").read_text("utf-8"))
    for entry in body["prompts"]:
        entry["content"] = "\n".join([entry.get("content", "")] * 40 + ["The end."])
    view = probed(write(tmp_path / "long.json", body))
    short, full = screen(view), screen(view, full=True)
    assert short.count("\n") < 400
    assert "more characters" in short
    assert "more characters" not in full
    assert full.count("The end.") >= 40


def test_the_middle_of_a_long_history_is_folded(tmp_path):
    roles = ("assistant", "user")
    history = [{"role": roles[i % 2], "content": f"Number {i}."} for i in range(400)]
    file = write(tmp_path / "c.json", {"history": history, "turn": "And?"})
    view = probed(PLAIN, content=file)
    assert "394 messages of the history" in screen(view)
    assert "Number 200." not in screen(view)
    assert "Number 200." in screen(view, full=True)
    assert len(view.messages) > 400


def test_tool_calls_and_pictures_are_named(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "count", "arguments": "{}"}}
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    loop = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "three"},
    ]
    history = [{"role": "user", "content": [{"type": "text", "text": "Look"}, picture]}]
    file = write(tmp_path / "c.json", {"history": history, "turn": "And?", "tail": loop})
    text = screen(probed(PLAIN, content=file))
    for wanted in ("parts: text, image_url", "calls count", "answers c1", "tail[1]"):
        assert wanted in text


def test_nothing_in_a_text_can_steer_the_terminal(tmp_path):
    nasty = "\x1b[2J\x1b]0;owned\x07 [bold red]x[/] \u202eright\u202c \x9b1m"
    content = {"history": [{"role": "user", "content": nasty}], "turn": nasty, "char": nasty}
    text = screen(probed(PLAIN, content=write(tmp_path / "c.json", content)))
    assert not set(text) & {"\x1b", "\x07", "\u202e", "\x9b"}
    assert "[bold red]x[/]" in text


@pytest.mark.parametrize("width", [20, 60, 200])
def test_every_width_will_do(width):
    lines = screen(probed(LARGE), width).split("\n")
    console = Console(width=width)
    assert max(console.render_str(line, markup=False).cell_len for line in lines) <= width


def test_the_plan_says_which_entry_made_which_piece():
    shown = run_json(ROOT / "presets/three-voices.json")
    names = [piece["name"] for message in shown["plan"] for piece in message["pieces"]]
    for wanted in ("Main Prompt", "Depth 4: time", "Depth 0: pace"):
        assert wanted in names
    assert shown["stable_prefix"]["breaker"] is not None
    assert 0 < shown["stable_prefix"]["tokens"] < shown["tokens"]
    assert [source["tokens"] for source in shown["sources"]] == sorted(
        (source["tokens"] for source in shown["sources"]), reverse=True
    )


def test_entries_that_send_nothing_are_named():
    assert "Settings (write only)" in run_json(ROOT / "presets/weather-vane.json")["silent_entries"]
