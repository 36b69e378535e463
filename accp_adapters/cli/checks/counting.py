"""The token counter, and what a policy would do to the run that comes with the package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accp_adapters.cli.checks.check import Check
from accp_adapters.cli.replaying import EXAMPLE

__all__ = ["counter", "policy"]

_SAMPLE: Final = 'Tokens are counted here: {"a": [1, 2.5, "naïve 東京"]}'
_O200K: Final = "o200k_base"
_O200K_TOKENS: Final = 23
"""Tokens of the sample, counted with the vocabulary as published."""


def counter(name: str) -> Check:
    """Return whether a token counter loads and, of o200k_base, whether its vocabulary is whole."""
    from accp_adapters.tokens import by_name

    title = f"counter {name}"
    try:
        tokens = by_name(name)(_SAMPLE)
    # tiktoken downloads other vocabularies, by a client with errors of its own.
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        advice = "use o200k_base, which needs no network, or the path of a tokenizer.json (extra tokenizers)"
        return Check(name=title, found=reason, next_step=advice)
    if name == _O200K and tokens != _O200K_TOKENS:
        found = f"expected {_O200K_TOKENS} tokens of the sample, found {tokens}"
        return Check(name=title, found=found, next_step="pip install --force-reinstall accp-middleware")
    place = "its vocabulary is in the package" if name == _O200K else "loaded"
    return Check(name=title, found=f"{tokens} tokens of a sample; {place}")


def policy(name: str) -> Iterator[Check]:
    """Yield what the policy `name` does to the recorded run of the package, and to its largest result."""
    from accp_adapters.replay import StrategyName, compare, read_runs

    title = f"policy {name}"
    report = compare(read_runs(EXAMPLE), StrategyName(name))
    total, largest = report.total(), report.largest_recorded()[0].message
    yield Check(
        name=title,
        found=f"{total.before.prompt:,} → {total.after.prompt:,} tokens of prompts in an example; "
        f"{total.after.visible} of {total.after.needed} needed values visible, all others one query away"
        if total.after.reachable == total.after.needed
        else f"{total.after.needed - total.after.reachable} needed values of an example out of reach",
        next_step="" if total.after.reachable == total.after.needed else "report this as a fault of this package",
    )
    yield Check(
        name=title, found=f"its largest result, of {largest.tool}: {largest.recorded:,} → {largest.sent:,} tokens"
    )
