"""What a reader keeps between the lines of one file."""

from __future__ import annotations

from dataclasses import dataclass, field

from preset_engine.log.readers.fields import Body, Envelope


@dataclass(slots=True)
class Memory:
    """State of one file.

    Attributes:
        model: model named by an earlier line (Codex).
        session: session named by an earlier line.
        stream: the message that an Anthropic event stream has begun: its body so far.
        stream_envelope: what stood around it.
        last_total: the last cumulative count of a Codex session, to tell a repeated event.
        depth: how many containers are open.
    """

    model: str | None = None
    session: str | None = None
    stream: dict[str, object] | None = None
    stream_envelope: Envelope = field(default_factory=Envelope)
    last_total: Body | None = None
    depth: int = 0
