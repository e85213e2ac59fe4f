"""Generated presets and chats for property tests: small, odd, quick."""

from __future__ import annotations

from hypothesis import strategies as st

from preset_engine.messages import ChatMessage

TEXTS = st.sampled_from(
    [
        "Plain rule.",
        "规则一。",
        "You are {{char}}, with {{user}}.",
        "{{setvar::mood::calm}}",
        "{{setvar::mood::wild}}Mood set.",
        "Mood: {{getvar::mood}}.",
        "{{incvar::count}} times",
        "It is {{time}}.",
        "{{random::a::b::c}}",
        "{{roll:1d6}}",
        "Last: {{lastMessage}}",
        "  ",
        "",
        "{{// only a note}}",
        "{{unknown}} stays",
        "{{trim}}\ntrimmed",
        "line\n\nline",
    ]
)
ROLES = st.sampled_from(["system", "user", "assistant"])


@st.composite
def presets(draw):
    """A SillyTavern preset: some entries around the history, some in the chat, odd markers."""
    prompts = [
        {"identifier": "main", "role": "system", "content": draw(TEXTS), "system_prompt": True},
        {"identifier": "chatHistory", "marker": True, "system_prompt": True},
    ]
    order = ["main"]
    for number in range(draw(st.integers(0, 6))):
        identifier = f"e{number}"
        body = {
            "identifier": identifier,
            "name": f"Entry {number}",
            "role": draw(ROLES),
            "content": draw(TEXTS),
            "system_prompt": False,
        }
        if draw(st.booleans()):
            body["injection_position"] = 1
            body["injection_depth"] = draw(st.integers(0, 7))
            body["injection_order"] = draw(st.sampled_from([50, 100, 200]))
        prompts.append(body)
        order.append(identifier)
    order.insert(draw(st.integers(0, len(order))), "chatHistory")
    return {
        "new_chat_prompt": draw(st.sampled_from(["", "[Start]"])),
        "squash_system_messages": draw(st.booleans()),
        "prompts": prompts,
        "prompt_order": [
            {
                "character_id": 100001,
                "order": [{"identifier": one, "enabled": True} for one in order],
            }
        ],
    }


@st.composite
def chats(draw, most=8):
    """Messages in OpenAI form, oldest first; now and then two of one role in a row."""
    roles = draw(st.lists(st.sampled_from(["user", "assistant"]), max_size=most))
    return tuple(
        ChatMessage(
            role, draw(st.sampled_from(["Hi.", "一句话。", "two\n\nparts", "<b>tag</b>"])) + str(n)
        )
        for n, role in enumerate(roles)
    )


MODES = st.sampled_from([None, "none", "merge", "semi", "strict", "single", True])
