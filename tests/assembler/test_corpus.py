"""Every file of the corpus assembles in both dialects, in the same bytes in every process."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from preset_engine.compile.turn import compile_turn
from preset_engine.content.content import Content
from preset_engine.dialect import Dialect
from preset_engine.history.load import load_history
from preset_engine.preset.importer import load_preset
from tests import truth


def chat_for(number):
    paths = sorted(path for path in (truth.folder("corpus") / "chats").glob("*") if path.is_file())
    return load_history(paths[number % len(paths)].read_bytes()).history if paths else ()


def digest(path: Path, number: int) -> str:
    preset = load_preset(path).preset
    content = Content(history=chat_for(number), turn="And then?", user="Noa", char="Mira")
    found = []
    for dialect in Dialect:
        turn = compile_turn(preset, content, dialect=dialect)
        found.append([message.to_json() for message in turn.messages])
        found.append([note.to_json() for note in turn.notes])
        found.append({key: dict(values) for key, values in turn.variables.items()})
    return hashlib.sha256(json.dumps(found, ensure_ascii=True).encode()).hexdigest()


@truth.corpus("presets")
def test_a_corpus_preset_assembles_with_a_chat_in_both_dialects(path):
    number = sum(map(ord, path.name))
    content = Content(history=chat_for(number), turn="And then?", user="Noa", char="Mira")
    preset = load_preset(path).preset
    for dialect in Dialect:
        turn = compile_turn(preset, content, dialect=dialect)
        assert turn.messages
        for planned in turn.plan.messages():
            assert "".join(piece.text for piece in planned.pieces) == planned.message.text


def digests(count: int | None) -> dict[str, str]:
    paths = sorted(
        path for path in (truth.folder("corpus") / "presets").glob("*") if path.is_file()
    )
    chosen = paths[:count] if count else paths
    return {path.name: digest(path, number) for number, path in enumerate(chosen)}


def digests_of_a_process(seed: str, count: int) -> dict[str, str]:
    script = (
        "import json; from tests.assembler import test_corpus; "
        f"print(json.dumps(test_corpus.digests({count})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=truth.ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    "count", [pytest.param(6, id="few"), pytest.param(0, id="all", marks=pytest.mark.full)]
)
def test_two_processes_give_the_same_bytes(count):
    if not (truth.folder("corpus") / "presets").is_dir():
        pytest.skip("the folder of PRESET_ENGINE_CORPUS is absent")
    assert digests_of_a_process("1", count) == digests_of_a_process("2", count)
