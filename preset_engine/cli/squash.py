"""`preset-engine squash`: a message list in, the shaped list out; or one row a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from preset_engine.messages import JsonObject, JsonValue
    from preset_engine.squash.names import Names


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("squash", short_help="Shape a list of messages.")(squash)


def squash(
    messages: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="File with a JSON list of messages, or - for standard input."
        ),
    ] = "-",
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            "-m",
            help="none, merge, semi, strict, single; merge_tools, semi_tools, strict_tools.",
        ),
    ] = "strict",
    system: Annotated[
        bool,
        typer.Option("--system", help="Only join system messages, as squash_system_messages does."),
    ] = False,
    char: Annotated[str, typer.Option(help="The character's name, for prefixes.")] = "",
    user: Annotated[str, typer.Option(help="The user's name, for prefixes.")] = "",
    placeholder: Annotated[
        str, typer.Option(help="Text of the user message that strict may add.")
    ] = "[Start a new chat]",
    lines: Annotated[
        bool, typer.Option("--lines", help="One row a line; one answer line for each.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print compact JSON (the answer is JSON in any case).")
    ] = False,
) -> None:
    """Shape a message list as a preset's post-processing would, and print it as JSON."""
    import sys

    from preset_engine.cli.json_io import answer_lines, parse_json, read_text, to_json
    from preset_engine.squash.names import Names

    if lines:
        raise typer.Exit(0 if answer_lines(messages, "id", answer_row) else 1)
    names = Names(char, user)
    given = parse_json(read_text(messages), messages)
    shaped = shape_list(given, mode, names, placeholder, system=system)
    text = to_json(shaped, indent=None if as_json else 1, ascii_only=False)
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")


def shape_list(
    value: JsonValue, mode: str, names: Names, placeholder: str, *, system: bool = False
) -> list[JsonObject]:
    """The shaped list as JSON objects; `none` hands the objects on untouched.

    Raises:
        InputRefused: the value is no list of message objects.
        AssemblyError: there is no such mode.
    """
    from preset_engine.messages import parse_messages
    from preset_engine.squash.mode import Mode, mode_of
    from preset_engine.squash.post_process import post_process
    from preset_engine.squash.system import squash_messages

    given = _objects(value)
    chosen = mode_of(mode)
    if system:
        return [message.to_json() for message in squash_messages(parse_messages(given))]
    if chosen is Mode.NONE:
        return given
    shaped = post_process(parse_messages(given), chosen, names, placeholder)
    return [message.to_json() for message in shaped]


def answer_row(row: JsonObject) -> JsonObject:
    """The answer to one row; its `kind` says which shaping is asked for."""
    from preset_engine.errors import InputRefused

    match row.get("kind"):
        case "post_process":
            return {"id": row.get("id"), "out": _every_mode(row)}
        case "claude":
            return {"id": row.get("id"), **_anthropic(row)}
        case "openai_shape_cache":
            return {"id": row.get("id"), "out": _marked(_objects(row.get("messages")), row)}
        case kind:
            known = "post_process, claude, openai_shape_cache"
            raise InputRefused(f"a row's kind is one of {known}, not {kind!r}")


def _every_mode(row: JsonObject) -> JsonObject:
    from preset_engine.squash.mode import Mode
    from preset_engine.squash.shaped import PLACEHOLDER

    names = _names(row)
    placeholder = row.get("placeholder")
    text = placeholder if isinstance(placeholder, str) else PLACEHOLDER
    modes = ["", "claude", *(mode.value for mode in Mode if mode is not Mode.NONE)]
    return {mode: list(shape_list(row.get("messages"), mode, names, text)) for mode in modes}


def _anthropic(row: JsonObject) -> JsonObject:
    from preset_engine.messages import parse_messages
    from preset_engine.squash.anthropic_shape import to_anthropic

    prefill, given = row.get("prefill"), _objects(row.get("messages"))
    shape = to_anthropic(
        parse_messages(given),
        names=_names(row),
        prefill=prefill if isinstance(prefill, str) else "",
        use_system_prompt=bool(row.get("use_system_prompt")),
        use_tools=bool(row.get("use_tools")),
    )
    for block, message in zip(shape.system, given, strict=False):
        if "text" not in block and "content" in message:
            block["text"] = None  # a missing content gives no text, a null one a null text
    out: JsonObject = {"messages": list(shape.messages), "systemPrompt": list(shape.system)}
    return {"out": out, "out_cached_messages": _marked(shape.messages, row)}


def _marked(messages: list[JsonObject], row: JsonObject) -> JsonValue:
    from preset_engine.squash.cache_marks import DEFAULT_TTL, mark_messages

    depth, ttl = row.get("caching_at_depth"), row.get("ttl")
    if not isinstance(depth, int):
        return list(messages)
    return list(mark_messages(messages, depth, ttl if isinstance(ttl, str) else DEFAULT_TTL))


def _names(row: JsonObject) -> Names:
    from preset_engine.squash.names import Names

    names = row.get("names")
    return Names.from_json(names if isinstance(names, dict) else {})


def _objects(value: JsonValue) -> list[JsonObject]:
    from preset_engine.errors import InputRefused

    listed = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise InputRefused("messages must be a JSON list of objects with a role and a content")
    return [item for item in listed if isinstance(item, dict)]
