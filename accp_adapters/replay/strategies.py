"""The strategies that a command or a benchmark can name."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from accp_adapters.replay.errors import ExtraMissing
from accp_adapters.replay.strategy import AS_RECORDED, Strategy, compact
from accp_core.ports import TokenCounter

__all__ = ["StrategyName", "strategy_named"]


class StrategyName(StrEnum):
    """A strategy by name."""

    AS_RECORDED = "as-recorded"
    COMPACT = "compact-json"
    LOSSLESS = "lossless"
    DEFAULT = "default"
    TIGHT = "tight"


def strategy_named(name: StrategyName, counter: TokenCounter) -> Strategy:
    """Return the strategy called `name`; the last three are presets of the LangGraph adapter's `Policy`.

    Raises:
        ExtraMissing: it needs the LangGraph adapter, which is not installed.
    """
    match name:
        case StrategyName.AS_RECORDED:
            return AS_RECORDED
        case StrategyName.COMPACT:
            return compact(counter)
    return _preset(name, counter)


def _preset(name: StrategyName, counter: TokenCounter) -> Strategy:
    try:
        from accp_adapters.langgraph import Policy
        from accp_adapters.replay.policies import policy_strategy
    except ImportError as error:
        raise ExtraMissing(f"the policy {name}", extra="langgraph") from error
    presets = {
        StrategyName.LOSSLESS: Policy.lossless,
        StrategyName.DEFAULT: Policy,
        StrategyName.TIGHT: Policy.tight,
    }
    return policy_strategy(name.value, replace(presets[name](), counter=counter))
