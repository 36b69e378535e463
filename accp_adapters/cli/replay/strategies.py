"""The strategies that a command or a benchmark can name."""

from __future__ import annotations

from enum import StrEnum

from accp_adapters.cli.errors import ExtraMissing
from accp_adapters.cli.replay.layouts import compact_json
from accp_adapters.cli.replay.strategy import AS_RECORDED, Strategy, compact, lossless, previewing
from accp_core.ports import TokenCounter

__all__ = ["StrategyName", "default_policy", "strategy_named"]


class StrategyName(StrEnum):
    """A strategy by name."""

    AS_RECORDED = "as-recorded"
    COMPACT = "compact-json"
    LOSSLESS = "lossless"
    DEFAULT = "default"


def strategy_named(name: StrategyName, counter: TokenCounter) -> Strategy:
    """Return the strategy called `name`.

    Raises:
        ExtraMissing: it needs the default policy of the LangGraph adapter, which is not installed.
    """
    match name:
        case StrategyName.AS_RECORDED:
            return AS_RECORDED
        case StrategyName.COMPACT:
            return compact(counter)
        case StrategyName.LOSSLESS:
            return lossless(counter)
    return default_policy(counter)


def default_policy(counter: TokenCounter) -> Strategy:
    """Return what `AccpMiddleware()` does to a tool result, here for every agent of a run.

    Raises:
        ExtraMissing: the LangGraph adapter is not installed.
    """
    try:
        from langchain_core.utils.function_calling import convert_to_openai_tool

        from accp_adapters.langgraph import Policy, fetch_tool
    except ImportError as error:
        raise ExtraMissing("the default policy", extra="langgraph") from error
    policy = Policy()
    definition = compact_json(convert_to_openai_tool(fetch_tool(policy)))
    return previewing(counter, limits=policy.limits, fetch_tool=definition)
