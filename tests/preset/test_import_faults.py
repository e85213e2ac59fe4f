"""Every damage of our own list is taken with the note that names it, or refused with its kind."""

import gzip
import json
import subprocess
import sys
import zlib

import pytest

from preset_engine.errors import InputTooLarge, PresetEngineError, UnreadableInput, WrongKind
from preset_engine.preset.importer import load_preset
from tests.preset.samples import codes, entry, native, preset, without

TEXT = json.dumps(preset(), ensure_ascii=False, indent=4)


def with_order(value):
    return preset(prompt_order=value)


def text(change):
    return change.encode("utf-8")


DAMAGED = {
    "utf-8 with mark": (b"\xef\xbb\xbf" + TEXT.encode(), "byte-order-mark"),
    "utf-16 with mark": (TEXT.encode("utf-16"), "text-encoding"),
    "utf-16 without mark": (TEXT.encode("utf-16-be"), "text-encoding"),
    "utf-32": (TEXT.encode("utf-32"), "text-encoding"),
    "gbk": (TEXT.replace("calm tone", "语气平静，慢慢讲故事").encode("gbk"), "text-encoding"),
    "cp1252": (TEXT.replace("Keep a", "It’s a café:").encode("cp1252"), "text-encoding"),
    "cp1252 in utf-8": (
        TEXT.replace("Keep", "茶室—茶").encode().replace(b"calm", b"c\x92lm", 1),
        "text-encoding",
    ),
    "padding": (b"\0\0\0" + TEXT.encode() + b"\0", "padding"),
    "control characters": (TEXT.replace("calm", "c\x1alm").encode(), "control-characters"),
    "raw line break": (TEXT.replace("Keep a", "Keep\na").encode(), "unescaped-characters"),
    "half surrogate": (TEXT.replace("Keep", "\\ud83d Keep").encode(), "bad-characters"),
    "escaped NUL": (TEXT.replace("Keep", "\\u0000Keep").encode(), "bad-characters"),
    "line comment": (TEXT.replace('"top_p"', '// less\n"top_p"').encode(), "comments"),
    "block comment": (TEXT.replace('"top_p"', '/* "a": [ */ "top_p"').encode(), "comments"),
    "trailing comma": (TEXT.replace("}\n    ],", "},\n    ],", 1).encode(), "trailing-comma"),
    "code fence": (f"```json\n{TEXT}\n```\n".encode(), "code-fence"),
    "words around": (f"Here it is:\n{TEXT}\nEnjoy".encode(), "text-around"),
    "twice": ((TEXT + "\n" + TEXT).encode(), "second-document"),
    "python": (repr(preset()).encode(), "single-quotes"),
    "python words": (TEXT.replace("true", "True").encode(), "foreign-words"),
    "curly quotes": (TEXT.replace('"top_p"', "“top_p”").encode(), "curly-quotes"),
    "double encoded": (json.dumps(TEXT).encode(), "double-encoded"),
    "cut in a text": (TEXT[: TEXT.index("Remember") + 4].encode(), "truncated"),
    "cut before the end": (TEXT[:-2].encode(), "truncated"),
    "lost quote": (TEXT.replace('"Tone",', 'Tone",').encode(), "lost-quotes"),
    "bare quotes": (TEXT.replace("calm tone", 'calm "low" tone').encode(), "lost-quotes"),
    "missing comma": (TEXT.replace('"top_p": 0.9,', '"top_p": 0.9').encode(), "json-repaired"),
    "loose number": (TEXT.replace("0.8", "+.8").encode(), "number-form"),
    "comma too much": (TEXT.replace("0.9,", "0.9,,").encode(), "trailing-comma"),
    "wrapped in a list": ([preset()], "wrapped"),
    "wrapped in an object": ({"preset": preset()}, "wrapped"),
    "encoded three times": (json.dumps(json.dumps(TEXT)).encode(), "double-encoded"),
    "double key": (TEXT.replace('"top_p"', '"temperature"').encode(), "duplicate-key"),
    "NaN": (TEXT.replace("0.8", "NaN").encode(), "not-a-number"),
    "beyond range": (TEXT.replace("0.8", "1e999").encode(), "not-a-number"),
    "entry is a text": (preset(prompts=["x", *preset()["prompts"]]), "entry-not-object"),
    "prompts are an object": (preset(prompts={"main": preset()["prompts"][0]}), "prompts-not-list"),
    "prompts are null": (preset(prompts=None), "prompts-missing"),
    "no identifier": (without(1, "identifier"), "identifier-missing"),
    "identifier is a number": (entry(1, identifier=7), "identifier-not-text"),
    "identifier with spaces": (entry(1, identifier=" tone "), "identifier-spaces"),
    "identifier with braces": (entry(1, identifier="{{char}}"), "identifier-macro"),
    "case twins": (entry(1, identifier="MAIN"), "identifier-twins"),
    "same identifier": (entry(1, identifier="main"), "duplicate-identifier"),
    "no name": (without(1, "name"), "name-missing"),
    "odd name": (entry(1, name="To\u200bne"), "name-odd"),
    "no role": (without(1, "role"), "role-missing"),
    "foreign role": (entry(1, role="model"), "role-unknown"),
    "role is a number": (entry(1, role=3), "role-unknown"),
    "no content": (without(1, "content"), "content-missing"),
    "content is a number": (entry(1, content=5), "content-not-text"),
    "content is parts": (entry(1, content=[{"type": "text", "text": "a"}]), "content-not-text"),
    "blank content": (entry(0, content=" \n"), "blank-content"),
    "flag is a text": (entry(1, marker="false"), "flag-not-boolean"),
    "flag is null": (entry(1, forbid_overrides=None), "flag-not-boolean"),
    "position is a text": (entry(2, injection_position="1"), "injection-position-odd"),
    "position is two": (entry(2, injection_position=2), "injection-position-odd"),
    "depth is a half": (entry(2, injection_depth=1.5), "injection-depth-odd"),
    "depth is negative": (entry(2, injection_depth=-1), "injection-depth-odd"),
    "depth is a flag": (entry(2, injection_depth=True), "injection-depth-odd"),
    "depth is large": (entry(2, injection_depth=9999), "injection-depth-large"),
    "order is a text": (entry(2, injection_order="50"), "injection-order-odd"),
    "trigger is a text": (entry(2, injection_trigger="swipe"), "trigger-odd"),
    "trigger is mixed": (entry(2, injection_trigger=["swipe", 1]), "trigger-odd"),
    "trigger is unknown": (entry(2, injection_trigger=["later"]), "trigger-unknown"),
    "custom system prompt": (entry(1, system_prompt=True), "custom-system-prompt"),
    "marker on a custom entry": (entry(1, marker=True), "marker-unknown"),
    "marker with text": (entry(3, content="x"), "marker-with-text"),
    "marker without flag": (without(3, "marker"), "marker-flag-missing"),
    "foreign field": (entry(1, orderIndex=3), "entry-keys-unknown"),
    "zero width": (entry(1, content="a\u200bb"), "invisible-characters"),
    "carriage return": (entry(1, content="a\r\nb"), "carriage-returns"),
    "extension settings": (entry(1, identifier="SPresetSettings"), "settings-entry"),
    "no order": (with_order(None), "order-missing"),
    "order is an object": (with_order({"100001": [{"identifier": "main", "enabled": True}]}), "order-odd"),
    "order is a number": (with_order(3), "order-odd"),
    "order is flat": (with_order([{"identifier": "main", "enabled": True}]), "order-flat"),
    "order is identifiers": (with_order(["main"]), "order-item-text"),
    "order flag is a number": (
        with_order([{"character_id": 100001, "order": [{"identifier": "main", "enabled": 1}]}]),
        "order-flag-odd",
    ),
    "order lists twice": (
        with_order([{"character_id": 100001, "order": [{"identifier": "main", "enabled": True}] * 2}]),
        "order-double",
    ),
    "order names a ghost": (
        with_order([{"character_id": 100001, "order": [{"identifier": "gone", "enabled": True}]}]),
        "order-ghost",
    ),
    "only an old list": (
        with_order([{"character_id": 100000, "order": [{"identifier": "main", "enabled": True}]}]),
        "order-not-current",
    ),
    "identity is a text": (
        with_order([{"character_id": "100001", "order": [{"identifier": "main", "enabled": True}]}]),
        "character-id-odd",
    ),
    "several lists": (with_order([*preset()["prompt_order"], {"character_id": 1, "order": []}]), "several-orders"),
    "better old list": (
        with_order(
            [
                {"character_id": 100001, "order": []},
                {"character_id": 1, "order": [{"identifier": "main", "enabled": True}]},
            ]
        ),
        "order-choice-differs",
    ),
    "unlisted entry": (
        with_order([{"character_id": 100001, "order": [{"identifier": "main", "enabled": True}]}]),
        "entry-not-listed",
    ),
    "flag against order": (entry(1, enabled=True), "flag-against-order"),
    "main off": (
        with_order([{"character_id": 100001, "order": [{"identifier": "main", "enabled": False}]}]),
        "main-off",
    ),
    "main not listed": (
        with_order([{"character_id": 100001, "order": [{"identifier": "tone", "enabled": True}]}]),
        "main-not-listed",
    ),
    "history off": (
        with_order([{"character_id": 100001, "order": [{"identifier": "chatHistory", "enabled": False}]}]),
        "history-off",
    ),
    "history missing": (
        with_order([{"character_id": 100001, "order": [{"identifier": "main", "enabled": True}]}]),
        "history-missing",
    ),
    "number as text": (preset(temperature="1.10"), "parameter-text"),
    "comma number": (preset(temperature="1,1"), "parameter-text"),
    "empty number": (preset(top_p=""), "parameter-empty"),
    "null number": (preset(top_p=None), "parameter-null"),
    "word for a number": (preset(top_p="high"), "parameter-unreadable"),
    "list for a number": (preset(top_p=[1]), "parameter-unreadable"),
    "too hot": (preset(temperature=3), "parameter-range"),
    "off by minus one": (preset(top_k=-1), "parameter-off"),
    "no seed": (preset(seed=-1), "seed-unset"),
    "old parameter name": (preset(pres_pen_openai="0.1"), "parameter-old-name"),
    "fraction": (preset(openai_max_tokens=600.0), "parameter-not-whole"),
    "effort": (preset(reasoning_effort="high"), "effort-not-read"),
    "no parameters": ({"prompts": preset()["prompts"], "prompt_order": []}, "parameters-missing"),
    "setting of a wrong type": (preset(names_behavior="2"), "setting-odd"),
    "switch as a text": (preset(squash_system_messages="yes"), "setting-odd"),
    "format without a place": (preset(wi_format="[lore]"), "wi-format-without-place"),
    "no source": ({"prompts": preset()["prompts"], "temperature": 1}, "source-missing"),
    "private address": (preset(reverse_proxy="https://h"), "private-data"),
    "extensions are a text": (preset(extensions="{}"), "extensions-odd"),
    "foreign extension": (preset(extensions={"helper": {"a": 1}}), "extensions-not-run"),
    "regex scripts": (preset(extensions={"regex_scripts": [{"findRegex": "/x/g"}]}), "regex-scripts"),
    "regex scripts by key": (preset(extensions={"regex_scripts": {"a": {"findRegex": "/x/g"}}}), "regex-not-list"),
    "regex without pattern": (preset(extensions={"regex_scripts": [{"findRegex": ""}]}), "regex-empty"),
    "regex that is none": (preset(extensions={"regex_scripts": [{"findRegex": "/(/g"}]}), "regex-invalid"),
    "regex with odd flags": (preset(extensions={"regex_scripts": [{"findRegex": "/a/gg"}]}), "regex-invalid"),
    "regex without slashes": (preset(extensions={"regex_scripts": [{"findRegex": "x"}]}), "regex-without-slashes"),
    "regex without fields": (preset(extensions={"regex_scripts": [{"findRegex": "/x/"}]}), "regex-incomplete"),
    "unknown macro": (entry(0, content="{{weather here}}"), "macro-unknown"),
    "open braces": (entry(0, content="{{char"), "braces-unbalanced"),
    "single braces": (entry(0, content="{user}"), "single-braces"),
    "old tags": (entry(0, content="<USER>"), "legacy-tags"),
    "template code": (entry(0, content="<% if (1) { %>"), "template-code"),
    "unset variable": (entry(0, content="{{getvar::mood}}"), "variable-not-set"),
    "early variable": (
        entry(0, content="{{getvar::mood}}{{setvar::mood::calm}}"),
        "variable-read-early",
    ),
    "variable twins": (entry(0, content="{{setvar::Mood::1}}{{setvar::mood::2}}"), "variable-name-odd"),
    "setting is null": (preset(wi_format=None), "setting-odd"),
    "no value": (entry(0, content="{{setvar::mood}}"), "macro-arguments"),
    "no options": (entry(0, content="{{random::}}"), "macro-arguments"),
    "open block": (entry(0, content="{{if 1}}a"), "macro-block"),
    "flagged macro": (entry(0, content="{{#user}}"), "macro-flags"),
    "escaped braces": (entry(0, content="\\{\\{user\\}\\}"), "macro-escaped"),
    "wide colon": (entry(0, content="{{setvar：：a：：b}}"), "macro-wide-colon"),
    "macro in a comment": (entry(0, content="<!-- {{setvar::a::b}} -->"), "macro-in-comment"),
    "schema": (native(promptOrder=[{"promptId": 3}]), "schema-fault"),
    "unknown mode": (native(messagePolicy={"squash": "flat"}), "squash-unknown"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "code"), DAMAGED.values(), ids=DAMAGED)
def test_damage_is_taken_with_the_note_that_names_it(source, code):
    imported = load_preset(source)
    assert code in codes(imported)
    note = next(note for note in imported.notes if note.code == code)
    assert note.message
    assert "\n" not in note.message


REFUSED = {
    "nothing": (b"", UnreadableInput, ""),
    "blanks": (b" \n\0", UnreadableInput, ""),
    "words": (b"404: Not Found", UnreadableInput, ""),
    "noise": (bytes(range(128, 256)) * 40, UnreadableInput, ""),
    "null": (b"null", UnreadableInput, ""),
    "number": (b"5", UnreadableInput, ""),
    "empty list": (b"[]", UnreadableInput, ""),
    "empty object": (b"{}", UnreadableInput, ""),
    "zip": (b"PK\x03\x04 rest", WrongKind, "archive"),
    "gzip": (gzip.compress(TEXT.encode()), WrongKind, "archive"),
    "jpeg": (b"\xff\xd8\xff\xe0 rest", WrongKind, "image"),
    "png": (b"\x89PNG\r\n\x1a\n rest", WrongKind, "image"),
    "card png": (b"\x89PNG\r\n\x1a\n\0\0\0\4tEXtchara\0abcd", WrongKind, "character_card"),
    "page": (b"<!DOCTYPE html><html><body>404</body></html>", WrongKind, "html"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", WrongKind, "git_lfs_pointer"),
    "conflict": (text(TEXT.replace('    "top_p"', '<<<<<<< HEAD\n    "top_p"').replace('    "stream', '=======\n>>>>>>> other\n    "stream')), WrongKind, "merge_conflict"),
    "card": ({"spec": "chara_card_v2", "data": {"name": "Mira"}}, WrongKind, "character_card"),
    "old card": ({"name": "Mira", "description": "d", "first_mes": "Hi"}, WrongKind, "character_card"),
    "book": ({"entries": {"0": {"key": ["a"], "content": "b"}}}, WrongKind, "world_book"),
    "bare book": ([{"key": ["a"], "content": "b"}], WrongKind, "world_book"),
    "script": ({"scriptName": "s", "findRegex": "/a/", "replaceString": ""}, WrongKind, "regex_script"),
    "scripts": ([{"scriptName": "s", "findRegex": "/a/"}], WrongKind, "regex_script"),
    "chat": (b'{"user_name":"A","character_name":"B","chat_metadata":{}}\n{"name":"A","is_user":true,"mes":"x"}\n', WrongKind, "chat"),
    "messages": ([{"role": "user", "content": "x"}], WrongKind, "message_list"),
    "request": ({"model": "m", "messages": []}, WrongKind, "request_body"),
    "text completion": ({"temp": 1, "top_p": 1, "rep_pen": 1.1}, WrongKind, "text_completion_preset"),
    "instruct": ({"input_sequence": "", "output_sequence": "", "name": "x"}, WrongKind, "instruct_template"),
    "context": ({"story_string": "", "name": "x"}, WrongKind, "context_template"),
    "sampler": ({"order": [1], "temperature": 1, "repetition_penalty": 1}, WrongKind, "sampler_preset"),
    "theme": ({"name": "x", "main_text_color": "#000"}, WrongKind, "theme"),
    "quick replies": ({"version": 2, "qrList": []}, WrongKind, "quick_replies"),
    "old settings": ({"power_user": {}, "main_api": "openai", "main_prompt": "x"}, WrongKind, "old_settings"),
    "error": ({"error": {"message": "no"}}, WrongKind, "error_reply"),
    "unknown": ({"lorem": 1}, WrongKind, "unknown"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "error", "kind"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_file_is_refused_by_name_in_one_line(source, error, kind):
    with pytest.raises(error) as caught:
        load_preset(source)
    assert getattr(caught.value, "kind", "") == kind
    assert "\n" not in str(caught.value)
    assert any(mark in str(caught.value) for mark in (":", ";"))  # what it is, and what to do


HOSTILE = {
    "deep lists": b'{"prompts":' + b"[" * 100_000,
    "deep objects": b'{"prompts":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}",
    "moderately deep": b'{"prompts":' + b"[" * 300 + b"]" * 300 + b"}",
    "doubtful quotes": b'{"prompts": "x, "b": "y, ' * 2000,
    "open comments": b'{"prompts":' + b"/*" * 100_000,
    "parentheses": b"{" + b"(" * 20_000,
    "many entries": b'{"prompts":[' + b"{}," * 30_000 + b"{}]}",
    "back slashes": b'{"prompts":"' + b"\\" * 200_001,
    "commas": b"{" + b"," * 200_000,
    "compressed noise": zlib.compress(TEXT.encode()),
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_hostile_input_ends_with_an_error_of_ours(source):
    with pytest.raises(PresetEngineError) as caught:
        load_preset(source)
    assert "\n" not in str(caught.value)


def test_a_file_over_the_limit_is_not_read(tmp_path):
    path = tmp_path / "big.json"
    with path.open("wb") as file:
        file.truncate(30_000_000)
    with pytest.raises(InputTooLarge):
        load_preset(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UnreadableInput, match=r"nowhere\.json"):
        load_preset(tmp_path / "nowhere.json")


def test_many_places_make_one_note():
    document = preset(
        prompts=[{"identifier": f"e{i}", "content": "x", "name": "n"} for i in range(40)]
    )
    imported = load_preset(document)
    notes = [note for note in imported.notes if note.code == "role-missing"]
    assert [note.count for note in notes] == [40]
    assert notes[0].path == "$.prompts[0].role"
    assert "40 places" in notes[0].message


def test_notes_are_sorted_by_weight():
    imported = load_preset(TEXT[:-2].replace('"name": "Tone",', ""))
    ranks = [("error", "warning", "info").index(note.weight.value) for note in imported.notes]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) > 1


def test_the_same_file_gives_the_same_report_in_every_process(tmp_path):
    path = tmp_path / "tea.json"
    path.write_text(
        json.dumps(entry(0, content="{{char}} {{x}} {{y}} {{z}} {{getvar::a}}")), "utf-8"
    )
    code = (
        "import json, sys; from preset_engine import load_preset; "
        "print(json.dumps(load_preset(sys.argv[1]).to_report()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
