"""Prices of tokens from a file of the user's, and what a report's tokens cost with and without the cache.

    {"currency": "USD", "models": {"gpt-4o*": {"input": 2.5, "cached": 1.25, "written": 2.5, "output": 10}}}

Prices are per million tokens. A model is looked up by its name, else by the first pattern that fits (`*` stands for
anything). `cached` and `written` default to the price of input. Models without a price are named, not guessed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from preset_engine.cache.report import Report, Side
from preset_engine.errors import UnreadableInput, WrongKind


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens of each sort."""

    input: float
    cached: float
    written: float
    output: float

    def cost(self, side: Side) -> float:
        """What these calls cost; prompts whose cached count is unknown are priced as uncached."""
        fresh = side.prompt_tokens - side.cached_tokens - side.written_tokens
        plain = max(0, fresh) + side.unknown_prompt_tokens
        return (
            plain * self.input
            + side.cached_tokens * self.cached
            + side.written_tokens * self.written
            + side.output_tokens * self.output
        ) / 1e6

    def cost_without_cache(self, side: Side) -> float:
        """What they would have cost with every prompt token at the plain price."""
        prompt = side.prompt_tokens + side.unknown_prompt_tokens
        return (prompt * self.input + side.output_tokens * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Prices:
    """A price list."""

    currency: str
    models: Mapping[str, Price]

    def find(self, model: str) -> Price | None:
        """The price of a model: by name, else by the first fitting pattern."""
        if model in self.models:
            return self.models[model]
        return next(
            (price for name, price in self.models.items() if fnmatchcase(model, name)), None
        )


@dataclass(frozen=True, slots=True)
class Money:
    """Costs by model, in the list's currency.

    Attributes:
        currency: as the list names it.
        models: model, cost, cost without a cache.
        unpriced: models that the list does not know.
    """

    currency: str
    models: tuple[tuple[str, float, float], ...]
    unpriced: tuple[str, ...]

    @property
    def cost(self) -> float:
        """All priced models together."""
        return sum(cost for _, cost, _ in self.models)

    @property
    def saved(self) -> float:
        """What the cache saved; negative where writing cost more than reading saved."""
        return sum(plain - cost for _, cost, plain in self.models)

    def to_json(self) -> dict[str, object]:
        """The costs, rounded to six places."""
        return {
            "currency": self.currency,
            "cost": round(self.cost, 6),
            "saved": round(self.saved, 6),
            "models": {
                name: {"cost": round(cost, 6), "cost_without_cache": round(plain, 6)}
                for name, cost, plain in self.models
            },
            "unpriced": list(self.unpriced),
        }


def load_prices(path: Path) -> Prices:
    """Read a price file.

    Raises:
        UnreadableInput: the file is missing or no JSON.
        WrongKind: it is JSON of another form.
    """
    try:
        body = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or f"not JSON ({error})"
        message = f"{str(path)!r} is no readable price file: {reason}; check the path"
        raise UnreadableInput(message) from error
    models = body.get("models") if isinstance(body, dict) else None
    if not isinstance(models, dict):
        raise WrongKind(
            f"{str(path)!r} is no price file; it needs 'models' with prices", "other_json"
        )
    prices = {str(name): _price(name, entry, path) for name, entry in models.items()}
    return Prices(str(body.get("currency", "USD")), prices)


def count_money(by_model: Report, prices: Prices) -> Money:
    """Costs from a report whose only key is the model."""
    listed, unpriced = [], []
    for row in by_model.rows:
        price = prices.find(row.keys[0])
        if price is None:
            unpriced.append(row.keys[0])
        else:
            listed.append((row.keys[0], price.cost(row.both), price.cost_without_cache(row.both)))
    return Money(prices.currency, tuple(listed), tuple(unpriced))


def _price(name: object, entry: object, path: Path) -> Price:
    figures = entry if isinstance(entry, dict) else {}
    given = {
        sort: float(figures[sort])
        for sort in ("input", "cached", "written", "output")
        if isinstance(figures.get(sort), int | float) and not isinstance(figures[sort], bool)
    }
    if "input" not in given or "output" not in given:
        text = f"{str(path)!r}: the prices of {name!r} need numbers for 'input' and 'output'"
        raise WrongKind(text, "other_json")
    plain = given["input"]
    return Price(plain, given.get("cached", plain), given.get("written", plain), given["output"])
