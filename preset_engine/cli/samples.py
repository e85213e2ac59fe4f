"""Built-in samples: enough content that a preset alone shows what it does.

There is an English and a Chinese set; the one that fits the preset's own language is taken. Nothing in them is
addressed to a model in earnest: a lighthouse keeper and a guest, on an evening with fog.
"""

from __future__ import annotations

from preset_engine.content.content import Block, Content, Persona
from preset_engine.messages import ChatMessage, JsonObject
from preset_engine.preset.model import Preset

_WIDE_SHARE = 0.2  # of the letters: more than that of Chinese makes a Chinese preset


def sample_content(preset: Preset) -> Content:
    """The sample in the language of the preset."""
    return _CHINESE if is_chinese(preset) else _ENGLISH


def is_chinese(preset: Preset) -> bool:
    """Whether a good part of the preset's letters is Chinese."""
    text = "".join(entry.content for entry in preset.prompts)
    letters = sum(character.isalpha() for character in text)
    wide = sum("\u4e00" <= character <= "\u9fff" for character in text)
    return wide > _WIDE_SHARE * letters


def _card(
    name: str, description: str, personality: str, scenario: str, first: str, example: str
) -> JsonObject:
    return {
        "spec": "chara_card_v2",
        "spec_version": "2.0",
        "data": {
            "name": name,
            "description": description,
            "personality": personality,
            "scenario": scenario,
            "first_mes": first,
            "mes_example": example,
        },
    }


def _talk(*texts: str) -> tuple[ChatMessage, ...]:
    """Messages that take turns, the assistant's first."""
    return tuple(
        ChatMessage("user" if i % 2 else "assistant", text) for i, text in enumerate(texts)
    )


_ENGLISH = Content(
    before=(
        Block("The place", "Gull Point: a lighthouse, a keeper's house, one path to the mainland."),
    ),
    after=(Block("Now", "Evening, fog. The lamp is lit, the horn is broken."),),
    post_turn=(Block("This step", "Answer the question, then let the fog do something."),),
    history=_talk(
        "The door stands open, and the stairs begin right behind it. “Mind the third step.”",
        "I count the steps on the way up and skip the third.",
        "“Most people fall on the second, because they think of the third.” She moves the lamp aside. “Sit.”",
        "I sit down by the window and look for the sea. There is only white.",
        "“It has been gone since noon,” she says. “It comes back. It is the ships I worry about.”",
    ),
    turn="“How do they find the harbour without the horn?”",
    persona=Persona("Noa", "Noa repairs clocks and has come about the horn."),
    card=_card(
        "Mira",
        "{{char}} keeps the lighthouse at Gull Point, as her mother did. Sixty, wiry, never without a pencil.",
        "dry, exact, glad of company and slow to show it",
        "{{user}} has come up from the village to mend the fog horn.",
        "The door stands open, and the stairs begin right behind it. “Mind the third step.”",
        "<START>\n{{user}}: Is it lonely up here?\n{{char}}: “There are the gulls. They disagree with everything.”",
    ),
)

_CHINESE = Content(
    before=(Block("地方", "鸥嘴：一座灯塔，一间守塔人的小屋，通向陆地的路只有一条。"),),
    after=(Block("此刻", "傍晚，大雾。灯亮着，雾号坏了。"),),
    post_turn=(Block("本步任务", "先答问题，再让雾里出一点动静。"),),
    history=_talk(
        "门敞着，楼梯就在门后。“当心第三级。”",
        "我一级一级数上去，跨过第三级。",
        "“多数人摔在第二级，心里只想着第三级。”她把灯挪开，“坐。”",
        "我在窗边坐下找海，外面只有一片白。",
        "“中午就不见了，”她说，“它会回来的。我惦记的是船。”",
    ),
    turn="“没有雾号，他们怎么找得到港口？”",
    persona=Persona("阿诺", "阿诺修钟表为生，这回是来修雾号的。"),
    card=_card(
        "米拉",
        "{{char}} 守着鸥嘴的灯塔，她母亲从前也守。六十岁，精瘦，铅笔不离手。",
        "话少而准，喜欢有人来，只是不肯马上露出来",
        "{{user}} 从村里上来修雾号。",
        "门敞着，楼梯就在门后。“当心第三级。”",
        "<START>\n{{user}}: 一个人在上面不闷吗？\n{{char}}: “有海鸥。它们什么都不同意。”",
    ),
)
