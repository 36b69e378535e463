"""The options `--price`, `--max-tokens` and `--max-cost` of the commands that call models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from accp_adapters.replay.prices import Budget, Prices

__all__ = ["read_budget", "read_price_option"]


def read_price_option(given: str | None) -> Prices | None:
    """Return the prices of the option, None without it.

    Raises:
        typer.BadParameter: they are no prices, or the file cannot be read.
    """
    from accp_adapters.replay.prices import read_prices

    try:
        return read_prices(given) if given else None
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error), param_hint="--price") from error


def read_budget(max_tokens: int | None, max_cost: float | None, price: str | None) -> Budget:
    """Return what a run may take.

    Raises:
        typer.BadParameter: as `read_price_option`, or money is limited without prices.
    """
    from accp_adapters.replay.prices import Budget

    prices = read_price_option(price)
    if max_cost is not None and prices is None:
        raise typer.BadParameter("expected --price with it, found none", param_hint="--max-cost")
    return Budget(max_tokens=max_tokens, max_cost=max_cost, prices=prices)
