"""Skills: texts of know-how that the model may ask for by name, one at a time.

A skill file is Markdown with a small front matter (`name`, `description`); its body is what the model gets.
The model sees the list of names in one tool's schema. Where no skill is on offer there is no tool at all:
an empty `enum` is refused by providers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from preset_engine.errors import UnreadableInput
from preset_engine.llm.request import ToolSpec
from preset_engine.messages import JsonValue
from preset_engine.session.tools import Tool, ToolOutput

ACTIVATION_TOOL = "activate_skill"


@dataclass(frozen=True, slots=True)
class Skill:
    """A named piece of know-how.

    Attributes:
        name: what the model asks for.
        description: one line, when to use it.
        body: the text.
    """

    name: str
    description: str
    body: str


def parse_skill(text: str) -> Skill:
    """Read a skill file: `---`, lines `key: value`, `---`, the body.

    Raises:
        UnreadableInput: there is no front matter, or it names no skill.
    """
    head, separator, rest = text.lstrip("\ufeff").replace("\r\n", "\n").partition("---\n")
    front, end, body = rest.partition("\n---")
    if head.strip() or not separator or not end:
        raise UnreadableInput(
            "the skill file has no front matter; begin it with ---, name: and description: lines, ---"
        )
    lines = (line.partition(":") for line in front.splitlines())
    found = {key.strip(): value.strip().strip("\"'") for key, colon, value in lines if colon}
    if not found.get("name"):
        raise UnreadableInput("the skill file names no skill; add a line name: to its front matter")
    return Skill(found["name"], found.get("description", ""), body.lstrip("-").strip())


class SkillRegistry:
    """Skills by name, in the order of registration."""

    def __init__(self, skills: Iterable[Skill] = ()) -> None:
        self._skills: dict[str, Skill] = {}
        for skill in skills:
            self.register(skill)

    def register(self, skill: Skill) -> None:
        """Add or replace a skill."""
        self._skills[skill.name] = skill

    def get(self, name: str) -> Skill | None:
        """The skill of this name, or None."""
        return self._skills.get(name)

    def offered(self, allowed: Sequence[str] | None) -> tuple[Skill, ...]:
        """The skills a session may use: all without a white list, none for an empty one."""
        if allowed is None:
            return tuple(self._skills.values())
        return tuple(skill for name, skill in self._skills.items() if name in set(allowed))

    def activation_tool(self, allowed: Sequence[str] | None = None) -> Tool | None:
        """The tool that hands out these skills, or None where there is nothing to hand out."""
        skills = {skill.name: skill for skill in self.offered(allowed)}
        if not skills:
            return None

        def run(arguments: Mapping[str, JsonValue]) -> ToolOutput:
            skill = skills.get(str(arguments.get("name")))
            if skill is None:
                known = ", ".join(skills)
                return ToolOutput(error=f"No such skill. Skills: {known}", is_error=True)
            return ToolOutput(data=skill.body)

        listing = "\n".join(f"- {skill.name}: {skill.description}" for skill in skills.values())
        parameters: dict[str, JsonValue] = {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": list(skills)}},
            "required": ["name"],
        }
        spec = ToolSpec(
            ACTIVATION_TOOL, f"Read a skill before doing its work.\n{listing}", parameters
        )
        return Tool(spec, run, is_read_only=True, is_idempotent=True, title="Activate a skill")
