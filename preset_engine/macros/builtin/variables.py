"""Variables of the chat and of the user, by macro."""

from __future__ import annotations

from collections.abc import Callable

from preset_engine.macros import variables
from preset_engine.macros.engine import Engine
from preset_engine.macros.invocation import Invocation, MacroRejected
from preset_engine.macros.registry import Handler, Macro, Parameter, Volatility
from preset_engine.macros.run import Run
from preset_engine.macros.variables import NameMissing, show

_NEW = frozenset({Engine.new})
_BOTH = frozenset({Engine.new, Engine.legacy})
_ALL = frozenset(Engine)

_LIST_COST = 4  # taking JSON apart costs more than copying text
_NAME = Parameter("name", "of the variable")
_VALUE = Parameter("value", "any text")
_KEY = Parameter("key", "a number for lists, any text for objects")


def set_variable(run: Run, scope: str, name: str, value: str, *, is_tainted: bool) -> str:
    """Set a variable; prints nothing."""
    try:
        variables.write(run.ledger.store(scope), name, value, run.ledger.limits)
    except NameMissing:
        raise MacroRejected from None
    _remember(run, (scope, name), is_tainted=is_tainted)
    return ""


def _remember(run: Run, key: tuple[str, str], *, is_tainted: bool) -> None:
    if is_tainted:
        run.ledger.tainted.add(key)
        run.ledger.settled.discard(key)
    else:
        run.ledger.tainted.discard(key)
        run.ledger.settled.add(key)


def add_variable(run: Run, scope: str, name: str, value: str | int, *, is_tainted: bool) -> str:
    """Add to a variable; returns the text of the new value."""
    ledger = run.ledger
    store = ledger.store(scope)
    try:
        new = variables.add(store, name, value, ledger.limits)
    except NameMissing:
        raise MacroRejected from None
    held = store.get(name)
    run.cost.spend((_LIST_COST if isinstance(new, list) else 1) * len(str(held)))
    outlives = ledger.engine is not Engine.native and (scope, name) not in ledger.settled
    if is_tainted or outlives:
        ledger.tainted.add((scope, name))
    return show(new)


def get_variable(run: Run, scope: str, name: str) -> str:
    """The text of a variable."""
    run.cost.is_volatile |= (scope, name) in run.ledger.tainted
    return show(variables.read(run.ledger.store(scope), name))


def _set(scope: str) -> Handler:
    def handler(call: Invocation) -> str:
        name, value = call.argument(0), "::".join(call.arguments[1:])
        return set_variable(call.run, scope, name, value, is_tainted=call.is_tainted)

    return handler


def _add(scope: str) -> Handler:
    def handler(call: Invocation) -> str:
        name, value = call.argument(0), "::".join(call.arguments[1:])
        add_variable(call.run, scope, name, value, is_tainted=call.is_tainted)
        return ""

    return handler


def _step(scope: str, size: int) -> Handler:
    def handler(call: Invocation) -> str:
        return add_variable(call.run, scope, call.argument(0), size, is_tainted=call.is_tainted)

    return handler


def _get(scope: str) -> Handler:
    return lambda call: get_variable(call.run, scope, call.argument(0))


def _has(scope: str) -> Handler:
    return lambda call: "true" if call.argument(0) in call.run.ledger.store(scope) else "false"


def _delete(scope: str) -> Handler:
    def handler(call: Invocation) -> str:
        call.run.ledger.store(scope).pop(call.argument(0), None)
        _remember(call.run, (scope, call.argument(0)), is_tainted=False)
        return ""

    return handler


def _set_key(scope: str) -> Handler:
    def handler(call: Invocation) -> str:
        run, name, key = call.run, call.argument(0), call.argument(1)
        store = run.ledger.store(scope)
        try:
            variables.write_key(store, name, key, call.argument(2), run.ledger.limits)
        except NameMissing:
            raise MacroRejected from None
        run.cost.spend(_LIST_COST * len(str(store.get(name, ""))))
        if call.is_tainted:
            run.ledger.tainted.add((scope, name))
        return ""

    return handler


def _get_key(scope: str) -> Handler:
    def handler(call: Invocation) -> str:
        run, name = call.run, call.argument(0)
        run.cost.is_volatile |= (scope, name) in run.ledger.tainted
        store = run.ledger.store(scope)
        run.cost.spend(_LIST_COST * len(str(store.get(name, ""))))
        return show(variables.read_key(store, name, call.argument(1)))

    return handler


def _family(scope: str) -> list[Macro]:
    """The macros of one store; `global` stands in the names of the user's ones."""
    mid = "global" if scope == "global" else ""
    whose = "the user's" if scope == "global" else "the chat's"
    seeds = _BOTH if scope == "global" else _ALL
    count = Volatility.counter

    def make(
        name: str,
        meaning: str,
        example: str,
        handler: Callable[[Invocation], str],
        *parameters: Parameter,
        aliases: tuple[str, ...] = (),
        engines: frozenset[Engine] = _NEW,
        volatility: Volatility = Volatility.never,
        hides: bool = False,
    ) -> Macro:
        return Macro(
            name,
            meaning.replace("WHOSE", whose),
            "{{" + example + "}}",
            handler,
            parameters,
            aliases,
            volatility=volatility,
            engines=engines,
            subject="variables",
            hides_arguments=hides,
        )

    return [
        make(
            f"set{mid}var",
            "Sets one of WHOSE variables; prints nothing.",
            f"set{mid}var::mood::calm",
            _set(scope),
            _NAME,
            _VALUE,
            engines=seeds,
            hides=True,
        ),
        make(
            f"add{mid}var",
            "Adds a number, appends a text, or appends to a list; prints nothing.",
            f"add{mid}var::score::5",
            _add(scope),
            _NAME,
            _VALUE,
            engines=seeds,
            hides=True,
        ),
        make(
            f"inc{mid}var",
            "Adds one to one of WHOSE variables and prints it.",
            f"inc{mid}var::turns",
            _step(scope, 1),
            _NAME,
            engines=_BOTH,
            volatility=count,
        ),
        make(
            f"dec{mid}var",
            "Takes one from one of WHOSE variables and prints it.",
            f"dec{mid}var::lives",
            _step(scope, -1),
            _NAME,
            engines=_BOTH,
            volatility=count,
        ),
        make(
            f"get{mid}var",
            "Prints one of WHOSE variables; empty when it was never set.",
            f"get{mid}var::mood",
            _get(scope),
            _NAME,
            engines=seeds,
        ),
        make(
            f"has{mid}var",
            "`true` if one of WHOSE variables exists.",
            f"has{mid}var::mood",
            _has(scope),
            _NAME,
            aliases=(f"{mid}varexists",),
        ),
        make(
            f"delete{mid}var",
            "Forgets one of WHOSE variables; prints nothing.",
            f"delete{mid}var::mood",
            _delete(scope),
            _NAME,
            aliases=(f"flush{mid}var",),
            hides=True,
        ),
        make(
            f"set{mid}varkey",
            "Sets a member of a list or object kept as JSON; prints nothing.",
            f"set{mid}varkey::bag::0::rope",
            _set_key(scope),
            _NAME,
            _KEY,
            _VALUE,
            aliases=(f"set{mid}varindex",),
            hides=True,
        ),
        make(
            f"get{mid}varkey",
            "Prints a member of a list or object kept as JSON.",
            f"get{mid}varkey::bag::0",
            _get_key(scope),
            _NAME,
            _KEY,
            aliases=(f"get{mid}varindex",),
        ),
    ]


MACROS = (*_family("local"), *_family("global"))
