"""Private values never leave the file: not in notes, errors, reports, nor in what is written for sharing."""

import json

import pytest
from typer.testing import CliRunner

from preset_engine.cli.app import build
from preset_engine.errors import PresetEngineError
from preset_engine.preset.exporter import export_preset
from preset_engine.preset.importer import load_preset
from preset_engine.preset.secrets import PRIVATE_KEYS, find_secrets, is_secret_key
from tests.preset.samples import PRESET, preset

MARK = "MARKER-7d1f"
SMELLY = (
    "api_key", "openai_api_key", "apiKey", "openAIKey", "api_key_openai", "secret", "client_secret", "token",
    "access_token", "accessToken", "authorization", "x-api-key", "password", "passwd", "bearer_token",
    "webhook_url", "private_key", "vertexai_service_account_json", "session_cookie", "credentials",
)  # fmt: skip
KEYS = sorted({*PRIVATE_KEYS, *SMELLY})


@pytest.mark.parametrize("key", KEYS)
def test_a_private_key_is_known_as_one(key):
    assert is_secret_key(key)


@pytest.mark.parametrize(
    "key", [*sorted(PRESET), "max_tokens", "key", "keysecondary", "use_google_tokenizer"]
)
def test_an_ordinary_key_is_none(key):
    assert not is_secret_key(key)


def planted():
    """A preset with a marker under every private key, at the top, in an entry and in an extension."""
    document = preset(extensions={"helper": dict.fromkeys(KEYS, MARK)})
    document["prompts"][1].update(dict.fromkeys(KEYS, MARK))
    document.update(dict.fromkeys(KEYS, MARK))
    document["proxies"] = [{"name": "mine", "url": MARK, "password": MARK}]
    document["custom_include_headers"] = {"Authorization": MARK}
    return document


def test_no_private_value_is_in_the_report():
    imported = load_preset(planted())
    report = json.dumps(imported.to_report())
    assert MARK not in report
    assert "private-data" in report


@pytest.mark.parametrize("form", ["native", "sillytavern"])
def test_no_private_value_is_in_an_export_for_sharing(form):
    exported = export_preset(load_preset(planted()).preset, form, share=True)
    assert MARK not in exported.to_text()
    assert find_secrets(exported.document) == ()


def test_an_export_for_oneself_keeps_them():
    assert export_preset(load_preset(planted()).preset).document == planted()


def test_no_private_value_is_in_the_output_of_the_command(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(planted()), "utf-8")
    for arguments in (
        ["--json"],
        [],
        ["--to", "native", "--share", "--out", str(tmp_path / "out.json")],
    ):
        done = CliRunner().invoke(build(), ["import", str(path), *arguments])
        assert done.exit_code == 0
        assert MARK not in done.output
    assert MARK not in (tmp_path / "out.json").read_text("utf-8")


@pytest.mark.parametrize(
    "key",
    ["temperature", "top_k", "names_behavior", "prompts", "prompt_order", "extensions", "seed"],
)
@pytest.mark.parametrize(
    "value", [{"api_key": MARK}, [{"api_key": MARK}], MARK], ids=["object", "list", "text"]
)
def test_a_secret_in_a_wrong_place_is_not_repeated(key, value):
    try:
        report = json.dumps(load_preset(preset(**{key: value})).to_report())
    except PresetEngineError as error:
        report = str(error)
    assert MARK not in report or value == MARK


def test_no_private_value_is_in_a_refusal():
    with pytest.raises(PresetEngineError) as caught:
        load_preset({"openai_key": MARK, "proxy_password": MARK})
    assert MARK not in str(caught.value)
    with pytest.raises(PresetEngineError) as caught:
        load_preset(f'"proxy_password": "{MARK}", "x'.encode())
    assert MARK not in str(caught.value)
