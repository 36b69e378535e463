"""The node for hand-built graphs: between tools and model it rewrites what the tools just returned."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import stores
from accp_adapters.langgraph.messages import ColdItem, compact_message
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.projection import agent_name, prompt_of, read
from accp_adapters.langgraph.runtime import call_of, messages_of, new_session, request_of, session_of

__all__ = ["CompressNode"]


class CompressNode(Runnable[Any, Any]):
    """A node that rewrites the tool results after the last model turn, each in its place.

    `graph.add_node("compress", CompressNode(policy))` with edges tools → compress → model. Earlier
    messages, which the model may have read, never change. Add `fetch_tool(policy)` to the tools unless
    the policy is lossless, and let the model read `compress.read(state)`.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        store: stores.Store | None = None,
        messages_key: str = "messages",
    ) -> None:
        """Rewrite by `policy` what the channel `messages_key` holds, and keep full texts in `store`.

        Args:
            policy: None: the defaults.
            store: A `ColdStore` or LangGraph `BaseStore`; None: the graph's own, else each full text travels,
                compressed, in the metadata of the message that cites it.
            messages_key: A channel whose reducer replaces by id, as `add_messages` does.
        """
        super().__init__()
        self._policy: Final = (policy or Policy()).excluding(FETCH_NAME)
        self._store: Final = store
        self._key: Final = messages_key

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the update of the state `input`: the messages that became smaller, under their ids."""
        runtime = get_runtime()
        update, items, session_id = self._compact(input, runtime)
        stores.put(stores.choose(self._policy, self._store, runtime.store), session_id, items)
        return update

    def read(self, state: Any, *, agent: str | None = None) -> list[BaseMessage]:
        """Return the messages of `state` as a model is to read them, nothing twice; the state keeps them as they are.

        For the node that calls the model: `model.invoke(compress.read(state))`. `agent` is the name that this agent's
        own messages bear, which stay as they are; None where they bear none.
        """
        session_id = session_of(get_runtime(), state) or ""
        return read(messages_of(state, self._key), self._policy, session_id, agent=agent or agent_name())

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`invoke`, asynchronously."""
        runtime = get_runtime()
        update, items, session_id = await asyncio.to_thread(self._compact, input, runtime)
        await stores.aput(stores.choose(self._policy, self._store, runtime.store), session_id, items)
        return update

    def _compact(self, state: Any, runtime: Runtime[Any]) -> tuple[Any, list[ColdItem], str]:
        messages = messages_of(state, self._key)
        session_id = session_of(runtime, state) or new_session()
        changed: list[BaseMessage] = []
        items: list[ColdItem] = []
        batch = _newest_results(messages)
        limits = self._policy.limits(len(batch))
        carries = not stores.has_store(self._store, runtime.store)
        # The model of a hand-built graph is bound to its tools, the fetch tool among them: the first reference is free.
        prompt = replace(prompt_of(messages[: len(messages) - len(batch)], agent_name()), references=True)
        for message in batch:
            call, _ = call_of(messages, message.tool_call_id)
            if call and call["name"] in self._policy.exclude_tools:
                continue  # a tool that answers with a Command may leave its result without a name
            request = request_of(messages, call)
            small, cold = compact_message(
                message, self._policy, session_id, limits=limits, request=request, prompt=prompt, carries=carries
            )
            if small is not message:
                changed.append(_identified(small))
                items += cold
        return (changed if isinstance(state, list) else {self._key: changed}), items, session_id


def _newest_results(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """Return the tool results after the last model turn: no model has read them yet."""
    turns = (index for index in reversed(range(len(messages))) if isinstance(messages[index], AIMessage))
    newest = messages[next(turns, -1) + 1 :]
    return [message for message in newest if isinstance(message, ToolMessage)]


def _identified(message: ToolMessage) -> ToolMessage:
    """Refuse a message without an id: it would be appended, a second answer to one call."""
    if message.id is None:
        raise ValueError(
            f"expected messages with ids, as `add_messages` gives them, found none on the result of call "
            f"{message.tool_call_id!r}"
        )
    return message
