"""The holes of the native dialect: what the runtime puts into a preset, and nothing beside it.

`worldBookBefore`, `worldBookAfter` and `postTurn` take a bag each, `currentTurn` the newest input, `chatHistory`
real turns. A session's slots find their places here too (design decision 6): the system prompt, as the
contract, and the identity lead the first bag, the summary leads the history, the insight closes the bag behind
it, the step's task closes the prompt. Without a preset a built-in skeleton keeps Stello's fixed order.

Bags know names, persona and directives; the history and the turn are data and run no macros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from preset_engine.assembler.collection import Collection
from preset_engine.assembler.pieces import Pieces
from preset_engine.assembler.scene import Scene
from preset_engine.assembler.seen import has_tools
from preset_engine.assembler.turns import Style, read_turns
from preset_engine.characters import JS_SPACE
from preset_engine.content.bags import block_pieces, print_blocks
from preset_engine.content.content import Block, Content, Slots
from preset_engine.content.framing import CONTRACT_TITLE
from preset_engine.errors import Note, Weight
from preset_engine.history.parse import parse_history
from preset_engine.history.tool_groups import clean_tool_groups
from preset_engine.messages import ChatMessage, Draft, Origin, OriginKind, Piece
from preset_engine.squash.parts import plain_pieces
from preset_engine.squash.zones import HistoryZone, Injected, Zones

INSIGHT_TITLE = "洞察"
TASK_TITLE = "本步任务"
NAME_LABEL = "姓名："
_NO_SLOTS = Slots()
_AS_GIVEN = Style(names=-1, keeps_tools=True, reads_text=False)


def ready_content(content: Content) -> tuple[Content, tuple[Note, ...]]:
    """The content with its history as turns: text is parsed, its preamble joins `before`, tool groups are whole."""
    history = content.history
    if isinstance(history, str):
        parsed = parse_history(history)
        preamble = (Block("", parsed.preamble),) if parsed.preamble else ()
        return replace(content, history=parsed.messages, before=(*content.before, *preamble)), ()
    if isinstance(history, tuple) and not has_tools(history):
        return content, ()
    messages = [message for message in history if isinstance(message, ChatMessage)]
    if len(messages) < len(history):
        return content, ()
    clean = clean_tool_groups(messages)
    return (replace(content, history=clean.messages), clean.notes) if clean.notes else (content, ())


def put_holes(scene: Scene, collection: Collection) -> None:
    """Fill the bag holes, the turn and the persona at their listed places.

    Content whose hole does not take part stays out of the prompt, with a note; the dialect sillytavern has none
    of these holes, and there the turn ends the history.
    """
    has_holes, content = scene.switches.has_turn_hole, scene.content
    if not has_holes and not (
        content.before or content.after or content.post_turn or content.slots
    ):
        return
    for identifier, pieces in _fillings(content, scene.expand_names):
        if not has_holes and identifier == "currentTurn":
            continue
        listed = collection.get(identifier) if has_holes else None
        if listed is not None:
            collection.put(listed._replace(pieces=pieces, is_custom=True))
        elif pieces:
            scene.notes.append(_hole_off(identifier))
    if has_holes:
        _put_persona(scene, collection)


def lead_history(content: Content, zone: HistoryZone) -> HistoryZone:
    """The history with the compression summary in front of what is sent of it."""
    summary = (content.slots or _NO_SLOTS).summary
    if not summary.strip(JS_SPACE):
        return zone
    lead = Injected(zone.start, _slot_draft("summary", summary))
    return replace(zone, injected=(lead, *zone.injected))


def tail_drafts(content: Content) -> tuple[Draft, ...]:
    """The running tool loop, which follows the frame unchanged."""
    return tuple(
        Draft(message, plain_pieces(message, Origin(OriginKind.TAIL, str(number)), volatile=True))
        for number, message in enumerate(content.tail)
    )


def plain_zones(content: Content) -> Zones:
    """The built-in skeleton, for a turn without a preset.

    Session slots stand in Stello's order: system prompt, shared memory, identity, insight, summary, history,
    turn. Bags, where a caller gives some, stand where their names say. Without slots and bags the messages
    pass unchanged. Texts are sent exactly as given.
    """
    slots = content.slots or _NO_SLOTS
    named = (
        ("system_prompt", slots.system_prompt),
        ("shared_memory", slots.shared_memory),
        ("identity", slots.identity),
    )
    before = [_slot_draft(name, text) for name, text in named if text]
    before += _bag_draft(content.before, "worldBookBefore", volatile=False)
    later = (("insight", slots.insight), ("summary", slots.summary))
    before += [_slot_draft(name, text) for name, text in later if text]
    after = _bag_draft(content.after, "worldBookAfter", volatile=True)
    if content.turn:
        origin = Origin(OriginKind.HOLE, "currentTurn", place="turn")
        after.append(Draft(ChatMessage("user", content.turn), (Piece(origin, content.turn, True),)))
    after += _bag_draft(content.post_turn, "postTurn", volatile=True)
    if slots.task:
        after.append(_slot_draft("task", slots.task))
    records = () if isinstance(content.history, str) else content.history
    history = HistoryZone(read_turns(records, _AS_GIVEN).messages)
    return Zones(tuple(before), history, tuple(after), tail_drafts(content))


def _fillings(content: Content, names: Callable[[str], str]) -> Iterable[tuple[str, Pieces]]:
    """What each hole is filled with."""
    contract: Sequence[Block] = ()
    insight: Sequence[Block] = ()
    task: Sequence[Block] = ()
    slots = content.slots
    if slots is not None:
        contract = [
            Block(CONTRACT_TITLE, slots.system_prompt),
            Block("", slots.shared_memory),
            Block("", slots.identity),
        ]
        insight = [Block(INSIGHT_TITLE, slots.insight)]
        task = [Block(TASK_TITLE, slots.task)]
    bags = (
        ("worldBookBefore", contract, content.before, (), False),
        ("worldBookAfter", (), content.after, insight, True),
        ("postTurn", (), content.post_turn, task, True),
    )
    for hole, lead, blocks, close, volatile in bags:
        own = block_pieces(blocks, hole, volatile=volatile)
        yield (
            hole,
            _joined(
                _session_pieces(lead),
                tuple(replace(piece, text=names(piece.text)) for piece in own),
                _session_pieces(close, volatile=True),
            ),
        )
    if content.turn.strip(JS_SPACE):
        origin = Origin(OriginKind.HOLE, "currentTurn", place="turn")
        yield "currentTurn", (Piece(origin, content.turn, volatile=True),)


def _session_pieces(blocks: Iterable[Block], *, volatile: bool = False) -> Pieces:
    return block_pieces(blocks, "slots", OriginKind.SESSION, volatile=volatile)


def _joined(*groups: Pieces) -> Pieces:
    found: list[Piece] = []
    for group in groups:
        if group and found:
            found.append(Piece(Origin(OriginKind.JOINER, "block"), "\n\n"))
        found.extend(group)
    return tuple(found)


def _put_persona(scene: Scene, collection: Collection) -> None:
    """A persona without a description is told by its name."""
    persona = scene.content.persona
    listed = collection.get("personaDescription")
    if persona is None or listed is None or persona.description.strip(JS_SPACE) or not persona.name:
        return
    origin = Origin(OriginKind.PERSONA, "persona", persona.name, "persona.name")
    collection.put(listed._replace(pieces=(Piece(origin, f"{NAME_LABEL}{persona.name}"),)))


def _slot_draft(name: str, text: str) -> Draft:
    origin = Origin(OriginKind.SESSION, name, place=f"slots.{name}")
    is_volatile = name in ("insight", "task")
    return Draft(ChatMessage("system", text), (Piece(origin, text, is_volatile),))


def _bag_draft(blocks: Iterable[Block], hole: str, *, volatile: bool) -> list[Draft]:
    blocks = tuple(blocks)
    text = print_blocks(blocks)
    if not text:
        return []
    return [Draft(ChatMessage("system", text), block_pieces(blocks, hole, volatile=volatile))]


def _hole_off(identifier: str) -> Note:
    return Note(
        "hole-off",
        f"there is content for {identifier!r}, but this hole takes no part in the preset's order",
        path=f"$.prompt_order[{identifier}]",
        advice="switch the hole on in the order, or leave its content away",
        weight=Weight.WARNING,
    )
