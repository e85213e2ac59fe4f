"""What the system prompt says about tools: a block of practices in front, principles behind.

<tool_best_practices>
<instruction>...</instruction>
<tool name="search">
<use>Looks up the harbour register.</use>
<best_practice index="1">Give the ship's name in full.</best_practice>
</tool>
</tool_best_practices>
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from preset_engine.compile.experiences import PRINCIPLES_TAGS, TOOL_TAGS
from preset_engine.json_values import as_text, as_texts
from preset_engine.messages import JsonValue

_INSTRUCTION = (
    "How the tools of this conversation are meant to be used. Read it before the first call."
)
_PRINCIPLES = (
    "Call tools only through the tool-call channel of the interface; a call written into the text is not run.",
    "Text is for the reader: thoughts worth sharing and the answer itself.",
    "State as a tool's result only what the tool returned.",
)


@dataclass(frozen=True, slots=True)
class ToolPromptSpec:
    """What a tool wants said about itself.

    Attributes:
        name: as the model calls it; a tool without a name is left out.
        description: one line on what it is for.
        best_practices: numbered advice.
        prompt_injections: lines added as they are.
    """

    name: str
    description: str = ""
    best_practices: tuple[str, ...] = ()
    prompt_injections: tuple[str, ...] = ()


def read_tool_spec(body: Mapping[str, JsonValue]) -> ToolPromptSpec:
    """Read a spec object; what is no text is left out."""
    return ToolPromptSpec(
        name=as_text(body.get("name")),
        description=as_text(body.get("description")),
        best_practices=as_texts(body.get("best_practices")),
        prompt_injections=as_texts(body.get("prompt_injections")),
    )


def tool_block(specs: Iterable[ToolPromptSpec]) -> str | None:
    """The block of all tools with a name, in order; None when there is no such tool."""
    tools = [line for spec in specs if spec.name.strip() for line in _tool_lines(spec)]
    if not tools:
        return None
    opened, closed = TOOL_TAGS
    return "\n".join((opened, f"<instruction>{_INSTRUCTION}</instruction>", *tools, closed))


def _tool_lines(spec: ToolPromptSpec) -> Iterable[str]:
    yield f'<tool name="{html.escape(spec.name.strip())}">'
    if spec.description.strip():
        yield f"<use>{spec.description.strip()}</use>"
    for number, practice in enumerate(_practices(spec), 1):
        yield f'<best_practice index="{number}">{practice}</best_practice>'
    yield from dict.fromkeys(text for item in spec.prompt_injections if (text := item.strip()))
    yield "</tool>"


def _practices(spec: ToolPromptSpec) -> Iterable[str]:
    """The practices that say something new, trimmed."""
    described, seen = _bare(spec.description), set[str]()
    for practice in spec.best_practices:
        bare = _bare(practice)
        if bare and bare not in seen and bare not in described:
            seen.add(bare)
            yield practice.strip()


def _bare(text: str) -> str:
    """The text as it is compared: without case, back-ticks, extra spaces and a final full stop."""
    return " ".join(text.replace("`", "").casefold().split()).rstrip(".").rstrip()


def principles_block() -> str:
    """The block that closes the system prompt of a conversation with tools."""
    opened, closed = PRINCIPLES_TAGS
    return "\n".join((opened, *(f"- {rule}" for rule in _PRINCIPLES), closed))
