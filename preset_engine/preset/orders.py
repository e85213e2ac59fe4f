"""Reads `prompt_order` in all its shapes, and chooses the list that a preset means.

Shapes seen: a list of `{character_id, order}`; a flat list of entries; both mixed; an object by id; a list of
identifiers; null or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from preset_engine.errors import InputTooLarge
from preset_engine.json_values import as_list
from preset_engine.messages import JsonValue
from preset_engine.preset.builtin import CURRENT_ORDER_ID, DEFAULT_ORDER
from preset_engine.preset.entries import MAX_ENTRIES
from preset_engine.preset.meanings import read_flag
from preset_engine.preset.model import OrderItem, Preset, PresetSource, PromptEntry, PromptOrder
from preset_engine.preset.notebook import Notebook, shown


def read_orders(
    value: JsonValue, notes: Notebook, path: str = "$.prompt_order"
) -> tuple[PromptOrder, ...]:
    """Every order list that a `prompt_order` value holds; flat entries get the id ""."""
    if isinstance(value, dict):
        return _from_object(value, notes, path)
    if not isinstance(value, list):
        if value is not None:
            notes.add("order-odd", "prompt_order is no list; it is left out", path)
        return ()
    if len(value) > MAX_ENTRIES:
        message = f"{path} has {len(value):,} elements; presets are read up to {MAX_ENTRIES:,}"
        raise InputTooLarge(message)
    flat: list[tuple[str, JsonValue]] = []
    lists: list[PromptOrder] = []
    for i, item in enumerate(value):
        place = f"{path}[{i}]"
        if isinstance(item, dict) and isinstance(item.get("order"), (list, dict)):
            lists.append(_wrapper(item, notes, place))
        elif isinstance(item, (dict, str)):
            flat.append((place, item))
        else:
            notes.add(
                "order-odd",
                "an element of prompt_order is neither a list nor an entry; it is left out",
                place,
            )
    if flat:
        notes.add(
            "order-flat",
            f"{len(flat)} entries stand in prompt_order itself and not in a list for a character; "
            "they are read as a list of their own, which SillyTavern does not use",
            path,
        )
        lists.append(PromptOrder("", _items(flat, notes)))
    return tuple(lists)


def _from_object(
    value: dict[str, JsonValue], notes: Notebook, path: str
) -> tuple[PromptOrder, ...]:
    notes.add("order-odd", "prompt_order is an object, not a list; its lists are taken", path)
    if isinstance(value.get("order"), list):
        return (_wrapper(value, notes, path),)
    return tuple(
        PromptOrder(key, _items(_places(items, f"{path}.{key}"), notes))
        for key, items in value.items()
        if isinstance(items, list)
    )


def _wrapper(item: dict[str, JsonValue], notes: Notebook, place: str) -> PromptOrder:
    identity = item.get("character_id")
    if isinstance(identity, bool) or not isinstance(identity, int):
        notes.add(
            "character-id-odd",
            f"a character_id is {shown(identity)} and no number; it is read as text",
            f"{place}.character_id",
        )
    if isinstance(identity, float) and identity == int(identity):
        identity = int(identity)
    order = item.get("order")
    items = list(order.values()) if isinstance(order, dict) else order
    listed = as_list(items)
    return PromptOrder(
        "" if identity is None else str(identity), _items(_places(listed, f"{place}.order"), notes)
    )


def _places(items: list[JsonValue], path: str) -> list[tuple[str, JsonValue]]:
    if len(items) > MAX_ENTRIES:
        message = f"{path} has {len(items):,} elements; presets are read up to {MAX_ENTRIES:,}"
        raise InputTooLarge(message)
    return [(f"{path}[{i}]", item) for i, item in enumerate(items)]


def _items(found: Iterable[tuple[str, JsonValue]], notes: Notebook) -> tuple[OrderItem, ...]:
    items = []
    for place, item in found:
        if isinstance(item, str):
            notes.add(
                "order-item-text",
                "an order lists bare identifiers; each is read as switched on",
                place,
            )
            items.append(OrderItem(item, True))
            continue
        identifier = item.get("identifier") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(identifier, (str, int)):
            notes.add("order-odd", "an order entry has no identifier; it is left out", place)
            continue
        items.append(OrderItem(str(identifier), _is_enabled(item, notes, place)))
    return tuple(items)


def _is_enabled(item: dict[str, JsonValue], notes: Notebook, place: str) -> bool:
    value = item.get("enabled")
    if isinstance(value, bool):
        return value
    read = read_flag(value, default=False)
    notes.add(
        "order-flag-odd",
        f"enabled is {shown(value) if 'enabled' in item else 'missing'} in an order; it is read as {str(read).lower()}",
        f"{place}.enabled",
    )
    return read


def chosen_order(preset: Preset) -> PromptOrder:
    """The list the native dialect follows: the best-scored one, SillyTavern's default where there is none.

    Of several lists the score decides (seeds reference 3.7): 3 for every enabled item whose prompt has text,
    1 for one without text that is no marker, nothing for markers; the first of equals wins.
    """
    return choose_order(preset.orders, preset.prompts, preset.source)


def choose_order(
    orders: tuple[PromptOrder, ...], prompts: tuple[PromptEntry, ...], source: PresetSource
) -> PromptOrder:
    """`chosen_order` before there is a preset."""
    if not orders:
        items = DEFAULT_ORDER if source is PresetSource.SILLYTAVERN else ()
        return PromptOrder(CURRENT_ORDER_ID if items else "", items)
    if len(orders) == 1:
        return orders[0]
    by_id: dict[str, PromptEntry] = {}
    for entry in prompts:
        by_id.setdefault(entry.identifier, entry)
    return max(orders, key=lambda order: sum(_score(item, by_id) for item in order.items))


def _score(item: OrderItem, by_id: dict[str, PromptEntry]) -> int:
    entry = by_id.get(item.identifier)
    if not item.is_enabled or entry is None:
        return 0
    if entry.content.strip():
        return 3
    return 0 if entry.is_marker else 1
