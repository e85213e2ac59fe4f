"""Import against a bare `json.loads` of the same text, the largest class of real files and a damaged one.

Work: a made preset of the largest class seen (511 entries, 1.9 MB, 6,000 macros), and the largest file of the corpus
where that is present. The measure does nothing but parse; an import also decodes, types every field, counts macros and
reviews the whole.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from benchmarks.figures import Figure, median_seconds
from preset_engine.preset.exporter import export_preset
from preset_engine.preset.importer import load_preset
from preset_engine.tokens import Estimate

_HOME = Path(__file__).resolve().parent.parent


def run() -> list[Figure]:
    """Import, report and export of a large file; import of a damaged one."""
    figures = _figures("made, 511 entries", _made())
    largest = _largest()
    if largest is not None:
        figures += _figures(f"corpus {largest.stem}", largest.read_bytes())
    damaged = _made()[:-400_000]
    figures.append(
        Figure(
            "import of the made file cut off at 1.5 MB",
            median_seconds(lambda: load_preset(damaged), 3),
            median_seconds(lambda: json.loads(_made())),
            "json.loads of the whole",
        )
    )
    return figures


def _figures(name: str, data: bytes) -> list[Figure]:
    bare = median_seconds(lambda: json.loads(data))
    imported = load_preset(data)
    size = len(data) / 1e6
    return [
        Figure(
            f"import, {name}, {size:.2f} MB",
            median_seconds(lambda: load_preset(data)),
            bare,
            "json.loads",
            30,
        ),
        Figure(
            f"report, {name}",
            median_seconds(lambda: imported.to_report(Estimate())),
            bare,
            "json.loads",
        ),
        Figure(
            f"export, {name}",
            median_seconds(lambda: export_preset(imported.preset)),
            bare,
            "json.loads",
        ),
    ]


def _made() -> bytes:
    sentence = (
        "The lamp is lit at dusk; {{char}} counts the boats that come home, and nobody says how many there "
        "were this morning. Behind the pier the water is flat and grey, the ropes creak, a dog sleeps on the nets, "
        "and the wind brings the smell of tar and of the bread that is baked at night for those who sail at four. "
    )
    entries = [
        {
            "identifier": f"entry-{number}",
            "name": f"Entry {number}",
            "system_prompt": False,
            "role": "system",
            "content": f"{{{{setvar::boats::{number}}}}}" + sentence * (12 if number % 3 else 9),
            "injection_position": int(number % 9 == 0),
            "injection_depth": 4,
            "injection_order": 100,
            "injection_trigger": [],
            "forbid_overrides": False,
            "marker": False,
        }
        for number in range(511)
    ]
    order = [{"identifier": f"entry-{number}", "enabled": number % 3 == 0} for number in range(511)]
    document = {
        "temperature": 1,
        "openai_max_context": 200_000,
        "prompts": entries,
        "prompt_order": [{"character_id": 100001, "order": order}],
    }
    return json.dumps(document, indent=4).encode()


def _largest() -> Path | None:
    folder = Path(os.environ.get("PRESET_ENGINE_CORPUS") or _HOME / "../shared/corpus") / "presets"
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_size)
    return files[-1] if files else None
