"""Framing: a flat task list becomes the content of a preset.

Its system messages become the contract, a block that leads the bag `before`; the last user message is the turn; a
running tool loop follows the frame unchanged::

    system  user  assistant  user  assistant(calls)  tool
    contract  history......  turn  tail..................

Source: golden/seeds `wa.frame_split`; reference/seeds.md, section 3.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from preset_engine.characters import JS_SPACE
from preset_engine.content.bags import BLANK_LINE
from preset_engine.content.content import Block, Content
from preset_engine.messages import ChatMessage

CONTRACT_TITLE = "任务契约"


@dataclass(frozen=True, slots=True)
class Frame:
    """A flat task list, taken apart.

    Attributes:
        contract: all system texts of the framed part, joined by blank lines.
        history: the other messages but the turn.
        turn: the last of them where it is the user's; None otherwise.
        tail: from the first tool message or call on; it follows the frame unchanged.
    """

    contract: str
    history: tuple[ChatMessage, ...]
    turn: ChatMessage | None
    tail: tuple[ChatMessage, ...] = ()


def split_frame(messages: Sequence[ChatMessage]) -> Frame:
    """Split task messages into contract, history, turn and the running tool loop."""
    border = next(
        (number for number, message in enumerate(messages) if _is_tool_loop(message)),
        len(messages),
    )
    framed = messages[:border]
    texts = (message.text.strip(JS_SPACE) for message in framed if message.role == "system")
    body = tuple(message for message in framed if message.role != "system")
    has_turn = bool(body) and body[-1].role == "user"
    return Frame(
        contract=BLANK_LINE.join(text for text in texts if text),
        history=body[:-1] if has_turn else body,
        turn=body[-1] if has_turn else None,
        tail=tuple(messages[border:]),
    )


def _is_tool_loop(message: ChatMessage) -> bool:
    return message.role == "tool" or bool(message.tool_calls)


def frame_content(messages: Sequence[ChatMessage], pack: Content | None = None) -> Content:
    """The content that a task list makes.

    Args:
        messages: task messages, a running tool loop included.
        pack: bags that are ready. Then the list gives its contract and its tool loop only, so that nothing
            is sent twice; without a pack it gives history and turn too.
    """
    frame = split_frame(messages)
    content = pack or Content()
    before = content.before
    if frame.contract:
        before = (Block(CONTRACT_TITLE, frame.contract), *before)
    content = replace(content, before=before, tail=(*content.tail, *frame.tail))
    if pack is not None:
        return content
    if frame.turn is not None and not isinstance(frame.turn.content, str):
        return replace(content, history=(*frame.history, frame.turn))
    turn = frame.turn.text if frame.turn is not None else ""
    return replace(content, history=frame.history, turn=turn)
