"""Whatever is done to a preset, the import takes it or refuses it with an error of ours."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from preset_engine.errors import PresetEngineError
from preset_engine.preset.exporter import export_preset
from preset_engine.preset.importer import load_preset
from preset_engine.preset.sanitise import sillytavern_view
from preset_engine.preset.skeleton import native_skeleton
from tests.preset.samples import attempt, native, preset

TEXT = json.dumps(preset(), ensure_ascii=False, indent=2)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["{{char}}", "{{", "}}", "system", "1", "true", "\ud800", "\0", "{{setvar::a::", "<%"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def places(value, path=()):
    """Every place of a document."""
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from places(item, (*path, key))


def changed(document, path, value):
    if not path:
        return value
    head, *rest = path
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[head] = changed(copy[head], rest, value)
    return copy


def take(source):
    """Load, look at the result through every door, export; errors of ours are fine."""
    imported = attempt(source)
    if isinstance(imported, PresetEngineError):
        return None
    json.dumps(imported.to_report(), allow_nan=False).encode()
    sillytavern_view(imported.preset)
    native_skeleton(imported.preset)
    for form in ("native", "sillytavern"):
        exported = export_preset(imported.preset, form)
        json.dumps(exported.document, allow_nan=False)
    return imported


@given(data=st.data())
@settings(max_examples=150)
def test_any_value_at_any_place_of_a_sillytavern_preset(data):
    document = preset(regex_scripts=[{"findRegex": "/a/"}], main_prompt="m", wi_format="{0}")
    path = data.draw(st.sampled_from(list(places(document))))
    take(changed(document, path, data.draw(VALUES)))


@given(data=st.data())
@settings(max_examples=80)
def test_any_value_at_any_place_of_a_native_preset(data):
    document = native(settings={"names_behavior": 1}, regexScripts=[{}], raw={})
    path = data.draw(st.sampled_from(list(places(document))))
    take(changed(document, path, data.draw(VALUES)))


@given(start=st.integers(0, len(TEXT)), length=st.integers(0, 40), put=st.binary(max_size=6))
@settings(max_examples=200)
def test_any_cut_and_paste_of_the_bytes(start, length, put):
    data = TEXT.encode()
    take(data[:start] + put + data[start + length :])


@given(st.binary(max_size=200))
def test_any_bytes(data):
    take(data)


@given(st.text(alphabet="{}[]\":,'\\/*# \nabTrue01", max_size=60))
@settings(max_examples=200)
def test_any_text_of_json_characters(text):
    take("{" + text)


@given(VALUES)
def test_any_value_is_no_preset_or_one(value):
    take({"prompts": value, "prompt_order": value})


@given(cut=st.integers(1, len(TEXT) - 2))
@settings(max_examples=100)
def test_what_is_whole_before_an_early_end_survives(cut):
    imported = take(TEXT[:cut])
    if imported is None or not any(note.code == "truncated" for note in imported.notes):
        return
    found = imported.preset.raw.get("prompts") or []
    for got, original in zip(found, preset()["prompts"]):
        assert set(got) <= set(original)


@given(VALUES)
def test_unknown_keys_survive_an_export(value):
    document = preset(x_extra=value)
    imported = take(document)
    if imported is None:
        return
    again = load_preset(export_preset(imported.preset).to_text())
    assert again.preset.raw == imported.preset.raw
    assert list(again.preset.raw) == list(document)
