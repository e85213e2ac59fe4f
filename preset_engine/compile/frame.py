"""From a reduced transcript to the content of a preset: history, turn, tool tail, and the prompt's slot.

A transcript is one list; a preset has places. The last user message, with nothing but a running tool loop behind
it, is the current turn; what stands before it is the history; the loop follows the frame unchanged::

    system  user  assistant  user  assistant(calls)  tool
    slot    history........  turn  tail..................
"""

from __future__ import annotations

from dataclasses import replace

from preset_engine.compile.transcript import Transcript, is_assistant, is_system
from preset_engine.content.content import Content, Slots
from preset_engine.messages import ChatMessage, Role


def split_transcript(messages: Transcript) -> tuple[Transcript, str, Transcript]:
    """History, current turn and tool tail of a transcript without its prompt.

    Where the newest message is neither a user's nor part of a running tool loop there is no current turn, and
    all is history; so it is where the user's message is more than text, since a turn is text.
    """
    places = (i for i in range(len(messages) - 1, -1, -1) if messages[i].role == Role.USER)
    last = next(places, None)
    if last is None:
        return messages, "", ()
    turn, tail = messages[last].content, messages[last + 1 :]
    if not isinstance(turn, str) or not all(map(_is_tool_loop, tail)):
        return messages, "", ()
    return messages[:last], turn, tail


def _is_tool_loop(message: ChatMessage) -> bool:
    return message.role == Role.TOOL or (is_assistant(message) and bool(message.tool_calls))


def fill_content(content: Content, transcript: Transcript, prompt: str) -> Content:
    """The content with the transcript in its places and the prompt in the system slot.

    A leading system message is the prompt's old place and is left out; later ones stay in the history.
    """
    rest = transcript[1:] if transcript and is_system(transcript[0]) else transcript
    history, turn, tail = split_transcript(rest)
    slots = replace(content.slots or Slots(), system_prompt=prompt)
    return replace(content, history=history, turn=turn, tail=tail, slots=slots)
