"""Which macro names the engine knows; the census asks here.

A name is known when some engine expands it. Names that only an extension of SillyTavern could answer stay as
text and are therefore not known.
"""

from __future__ import annotations

from functools import lru_cache

from preset_engine.macros.registry import default_registry


@lru_cache(4096)
def is_known_macro(name: str) -> bool:
    """Whether the engine expands a macro of this name (any case), a comment or a variable shorthand."""
    if name.startswith((".", "$")):
        return True
    macro = default_registry().find(name)
    return macro is not None and macro.handler is not None
