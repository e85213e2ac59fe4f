"""The probe on a terminal: a map of the prompt, its messages with the source of every piece, what costs what, notes.

Long content is shown in part unless everything is asked for: the more pieces a prompt has, the fewer lines of each
are shown, and the middle of a long history becomes one line. Nothing shown in part goes without saying so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.rule import Rule
from rich.segment import Segment
from rich.text import Text

from preset_engine.assembler.plan import PlannedPiece, StablePrefix
from preset_engine.cli.probe_tables import STABILITY_WORDS, probe_tables
from preset_engine.cli.probe_view import MessageView, ProbeView, title_of
from preset_engine.cli.render import (
    DIM,
    clip,
    foreign,
    number,
    one_line,
    plural,
    role_style,
    visible,
)
from preset_engine.messages import OriginKind

_HEAD_OF_HISTORY, _END_OF_HISTORY = 2, 4


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of each piece is shown."""

    lines: int
    characters: int


_EVERYTHING = Detail(10**9, 10**9)


def detail_for(pieces: int, *, full: bool) -> Detail:
    """Much of a few pieces, little of many."""
    if full:
        return _EVERYTHING
    if pieces <= 24:
        return Detail(12, 900)
    return Detail(5, 360) if pieces <= 60 else Detail(3, 160)


@dataclass(frozen=True, slots=True)
class _Edged:
    """A renderable with an edge of two columns down its left side."""

    body: RenderableType
    edge: str = "  "
    style: str = "none"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = options.update(width=max(options.max_width - 2, 8))
        style = console.get_style(self.style)
        for line in console.render_lines(self.body, inner, pad=False):
            yield Segment(self.edge, style)
            yield from line
            yield Segment.line()


@dataclass(frozen=True, slots=True)
class _Map:
    """The prompt as one bar: each message as wide as its tokens, in the colour of its role; stable part solid."""

    view: ProbeView

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, total = options.max_width, max(self.view.tokens, 1)
        done, column = 0, 0
        for message in self.view.messages:
            done += message.tokens
            end = round(done * width / total)
            style = console.get_style(role_style(message.message.role))
            for cell in range(column, end):
                is_stable = cell * total < self.view.prefix.tokens * width
                yield Segment("█" if is_stable else "░", style)
            column = max(column, end)
        yield Segment.line()


def probe_screen(view: ProbeView, *, full: bool = False) -> Group:
    """Everything a probe shows, top to bottom."""
    return Group(
        _header(view),
        Text(),
        _Map(view),
        _legend(view),
        Text(),
        *_messages(view, full=full),
        *probe_tables(view, full=full),
    )


def _header(view: ProbeView) -> RenderableType:
    facts = Text(" · ").join(
        [
            Text(f"dialect {view.dialect}"),
            Text(f"shaping {view.shaping}"),
            Text(plural(len(view.messages), "message")),
            Text(f"{plural(view.tokens, 'token')} ({view.counter})"),
        ]
    )
    lines = [facts]
    if view.samples:
        lines.append(Text(f"filled with built-in samples: {', '.join(view.samples)}", style=DIM))
    title = Text(f" {one_line(view.preset, 60)} ", style="bold")
    return Panel(Group(*lines), title=title, title_align="left", border_style=DIM)


def _legend(view: ProbeView) -> Text:
    share = round(100 * view.prefix.tokens / view.tokens) if view.tokens else 0
    roles = dict.fromkeys(message.message.role for message in view.messages)
    names = Text("  ").join([Text(f"■ {visible(role)}", style=role_style(role)) for role in roles])
    stable = f"   stable prefix: {plural(view.prefix.tokens, 'token')}, {share} % (solid)"
    return Text.assemble(names, (stable, DIM))


def _messages(view: ProbeView, *, full: bool) -> Iterator[RenderableType]:
    detail = detail_for(sum(len(message.pieces) for message in view.messages), full=full)
    numbered = enumerate(view.messages)
    for is_history, run in groupby(numbered, key=lambda item: item[1].is_history):
        items = list(run)
        hidden = range(0)
        if is_history and not full and len(items) > _HEAD_OF_HISTORY + _END_OF_HISTORY + 1:
            hidden = range(_HEAD_OF_HISTORY, len(items) - _END_OF_HISTORY)
        for place, (index, message) in enumerate(items):
            if place not in hidden:
                yield from _message(index, message, view.prefix, detail)
            elif place == hidden.start:
                yield from _folded([items[i] for i in hidden], view.prefix)


def _folded(items: list[tuple[int, MessageView]], prefix: StablePrefix) -> Iterator[RenderableType]:
    count = sum(message.tokens for _, message in items)
    text = f"⋮ {number(len(items))} messages of the history, {number(count)} tokens (--full shows them)"
    yield Text(text, style=DIM)
    yield Text()
    if items[0][0] <= prefix.messages <= items[-1][0]:
        yield _cut(prefix)


def _message(
    index: int, view: MessageView, prefix: StablePrefix, detail: Detail
) -> Iterator[RenderableType]:
    cut = prefix.characters if index == prefix.messages else None
    is_whole = cut is not None and cut >= len(view.message.text) > 0
    if cut == 0:
        yield _cut(prefix)
    style = role_style(view.message.role)
    heard = _heard(view)
    head = _head(index, view, heard[0] if len(heard) == 1 else None)
    yield _Edged(Group(head, *_pieces(view, detail, prefix, cut or None)), "▌ ", style)
    yield _cut(prefix) if is_whole else Text()


def _head(index: int, view: MessageView, only: PlannedPiece | None) -> Text:
    """Number, role and tokens; of a message with one source its label too."""
    message = view.message
    role = visible(message.role)
    head = Text.assemble((f"{index + 1} {role}", f"bold {role_style(message.role)}"))
    if message.name:
        head.append(f" ({one_line(message.name, 30)})")
    head.append(f"  {plural(view.tokens, 'token')}", style=DIM)
    if message.tool_calls:
        names = ", ".join(_call_name(call) for call in message.tool_calls)
        head.append(f"  calls {one_line(names, 60)}", style=DIM)
    if message.tool_call_id is not None:
        head.append(f"  answers {one_line(message.tool_call_id, 40)}", style=DIM)
    if isinstance(message.content, tuple):
        kinds = ", ".join(str(part.get("type")) for part in message.content)
        head.append(f"  parts: {one_line(kinds, 60)}", style=DIM)
    if only is not None:
        head.append("  ")
        head.append_text(_label(only))
    return head


def _call_name(call: object) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    return str(function.get("name")) if isinstance(function, dict) else "?"


def _pieces(
    view: MessageView, detail: Detail, prefix: StablePrefix, cut: int | None
) -> Iterator[RenderableType]:
    heard, lead = _heard(view), ""
    for piece in view.pieces:
        if cut is not None and piece.start >= cut:
            yield _cut(prefix)
            cut = None
        if piece.origin.kind is OriginKind.JOINER:
            lead = piece.text.rpartition("\n")[2]  # a name in front of the next piece
            continue
        if len(heard) > 1:
            label = _label(piece)
            label.append(f"  {plural(piece.tokens, 'token')}", style=DIM)
            yield label
        if piece.text:
            yield from _body(lead + piece.text, detail)
        lead = ""


def _heard(view: MessageView) -> list[PlannedPiece]:
    """The pieces without those that only join others."""
    return [piece for piece in view.pieces if piece.origin.kind is not OriginKind.JOINER]


def _label(piece: PlannedPiece) -> Text:
    origin, title = piece.origin, title_of(piece.origin)
    place = origin.place if origin.place != title else ""
    return Text.assemble(
        ("▸ ", DIM),
        (one_line(title, 48), "bold"),
        (f"  {origin.kind.value}", f"italic {DIM}"),
        (f"  {one_line(place, 40)}" if place else "", DIM),
        (f"  {STABILITY_WORDS[piece.stability]}".rstrip(), "yellow"),
    )


def _body(text: str, detail: Detail) -> Iterator[RenderableType]:
    kept, lines, characters = clip(text, detail.lines, detail.characters)
    shown = foreign(kept)
    if characters:
        more = f"{number(lines)} more lines, " if lines > 1 else ""
        shown.append(f"\n… {more}{number(characters)} more characters", style=DIM)
    yield _Edged(shown)


def _cut(prefix: StablePrefix) -> Rule:
    words = f"stable up to here: {plural(prefix.tokens, 'token')}"
    if prefix.breaker is not None:
        words += f"; then {title_of(prefix.breaker.origin)}, {prefix.breaker.since}"
    return Rule(Text(one_line(words, 120), style="yellow"), style="yellow", characters="╌")
