r"""Work on the pieces of one text: join, trim, expand; the joined texts stay the whole text.

::

    join(((main,), (aux,)), "\n")  ->  (main, joiner "\n", aux)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from preset_engine.characters import JS_SPACE
from preset_engine.macros.expand import Expansion
from preset_engine.messages import ChatMessage, Draft, Origin, OriginKind, Piece

Pieces = tuple[Piece, ...]

JOINER = Origin(OriginKind.JOINER, "joiner")


def text_of(pieces: Pieces) -> str:
    """The whole text."""
    return pieces[0].text if len(pieces) == 1 else "".join(piece.text for piece in pieces)


def join(groups: Iterable[Pieces], separator: str) -> Pieces:
    """The groups one after the other with joiner pieces between them; empty groups take no joiner."""
    full = [group for group in groups if group]
    if len(full) == 1:
        return full[0]
    found: list[Piece] = []
    for group in full:
        if found:
            found.append(Piece(JOINER, separator))
        found.extend(group)
    return tuple(found)


def trim(pieces: Pieces) -> Pieces:
    """Take white space off both ends of the whole text; pieces that vanish are dropped."""
    if pieces and pieces[0].text[:1] not in JS_SPACE and pieces[-1].text[-1:] not in JS_SPACE:
        return pieces
    left = list(pieces)
    while left and not left[0].text.lstrip(JS_SPACE):
        del left[0]
    while left and not left[-1].text.rstrip(JS_SPACE):
        del left[-1]
    if left:
        left[0] = _with_text(left[0], left[0].text.lstrip(JS_SPACE))
        left[-1] = _with_text(left[-1], left[-1].text.rstrip(JS_SPACE))
    return tuple(left)


def expand(pieces: Pieces, work: Callable[[str], Expansion]) -> Pieces:
    """Expand the whole text in one call.

    Where that changes nothing the pieces stay as they are. Where each piece expanded for itself would have
    been the same text cannot be known without running macros twice, so a changed text of several pieces
    becomes one piece of the first origin.
    """
    if not pieces:
        return pieces
    whole = text_of(pieces)
    result = work(whole)
    if result.text == whole:
        return pieces
    volatile = result.volatile or any(piece.volatile for piece in pieces)
    return (Piece(pieces[0].origin, result.text, volatile),) if result.text else ()


def draft_of(
    role: str, pieces: Pieces, *, name: str | None = None, is_fixed: bool = False
) -> Draft:
    """A text message with its pieces."""
    return Draft(ChatMessage(role, text_of(pieces), name), pieces, is_fixed)


def draft_text(role: str, text: str, origin: Origin, *, is_fixed: bool = False) -> Draft:
    """A message of one piece."""
    return Draft(ChatMessage(role, text), (Piece(origin, text),), is_fixed)


def sent(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts that have a text or tool calls; empty messages vanish, blank ones stay."""
    return [draft for draft in drafts if draft.message.content or draft.message.tool_calls]


def _with_text(piece: Piece, text: str) -> Piece:
    return piece if text == piece.text else replace(piece, text=text)
