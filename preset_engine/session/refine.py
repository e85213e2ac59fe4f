"""Summaries: the calls that turn records into a shorter text (compress, consolidate), seed 000 sections 2 and 3.

Both send a task, an optional `<role_context>` block and the records as lines `role: content`, and take plain
text back. A model's `<think>` part is cut out of that text; the text of a conversation is never touched. The
functions made here choose their model by closure; nothing of it is handed to them by a session.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from preset_engine.errors import BadReply
from preset_engine.llm.request import ModelAdapter, Request
from preset_engine.llm.stream import complete
from preset_engine.messages import ChatMessage, Role
from preset_engine.session.config import CompressFn, ConsolidateFn
from preset_engine.session.record import SessionRecord
from preset_engine.tokens import Estimate, TokenCounter

COMPRESS_PROMPT = (
    "请把下面的对话整理成一份连贯的备忘，供后续对话接着使用。写清主题、已作出的决定和关键事实，"
    "重复的内容只写一次，不加评论。只输出备忘正文。"
)
CONSOLIDATE_PROMPT = (
    "请用 100 到 150 字概括这次对话的现状：只写已确认的目标和结果。"
    "写成一段话，不用列表，不用任何标记。"
)
FORK_COMPRESS_PROMPT = (
    "请为一个将要分出去的子对话写一份交接备忘：主题、事实、已有结论，以及继续下去需要知道的人物、设定和"
    "待办事项。只输出备忘正文。"
)
RECORDS_HEADING = "对话记录:"
MEMORY_HEADING = "当前摘要:"

_THINKING = re.compile(r"<think>.*?</think>\s*", re.DOTALL)


def strip_thinking(text: str) -> str:
    """The text without its shortest `<think>…</think>` parts and the white space after them, trimmed.

    Case matters; an unclosed tag, a tag with attributes and the outer tail of nested tags stay.
    """
    return _THINKING.sub("", text).strip()


def records_text(records: Sequence[SessionRecord]) -> str:
    """The records as the refining model reads them: one `role: content` a record under a heading."""
    lines = "\n".join(f"{record.role}: {record.content}" for record in records)
    return f"{RECORDS_HEADING}\n{lines}"


def compress_messages(
    records: Sequence[SessionRecord], *, prompt: str = COMPRESS_PROMPT, role_context: str = ""
) -> tuple[ChatMessage, ...]:
    """The messages of a compress call."""
    return _task_messages(prompt, role_context, records_text(records))


def consolidate_messages(
    memory: str | None,
    records: Sequence[SessionRecord],
    *,
    prompt: str = CONSOLIDATE_PROMPT,
    role_context: str = "",
) -> tuple[ChatMessage, ...]:
    """The messages of a consolidate call; an empty memory is left out."""
    text = records_text(records)
    if memory:
        text = f"{MEMORY_HEADING}\n{memory}\n\n{text}"
    return _task_messages(prompt, role_context, text)


def _task_messages(prompt: str, role_context: str, text: str) -> tuple[ChatMessage, ...]:
    messages = [ChatMessage(Role.SYSTEM.value, prompt)]
    if role_context:
        block = f"<role_context>\n{role_context}\n</role_context>"
        messages.append(ChatMessage(Role.SYSTEM.value, block))
    return (*messages, ChatMessage(Role.USER.value, text))


def compress_with(
    adapter: ModelAdapter,
    *,
    prompt: str = COMPRESS_PROMPT,
    role_context: str = "",
    tokens: TokenCounter | None = None,
) -> CompressFn:
    """A compress function that asks this model.

    Records that do not fit the model's window are summarised in stretches; each stretch starts with the
    summary so far, so that nothing is left out and no call is too long.
    """
    counter = tokens or Estimate()

    async def compress(records: Sequence[SessionRecord]) -> str:
        summary = ""
        for stretch in _stretches(records, _room(adapter), counter):
            known = (SessionRecord(Role.SYSTEM.value, summary),) if summary else ()
            messages = compress_messages(
                (*known, *stretch), prompt=prompt, role_context=role_context
            )
            summary = await ask(adapter, messages)
        return summary

    return compress


def consolidate_with(
    adapter: ModelAdapter, *, prompt: str = CONSOLIDATE_PROMPT, role_context: str = ""
) -> ConsolidateFn:
    """A consolidate function that asks this model."""

    async def consolidate(memory: str | None, records: Sequence[SessionRecord]) -> str:
        messages = consolidate_messages(memory, records, prompt=prompt, role_context=role_context)
        return await ask(adapter, messages)

    return consolidate


async def ask(adapter: ModelAdapter, messages: tuple[ChatMessage, ...]) -> str:
    """The model's answer as refined text.

    Raises:
        BadReply: nothing but thinking came back; an empty summary would lose what it stands for.
        AdapterError: the call failed.
    """
    reply = await complete(adapter, Request(messages))
    text = strip_thinking(reply.text or "")
    if not text:
        raise BadReply(f"the model {adapter.name!r} gave an empty summary; nothing was replaced")
    return text


def _room(adapter: ModelAdapter) -> float:
    """Tokens of records that one call takes: three quarters of the window leave room for task and reply."""
    window = adapter.max_context_tokens
    return float("inf") if window is None else window * 0.75


def _stretches(
    records: Sequence[SessionRecord], room: float, counter: TokenCounter
) -> list[list[SessionRecord]]:
    stretches: list[list[SessionRecord]] = [[]]
    used = 0
    for record in records:
        size = counter.count(record.content)
        if stretches[-1] and used + size > room:
            stretches.append([])
            used = 0
        stretches[-1].append(record)
        used += size
    return stretches
