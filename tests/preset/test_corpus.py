"""Files of the corpus: presets come back equal, faults are named, wrong kinds are refused by name."""

import json
import re
import subprocess
import sys

import pytest

from preset_engine.errors import PresetEngineError, WrongKind
from preset_engine.preset.exporter import export_preset
from preset_engine.preset.importer import load_preset
from tests import truth
from tests.preset.samples import attempt

# Which notes or refusals a kind of fault may have. The kind is the head of the fault's name in the manifest
# ("param-top_k-string" is a fault of a parameter); the first pattern that fits decides.
FAULT_NAMES: tuple[tuple[str, str], ...] = (
    (r"bom", r"byte-order-mark|text-encoding"),
    (r"utf16|utf32|gbk|big5|shift|cp125|latin|encoding", r"text-encoding"),
    (r"comment-", r"comments"),
    (r"trailing-comma", r"trailing-comma"),
    (r"concatenated|jsonl", r"second-document"),
    (r"control-char", r"control-characters"),
    (r"crlf|cr-", r"carriage-returns"),
    (r"double-encoded", r"double-encoded"),
    (r"duplicate-key", r"duplicate-key"),
    (r"enabled-disagrees", r"flag-against-order"),
    (r"exponent", r"parameter-not-whole"),
    (r"extensions", r"extensions-odd"),
    (r"forbid-overrides|marker-null|marker-string|system-prompt-string", r"flag-not-boolean"),
    (r"injection-depth", r"injection-depth-(odd|large)"),
    (r"injection-order", r"injection-order-odd"),
    (r"injection-position", r"injection-position-odd"),
    (r"injection-trigger", r"trigger-(odd|unknown)"),
    (r".*nul-padding", r"padding"),
    (r"lone-surrogate|nul-", r"bad-characters"),
    (r"macro", r"macro-.*|.*braces.*|legacy-tags|template-code|variable-.*|identifier-macro|census"),
    (r"markdown-fence|.*fence", r"code-fence"),
    (r"marker", r"marker-(unknown|with-text|flag-missing)"),
    (r"mojibake", r"lost-quotes|json-repaired|name-odd"),
    (r"name-missing|name-empty|name-null|name-number", r"name-missing"),
    (r"name", r"name-odd|name-missing|census"),
    (r"nan|infinity", r"not-a-number"),
    (r"order-100000-and", r"several-orders"),
    (r"order-chatHistory", r"history-(off|missing)"),
    (r"order-enabled", r"order-flag-odd"),
    (r"order-ghost", r"order-ghost"),
    (r"order-(mixed|flat)", r"order-flat"),
    (r"order-no-main|order-main", r"main-(off|not-listed)"),
    (r"order-(null|missing|empty)", r"order-(missing|odd)|entry-not-listed"),
    (r"order-prompt-not-listed", r"entry-not-listed"),
    (r"order-strings", r"order-item-text"),
    (r"order-dup", r"order-double"),
    (r"order", r"order-.*|character-id-odd|several-orders|history-.*|main-.*|entry-not-listed"),
    (r"params?", r"parameter.*|seed-unset|effort-not-read|setting-odd"),
    (r"prompt-content-whitespace|prompt-content-empty", r"blank-content"),
    (r"prompt-content", r"content-.*"),
    (r"prompt-duplicate", r"duplicate-identifier"),
    (r"prompt-identifier", r"identifier-.*|census"),
    (r"prompts-string|prompts-null-entry|prompts-number", r"entry-not-object"),
    (r"prompts-dict|prompts-object", r"prompts-not-list"),
    (r"prompts", r"prompts-.*|entry-not-object"),
    (r"prose|trailing-garbage|leading-garbage", r"text-around"),
    (r"raw-", r"unescaped-characters"),
    (r"regex", r"regex-.*"),
    (r"role", r"role-.*"),
    (r"single-quotes|python", r"single-quotes|foreign-words"),
    (r"smart-quotes", r"curly-quotes"),
    (r"system-prompt", r"custom-system-prompt|flag-not-boolean"),
    (r"truncated", r"truncated|json-repaired|lost-quotes"),
    (r"unknown-prompt-keys", r"entry-keys-unknown"),
    (r"unknown", r"census|.*unknown.*"),
    (r"zero-width|nbsp", r"invisible-characters|census"),
)  # fmt: skip


@truth.corpus("presets")
def test_a_real_preset_is_taken_and_comes_back_equal(path):
    data = path.read_bytes()
    imported = load_preset(path)
    document = export_preset(imported.preset).document
    original = json.loads(data.decode("utf-8-sig"), strict=False)
    assert document == original
    assert json.dumps(document) == json.dumps(original)  # the order of keys too
    assert imported.preset.prompts
    json.dumps(imported.to_report())


@pytest.mark.full
def test_every_process_gives_the_same_reports():
    folder = truth.folder("corpus") / "presets"
    if not folder.is_dir():
        pytest.skip("the folder of PRESET_ENGINE_CORPUS is absent")
    code = (
        "import json, sys; from pathlib import Path; from preset_engine import load_preset\n"
        "for path in sorted(Path(sys.argv[1]).iterdir()): print(json.dumps(load_preset(path).to_report()))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, str(folder)],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(truth.ROOT)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "77")
    ]
    assert runs[0] == runs[1]


@truth.corpus("faults")
def test_a_fault_is_named(path):
    kind = path.stem
    expected = next((codes for head, codes in FAULT_NAMES if re.match(head, kind)), ".*")
    imported = attempt(path)
    if isinstance(imported, PresetEngineError):
        return
    found = {note.code for note in imported.notes}
    if imported.diagnostics.macros:
        found.add("census")  # a macro form that is no fault: the census names it
    assert any(re.fullmatch(expected, code) for code in found), (kind, found)


@truth.corpus("wrong_kind")
def test_a_wrong_kind_is_refused_by_name_or_its_preset_taken(path):
    _refused_or_taken(path, may_hold_preset=True)


@truth.corpus("cards")
def test_a_character_card_is_refused_by_name(path):
    _refused_or_taken(path, may_hold_preset=False)


@truth.corpus("worldbooks")
def test_a_world_book_is_refused_by_name(path):
    _refused_or_taken(path, may_hold_preset=False)


@truth.corpus("chats")
def test_a_chat_is_refused_by_name(path):
    _refused_or_taken(path, may_hold_preset=False)


@truth.corpus("regex")
def test_a_regex_script_is_refused_by_name(path):
    _refused_or_taken(path, may_hold_preset=False)


def _refused_or_taken(path, *, may_hold_preset):
    imported = attempt(path)
    if isinstance(imported, WrongKind):
        assert imported.kind not in ("", "unknown"), str(imported)
        return
    assert not isinstance(imported, PresetEngineError), str(imported)
    assert may_hold_preset, path.name
    assert imported.diagnostics.form in ("settings", "manager_export", "old", "prompt_list")
    assert imported.notes
