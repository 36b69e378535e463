"""What a model does next, as far as two answers to one prompt can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph.shadow.claims import ClaimKind, claims_in
from accp_adapters.langgraph.shadow.spelling import decimal_of, plain
from accp_core.strict_json import compact_json

__all__ = ["Action", "action_of", "fetches"]

Action: TypeAlias = frozenset[tuple[str, str]]
"""The tools that are called, each with its arguments as JSON, or the kinds and values in the words of an answer."""


def action_of(messages: Iterable[Any]) -> Action:
    """Return what the answer of a model does: its calls in any order, without calls the values of its words."""
    answers = [message for message in messages if isinstance(message, AIMessage)]
    calls = [call for message in answers for call in message.tool_calls]
    if calls:
        return frozenset((call["name"], compact_json(call["args"], sort_keys=True)) for call in calls)
    claims = (claim for message in answers for claim in claims_in(message.text))
    return frozenset(
        (claim.kind, str(decimal_of(claim.text).normalize()) if claim.kind is ClaimKind.NUMBER else plain(claim.text))
        for claim in claims
    )


def fetches(action: Action) -> bool:
    """Return whether an action asks for what a preview left out, after which the next one can be compared."""
    return any(name == FETCH_NAME for name, _ in action)
