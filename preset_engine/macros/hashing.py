"""The hash and the generator that `pick` needs: 53-bit cyrb53 and the ARC4 of seedrandom 3.0.5.

Both are public algorithms and stand here because `pick` must choose what SillyTavern chooses for the
same chat, text and place. They are no protection of anything.
"""

from __future__ import annotations

_WORD = 0xFFFFFFFF


def utf16_units(text: str) -> tuple[int, ...]:
    """The UTF-16 code units of a text; lone surrogates are kept."""
    data = text.encode("utf-16-le", "surrogatepass")
    return tuple(memoryview(data).cast("H")) if data else ()


def cyrb53(text: str) -> int:
    """A 53-bit hash of a text, seed 0."""
    one, two = 0xDEADBEEF, 0x41C6CE57
    for unit in utf16_units(text):
        one = ((one ^ unit) * 2654435761) & _WORD
        two = ((two ^ unit) * 1597334677) & _WORD
    one = (((one ^ (one >> 16)) * 2246822507) ^ ((two ^ (two >> 13)) * 3266489909)) & _WORD
    two = (((two ^ (two >> 16)) * 2246822507) ^ ((one ^ (one >> 13)) * 3266489909)) & _WORD
    return ((two & 0x1FFFFF) << 32) + one


def first_draw(seed: str) -> float:
    """The first number in [0, 1) of the ARC4 generator with this seed."""
    state = _schedule(_mix(seed))
    cursor = [0, 0]
    _draw(state, cursor, 256)
    number, divisor, extra = _draw(state, cursor, 6), 256**6, 0
    while number < 2**52:
        number = (number + extra) * 256
        divisor *= 256
        extra = _draw(state, cursor, 1)
    while number >= 2**53:
        number >>= 1
        divisor >>= 1
        extra >>= 1
    return (number + extra) / divisor


def _mix(seed: str) -> list[int]:
    key: list[int] = []
    smear = 0
    for place, unit in enumerate(utf16_units(seed)):
        slot = place & 255
        if slot < len(key):
            smear ^= key[slot] * 19
            key[slot] = (smear + unit) & 255
        else:
            key.append((smear + unit) & 255)
    return key or [0]


def _schedule(key: list[int]) -> list[int]:
    state = list(range(256))
    swap = 0
    for place in range(256):
        value = state[place]
        swap = (swap + key[place % len(key)] + value) & 255
        state[place], state[swap] = state[swap], value
    return state


def _draw(state: list[int], cursor: list[int], count: int) -> int:
    first, second = cursor
    number = 0
    for _ in range(count):
        first = (first + 1) & 255
        value = state[first]
        second = (second + value) & 255
        other = state[second]
        state[first], state[second] = other, value
        number = number * 256 + state[(other + value) & 255]
    cursor[:] = [first, second]
    return number
