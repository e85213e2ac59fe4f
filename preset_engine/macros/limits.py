"""How much one expansion may cost: sizes, steps and depth.

Preset texts, cards and model replies are hostile. A text of twenty doubling variables would fill the
memory, a macro nested ten thousand times the stack. Every limit ends in one error of ours (or, in the
native dialect, a note) and is far above what real presets use: the largest known expand to less than a
million characters and nest two levels deep.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one call of `Expander.expand`.

    Attributes:
        depth: levels of macros inside macros, blocks inside blocks, and fields read by macros.
        steps: macros evaluated.
        output_chars: length of any text that comes out of a macro or of the whole call.
        work_chars: characters produced by all macros together, thrown away or not.
        list_items: entries of a list variable, dice of one roll.
    """

    depth: int = 40
    steps: int = 400_000
    output_chars: int = 4_000_000
    work_chars: int = 40_000_000
    list_items: int = 100_000


DEFAULT_LIMITS = Limits()
