"""What replayed calls cost in money, by a provider's prices for a million tokens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accp_adapters.replay.cache_pricing import READ_PRICE, WRITE_PRICE
from accp_adapters.replay.report import Totals

__all__ = ["Budget", "Prices", "read_prices"]

_MILLION: Final = 1_000_000
_NAMES: Final = {
    "input": "input_cost_per_token",
    "read": "cache_read_input_token_cost",
    "write": "cache_creation_input_token_cost",
    "output": "output_cost_per_token",
}
"""The names in a price file, and those of LiteLLM's price map, which are for one token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of a million tokens, in any currency."""

    input: float
    """A token of a prompt that is not cached, because it is too short."""
    read: float
    """A token that is read from the cache."""
    write: float
    """A token that is written to the cache."""
    output: float
    """A token that the model writes."""

    def of(self, totals: Totals) -> float:
        """Return what some calls cost."""
        return self.cost(prompt=totals.prompt, cached=totals.cached, written=totals.written, output=totals.output)

    def cost(self, *, prompt: float, output: float, cached: float = 0, written: float = 0) -> float:
        """Return what tokens cost: those of prompts, of these read from and written to the cache, those of answers."""
        plain = prompt - cached - written
        return (self.input * plain + self.read * cached + self.write * written + self.output * output) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run of model calls may take before no further call is begun."""

    max_tokens: int | None = None
    """Tokens of prompts and answers; None: no limit."""
    max_cost: float | None = None
    """Money, by `prices`; None: no limit."""
    prices: Prices | None = None
    """Prices of tokens; None: everything is free."""

    def is_left(self, *, prompt: int, output: int, cached: float = 0, written: float = 0) -> bool:
        """Return whether a further call may be begun after calls of so many tokens, as `Prices.cost` takes them."""
        if self.max_tokens is not None and prompt + output >= self.max_tokens:
            return False
        prices = self.prices
        cost = prices.cost(prompt=prompt, output=output, cached=cached, written=written) if prices else 0.0
        return self.max_cost is None or cost < self.max_cost


def read_prices(given: str) -> Prices:
    """Return the prices that a text or a file names.

    Args:
        given: `input,read,write,output`, such as "3,0.3,3.75,15"; `input,output`, whose cache has the usual shares of
            the price; or the path of a JSON file with these four names, or with those of LiteLLM's price map.

    Raises:
        ValueError: it is neither, or a price is negative or no number.
        OSError: the file cannot be read.
    """
    values = given.split(",")
    if len(values) == 2:
        return _prices({"input": values[0], "output": values[1]}, given)
    if len(values) == len(_NAMES):
        return _prices(dict(zip(_NAMES, values, strict=True)), given)
    if not Path(given).is_file():
        raise ValueError(f"expected prices such as 3,15 or 3,0.3,3.75,15, or a price file, found {given!r}")
    content: Any = json.loads(Path(given).read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"expected a price file with {', '.join(_NAMES)}, found {content!r:.60}")
    per_token = {name: content[theirs] * _MILLION for name, theirs in _NAMES.items() if theirs in content}
    return _prices(per_token or content, given)


def _prices(values: dict[str, Any], given: str) -> Prices:
    if values.keys() == {"input", "output"}:
        plain = float(values["input"])
        values = {**values, "read": plain * READ_PRICE, "write": plain * WRITE_PRICE}
    missing = [name for name in _NAMES if name not in values]
    if missing:
        raise ValueError(f"expected prices for {', '.join(_NAMES)}, found none for {', '.join(missing)} in {given!r}")
    prices = {name: float(values[name]) for name in _NAMES}
    # Not `< 0`: nan is no price either.
    if not all(0 <= price < float("inf") for price in prices.values()):
        raise ValueError(f"expected prices of 0 or more, found {given!r}")
    return Prices(**prices)
