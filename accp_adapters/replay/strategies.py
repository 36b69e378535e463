"""The strategies that have a name: as recorded, compact JSON, and the presets of the LangGraph adapter's policy."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from accp_adapters.replay.strategy import SentMessage, Strategy
from accp_adapters.tokens import count_remembered
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

if TYPE_CHECKING:
    from accp_adapters.langgraph import Policy

__all__ = ["AS_RECORDED", "StrategyName", "compact_json_strategy", "strategy_named", "to_strategy"]

AS_RECORDED: Final = Strategy(name="as recorded", rewrite=lambda incoming: SentMessage(text=incoming.message.text))
"""Changes nothing: what every other strategy is compared with."""


class StrategyName(StrEnum):
    """The name of a strategy."""

    AS_RECORDED = "as-recorded"
    COMPACT = "compact-json"
    LOSSLESS = "lossless"
    DEFAULT = "default"
    TIGHT = "tight"


def to_strategy(chosen: Strategy | StrategyName | Policy) -> Strategy:
    """Return the strategy that `chosen` is, names, or is the policy of; named ones count o200k_base tokens.

    Raises:
        ImportError: the strategy needs the LangGraph adapter, which is not installed.
    """
    if isinstance(chosen, Strategy):
        return chosen
    if isinstance(chosen, StrategyName):
        return strategy_named(chosen, count_remembered)
    # Who has a policy has the adapter.
    from accp_adapters.replay.policies import policy_strategy

    return policy_strategy("policy", chosen)


def strategy_named(name: StrategyName, counter: TokenCounter) -> Strategy:
    """Return the strategy called `name`.

    Args:
        name: The last three are presets of the LangGraph adapter's `Policy`.
        counter: Counts the tokens of the model.

    Raises:
        ImportError: the strategy needs the LangGraph adapter, which is not installed.
    """
    match name:
        case StrategyName.AS_RECORDED:
            return AS_RECORDED
        case StrategyName.COMPACT:
            return compact_json_strategy(counter)
    return _preset(name, counter)


def compact_json_strategy(counter: TokenCounter) -> Strategy:
    """Return the baseline: a text that is JSON becomes compact JSON where that has fewer tokens."""
    return Strategy(
        name="compact JSON",
        rewrite=lambda incoming: SentMessage(text=_shorten(incoming.message.text, counter)),
    )


def _shorten(text: str, counter: TokenCounter) -> str:
    try:
        shorter = compact_json(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return shorter if counter(shorter) < counter(text) else text


def _preset(name: StrategyName, counter: TokenCounter) -> Strategy:
    try:
        from accp_adapters.langgraph import Policy
        from accp_adapters.replay.policies import policy_strategy
    except ImportError as error:
        raise ImportError(f"the policy {name} needs an extra: pip install 'accp-middleware[langgraph]'") from error
    presets = {
        StrategyName.LOSSLESS: Policy.lossless,
        StrategyName.DEFAULT: Policy,
        StrategyName.TIGHT: Policy.tight,
    }
    return policy_strategy(name.value, replace(presets[name](), counter=counter))
