"""What a tool may return besides a ToolMessage: a Command that carries messages, or a list of both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from accp_adapters.langgraph.messages import ColdItem, compact_message
from accp_adapters.langgraph.policy import Limits, Policy
from accp_core.projection.cache_cost import Prompt

__all__ = ["compact_result"]


def compact_result(
    result: Any,
    policy: Policy,
    session_id: str,
    *,
    limits: Limits,
    request: str,
    known: Collection[str | None],
    prompt: Prompt | None = None,
    carries: bool = False,
) -> tuple[Any, list[ColdItem]]:
    """Return a tool's result with every new ToolMessage in it rewritten, and the texts to store.

    With `carries` the messages carry their texts, and there are none to store.
    Messages whose id is in `known` stand in the state already: the model may have read them, so they stay.
    Everything else that a `Command` carries (other keys, goto, resume) stays, too.
    """
    items: list[ColdItem] = []

    def compact(message: Any) -> Any:
        if not isinstance(message, ToolMessage) or (message.id is not None and message.id in known):
            return message
        small, cold = compact_message(
            message, policy, session_id, limits=limits, request=request, prompt=prompt, carries=carries
        )
        items.extend(cold)
        return small

    return _walk(result, compact), items


def _walk(result: Any, compact: Callable[[Any], Any]) -> Any:
    """Return `result` with `compact` applied to the messages in it; the same object where none changed."""
    if isinstance(result, list):
        return _same_or(result, [_walk(each, compact) for each in result])
    if not isinstance(result, Command):
        return compact(result)
    update = _walk_update(result.update, compact)
    return result if update is result.update else replace(result, update=update)


def _walk_update(update: Any, compact: Callable[[Any], Any]) -> Any:
    if isinstance(update, list):
        return _same_or(update, [compact(each) for each in update])
    if not isinstance(update, Mapping) or "messages" not in update:
        return update
    found = update["messages"]
    changed = _walk_update(found, compact) if isinstance(found, list) else compact(found)
    return update if changed is found else {**update, "messages": changed}


def _same_or(before: list[Any], after: list[Any]) -> list[Any]:
    return before if all(old is new for old, new in zip(before, after, strict=True)) else after
