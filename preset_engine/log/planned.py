"""From a turn's plan to the messages of a log line."""

from __future__ import annotations

from preset_engine.assembler.plan import Plan, PlannedPiece
from preset_engine.log.line import LoggedMessage, LoggedPiece


def logged_messages(plan: Plan, *, with_text: bool = False) -> tuple[LoggedMessage, ...]:
    """Digest, tokens and pieces of every message; the message itself only `with_text`."""
    return tuple(
        LoggedMessage(
            role=planned.message.role,
            digest=digest,
            tokens=tokens,
            pieces=tuple(map(_piece, planned.pieces)),
            message=planned.message.to_json() if with_text else None,
        )
        for planned, digest, tokens in zip(
            plan.messages(), plan.message_digests(), plan.message_tokens()
        )
    )


def _piece(piece: PlannedPiece) -> LoggedPiece:
    origin = piece.origin
    return LoggedPiece(
        kind=origin.kind.value,
        id=origin.id,
        name=origin.name,
        place=origin.place,
        start=piece.start,
        stop=piece.stop,
        tokens=piece.tokens,
        digest=piece.digest,
        stability=piece.stability.value,
    )
