"""The strategies: as recorded, compact JSON, and what the middleware does by a policy."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Final

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.messages.openai_chat import fetch_tool
from accp_adapters.policy import Policy
from accp_adapters.replay.strategy import SentMessage, Strategy
from accp_adapters.tokens import count_remembered
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.references import reference_to
from accp_core.strict_json import compact_json

__all__ = ["AS_RECORDED", "StrategyName", "compact_json_strategy", "policy_strategy", "strategy_named", "to_strategy"]

AS_RECORDED: Final = Strategy(name="as recorded")
"""Changes nothing: what every other strategy is compared with."""


class StrategyName(StrEnum):
    """The name of a strategy."""

    AS_RECORDED = "as-recorded"
    COMPACT = "compact-json"
    LOSSLESS = "lossless"
    DEFAULT = "default"
    TIGHT = "tight"


def to_strategy(chosen: Strategy | StrategyName | Policy) -> Strategy:
    """Return the strategy that `chosen` is, names, or is the policy of; named ones count o200k_base tokens."""
    if isinstance(chosen, Strategy):
        return chosen
    if isinstance(chosen, StrategyName):
        return strategy_named(chosen, count_remembered)
    return policy_strategy("policy", chosen)


def strategy_named(name: StrategyName, counter: TokenCounter) -> Strategy:
    """Return the strategy called `name`.

    Args:
        name: The last three are presets of `Policy`.
        counter: Counts the tokens of the model.
    """
    match name:
        case StrategyName.AS_RECORDED:
            return AS_RECORDED
        case StrategyName.COMPACT:
            return compact_json_strategy(counter)
    return policy_strategy(name.value, replace(Policy.named(name.value), counter=counter))


def compact_json_strategy(counter: TokenCounter) -> Strategy:
    """Return the baseline: a text that is JSON becomes compact JSON where that has fewer tokens."""
    return Strategy(
        name="compact JSON",
        rewrite=lambda message: SentMessage(text=_shorten(message.text, counter)),
    )


def _shorten(text: str, counter: TokenCounter) -> str:
    try:
        shorter = compact_json(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return shorter if counter(shorter) < counter(text) else text


def policy_strategy(name: str, policy: Policy) -> Strategy:
    """Return what `AccpMiddleware(policy)` does, where each agent of a run has its name and a thread of its own."""
    definition = compact_json(fetch_tool()) if policy.previews else ""
    return Strategy(name=name, policy=policy, fetch_tool=definition, fetch=partial(_fetch, policy))


def _fetch(policy: Policy, text: str, query: str) -> str:
    """Return the answer of `accp_fetch` to one query, "" where it is refused."""
    request = FetchRequest(ref=reference_to("text"), query=query)
    try:
        return answer({"text": text}, request, limit=policy.fetch_limit, counter=policy.counter)
    except ProtocolError:
        return ""
