"""Drafts and messages made by hand, and strategies that make many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from preset_engine.messages import (
    ChatMessage,
    Draft,
    JsonObject,
    Origin,
    OriginKind,
    Piece,
)
from preset_engine.squash.parts import chunks_of, is_empty, plain_pieces
from preset_engine.squash.zones import HistoryZone, Injected, Zones

IMAGE: JsonObject = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def draft(role: str, text: str, name: str | None = None, *, is_fixed: bool = False) -> Draft:
    """A message of one entry."""
    origin = Origin(OriginKind.ENTRY, text or "empty")
    pieces = (Piece(origin, text),) if text else ()
    return Draft(ChatMessage(role, text, name), pieces, is_fixed)


def drafted(messages: Iterable[ChatMessage]) -> list[Draft]:
    """Messages as drafts, one entry each; a text of two characters or more has two pieces."""
    found = []
    for number, message in enumerate(messages):
        pieces = plain_pieces(message, Origin(OriginKind.ENTRY, str(number)))
        if len(pieces) == 1 and len(pieces[0].text) > 1:
            text = pieces[0].text
            second = Origin(OriginKind.LORE, str(number))
            pieces = (Piece(pieces[0].origin, text[:1]), Piece(second, text[1:], True))
        found.append(Draft(message, pieces))
    return found


def told(messages: Iterable[ChatMessage]) -> list[tuple[str, object]]:
    """Roles and contents."""
    return [(message.role, message.content) for message in messages]


def rebuilds(drafts: Sequence[Draft]) -> bool:
    """Whether the pieces of every draft joined are its text."""
    return all("".join(piece.text for piece in one.pieces) == one.message.text for one in drafts)


texts = st.one_of(
    st.sampled_from(["", " ", "a", "bc", "x\n\ny", "Mira: hi", "Noa: ", "\n"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
contents = st.one_of(
    texts,
    st.none(),
    st.lists(
        st.one_of(
            texts.map(lambda text: {"type": "text", "text": text}),
            st.just(IMAGE),
            st.just({"type": "file", "file": {"id": "f"}}),
        ),
        max_size=4,
    ).map(tuple),
)
plain_messages = st.builds(
    ChatMessage, role=st.sampled_from(["system", "user", "assistant"]), content=texts
)
messages = st.builds(
    ChatMessage,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=contents,
    name=st.sampled_from([None, None, None, "Mira", "example_user", "example_assistant"]),
    tool_calls=st.sampled_from([(), (), ({"id": "c1"},)]),
    tool_call_id=st.sampled_from([None, None, "c1"]),
)
message_lists = st.lists(messages, max_size=8)
full_lists = st.lists(
    messages.filter(lambda message: not is_empty(chunks_of(message, keep_unknown=False))),
    max_size=8,
)
plain_lists = st.lists(plain_messages, max_size=8)


@st.composite
def zones(draw: st.DrawFn) -> Zones:
    """Any zones, with injections anywhere and a window."""
    records = tuple(draw(message_lists))
    start = draw(st.integers(0, len(records)))
    injected = sorted(
        (
            Injected(position, one)
            for position, one in zip(
                draw(st.lists(st.integers(0, len(records)), max_size=4)),
                drafted(draw(st.lists(plain_messages, min_size=4, max_size=4))),
                strict=False,
            )
        ),
        key=lambda one: one.position,
    )
    return Zones(
        tuple(drafted(draw(full_lists))),
        HistoryZone(records, start, tuple(injected)),
        tuple(drafted(draw(full_lists))),
        tuple(drafted(draw(st.lists(messages, max_size=2)))),
    )
