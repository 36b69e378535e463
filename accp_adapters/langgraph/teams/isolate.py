"""One agent behind its own context: a node, and a target of `Send`, around any agent (ACI 2.1 and 5.3).

The agent's model reads its AgentContext as text and nothing else of the parent's state; the parent gets states,
abstracts and references back and nothing else of the agent's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langgraph.errors import GraphBubbleUp
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime, get_runtime

from accp_adapters.langgraph import stores
from accp_adapters.langgraph.marks import carry
from accp_adapters.langgraph.messages import ColdItem
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.runtime import agents_of, new_session, session_of
from accp_adapters.langgraph.teams.replies import Cited, Reply, given_to, is_awaited, offload_long, reply_of
from accp_core.aci import AgentContext, ItemState, KeyInformation, accept_reply, with_results
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore

__all__ = ["CONTEXT", "DELIVERY", "SESSION", "TEXTS", "isolate"]

CONTEXT: Final = "agent_context"
"""The key under which a `Send` carries the context."""
DELIVERY: Final = "aci_delivery"
"""The key of the delivery's id, where the evaluating node sends; the reply stands under it."""
TEXTS: Final = "aci_texts"
"""The key of the texts behind references, key to packed text, where the graph has no store."""
SESSION: Final = "aci_session"
"""The key of the session whose store the task uses, where the evaluating node sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subtask:
    """One delivery, as the node got it."""

    planned: AgentContext
    """As it stands in the master's state."""
    sent: AgentContext
    """As the agent gets it: with the results it waits for."""
    session_id: str
    delivery: str | None
    agents: frozenset[str]
    store: ColdStore
    stores: bool
    """Whether that store was given; if not, the graph's state carries the texts."""
    texts: Mapping[str, str]
    """The texts that the state carries, key to packed text."""


@dataclass(slots=True)
class _Attempt:
    """What an agent returned."""

    result: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Isolation:
    """What happens around an agent, whatever it is."""

    agent_id: str
    policy: Policy
    store: stores.Store | None
    catch: tuple[type[Exception], ...]

    def open(self, state: Any) -> _Subtask:
        """Return the subtask that a `Send`, or the state of a node, holds for this agent.

        Raises: ProtocolError: E5001, the context is another agent's; E1004, there is none, or more than one.
        """
        if not isinstance(state, Mapping):
            raise _refusal(f"a state with {CONTEXT!r} or 'agent_contexts'", type(state).__name__)
        # Where the node is called by itself there is none, whatever the type says.
        found: Runtime[Any] | None = get_runtime()
        runtime = found or Runtime()
        sent = CONTEXT in state
        planned = AgentContext.from_json(state[CONTEXT]) if sent else self._waiting(state)
        if planned.agent_id != self.agent_id:
            raise ProtocolError(
                f"expected a context of agent {self.agent_id!r}, found one of {planned.agent_id!r}",
                code=ErrorCode.POLICY_DENIED,
            )
        session_id = state.get(SESSION) or session_of(runtime, state) or new_session()
        return _Subtask(
            planned=planned,
            sent=planned if sent else _with_upstream(planned, state["agent_contexts"]),
            session_id=session_id,
            delivery=state.get(DELIVERY),
            agents=agents_of(runtime),
            store=stores.choose(self.policy, self.store, runtime.store),
            stores=stores.has_store(self.store, runtime.store),
            texts=state.get(TEXTS) or {},
        )

    def _waiting(self, state: Mapping[str, Any]) -> AgentContext:
        """Return the one context of this agent in which nothing is done."""
        contexts = (AgentContext.from_json(each) for each in (state.get("agent_contexts") or {}).values())
        found = [each for each in contexts if each.agent_id == self.agent_id and not each.states]
        if len(found) != 1:
            names = [each.subtask_id for each in found]
            raise _refusal(f"one open context of agent {self.agent_id!r}; Send each where there are several", names)
        return found[0]

    def given(self, agent: Any, subtask: _Subtask) -> Any:
        """Return what the agent begins with."""
        counter, session_id = self.policy.counter, subtask.session_id
        return given_to(agent, subtask.sent, subtask.texts, counter=counter, session_id=session_id)

    @contextmanager
    def attempt(self, subtask: _Subtask) -> Iterator[_Attempt]:
        """Turn an exception that is to be caught into a reply in which nothing is done."""
        found = _Attempt()
        try:
            yield found
        except GraphBubbleUp:  # an interrupt of the agent is no failure
            raise
        except self.catch as error:
            found.result = _undone(subtask.sent, f"{type(error).__name__}: {error}")

    def close(self, subtask: _Subtask, result: Any) -> dict[str, Any]:
        """Return the update for the parent; what it cites is in the store by then, or in the update."""
        returned, items, cited = self.accept(subtask, result)
        found = [(each, subtask.store.get(each.owner, each.key)) for each in _elsewhere(cited, subtask)]
        texts = [*items, *_texts(cited, found)]
        if subtask.stores:
            stores.put(subtask.store, subtask.session_id, texts)
        return self.update(subtask, returned, texts)

    async def aclose(self, subtask: _Subtask, result: Any) -> dict[str, Any]:
        """`close`, asynchronously."""
        returned, items, cited = await asyncio.to_thread(self.accept, subtask, result)
        elsewhere = _elsewhere(cited, subtask)
        found = [(each, await stores.aget(subtask.store, each.owner, each.key)) for each in elsewhere]
        texts = [*items, *_texts(cited, found)]
        if subtask.stores:
            await stores.aput(subtask.store, subtask.session_id, texts)
        return self.update(subtask, returned, texts)

    def accept(self, subtask: _Subtask, result: Any) -> tuple[AgentContext, list[ColdItem], tuple[Cited, ...]]:
        """Return the context that the agent returned, what to store, and what it cites; one not done for a breach."""
        try:
            reply, cited = reply_of(subtask.sent, result, subtask.session_id, subtask.agents)
            accepted = accept_reply(subtask.sent, reply.context, stored=reply.stored)
            short, items = self._offload(subtask, accepted, reply)
        except ProtocolError as refusal:
            return _undone(subtask.sent, str(refusal)), [], ()
        uris = (*short.context_uri, *(f"${each.key}" for each in cited))
        return replace(short, context_uri=uris), list(items), cited

    def _offload(
        self, subtask: _Subtask, accepted: AgentContext, reply: Reply
    ) -> tuple[AgentContext, tuple[ColdItem, ...]]:
        limit, counter = self.policy.abstract_limit, self.policy.counter
        return offload_long(accepted, reply.full, limit=limit, session_id=subtask.session_id, counter=counter)

    def update(self, subtask: _Subtask, returned: AgentContext, texts: Iterable[ColdItem] = ()) -> dict[str, Any]:
        """Return what reaches the parent: the agent's own context, and what nobody stores."""
        stored = [uri for uri in returned.context_uri if uri not in subtask.sent.context_uri]
        kept = replace(
            returned,
            context=subtask.planned.context,
            context_uri=(*subtask.planned.context_uri, *stored),
        )
        update: dict[str, Any] = {"agent_contexts": {kept.subtask_id: kept.to_json()}}
        if subtask.delivery:
            update["aci_replies"] = {subtask.delivery: {"context": returned.to_json(), "stored": stored}}
        if not subtask.stores and (packed := carry((item.key, item.text) for item in texts)):
            update[TEXTS] = dict(packed["texts"])
        return update


def isolate(
    agent: Any,
    *,
    agent_id: str,
    policy: Policy | None = None,
    store: stores.Store | None = None,
    catch: tuple[type[Exception], ...] = (),
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that runs `agent` on its own AgentContext, and on nothing else.

    `graph.add_node("crm", isolate(crm_agent, agent_id="crm"))`. As the target of `Send("crm", {"agent_context": json})`
    it takes that context; as a plain node the one open context of `agent_id` in `state["agent_contexts"]`, with the
    abstracts of what it depends on. The agent begins with one message: steps, context, references, and how to answer
    (a line for each item). The references are granted to it: give it `AccpMiddleware` or `fetch_tool` to open them.
    Its answer becomes states and abstracts; one of more than `policy.abstract_limit` tokens goes to the cold tier and
    is cited. A reply that breaks a rule counts as not done and says why.

    Args:
        agent: A compiled graph, any Runnable that takes `{"messages": [...]}`, a chat model, or a function, sync or
            async, from AgentContext to AgentContext, its JSON, or `Reply`.
        agent_id: The AgentID whose contexts it takes.
        policy: The token counter and `abstract_limit`. None: the defaults.
        store: Where long results go; None: the graph's own store, else its state carries them, compressed.
        catch: Exceptions of the agent that count as not done; others end the run, or are retried by its RetryPolicy.

    Raises:
        ValueError: `agent` keeps a memory between subtasks, because it was compiled with a checkpointer of its own.
        TypeError: `agent` is neither a Runnable nor callable.
    """
    if not isinstance(agent, Runnable) and not callable(agent):
        raise TypeError(f"expected a Runnable or a function, found {type(agent).__name__}")
    _refuse_memory(agent)
    isolation = _Isolation(agent_id=agent_id, policy=policy or Policy(), store=store, catch=catch)
    return _around_runnable(agent, isolation) if isinstance(agent, Runnable) else _around_function(agent, isolation)


# LangGraph finds `agent` as a subgraph because these functions close over it; a class of ours would hide it, and with
# it streaming, interrupts and its state.
def _around_runnable(agent: Runnable[Any, Any], isolation: _Isolation) -> Runnable[Any, dict[str, Any]]:
    def run(state: Any, config: RunnableConfig) -> dict[str, Any]:
        subtask = isolation.open(state)
        with isolation.attempt(subtask) as attempt:
            attempt.result = agent.invoke(isolation.given(agent, subtask), config)
        return isolation.close(subtask, attempt.result)

    async def arun(state: Any, config: RunnableConfig) -> dict[str, Any]:
        subtask = isolation.open(state)
        with isolation.attempt(subtask) as attempt:
            attempt.result = await agent.ainvoke(isolation.given(agent, subtask), config)
        return await isolation.aclose(subtask, attempt.result)

    return RunnableLambda(run, arun, name=isolation.agent_id)


def _around_function(function: Callable[..., Any], isolation: _Isolation) -> Runnable[Any, dict[str, Any]]:
    waits = is_awaited(function)

    def run(state: Any) -> dict[str, Any]:
        if waits:
            raise TypeError(f"expected `ainvoke` for the asynchronous agent {isolation.agent_id!r}, found `invoke`")
        subtask = isolation.open(state)
        with isolation.attempt(subtask) as attempt:
            attempt.result = function(subtask.sent)
        return isolation.close(subtask, attempt.result)

    async def arun(state: Any) -> dict[str, Any]:
        subtask = isolation.open(state)
        with isolation.attempt(subtask) as attempt:
            attempt.result = await (function(subtask.sent) if waits else asyncio.to_thread(function, subtask.sent))
        return await isolation.aclose(subtask, attempt.result)

    return RunnableLambda(run, arun, name=isolation.agent_id)


# An agent keeps no memory between subtasks: `checkpointer=True` keeps its messages in the parent's, a saver of its own
# wherever the parent has none.
def _refuse_memory(agent: Any) -> None:
    for graph in _graphs_in(agent):
        if graph.checkpointer:
            raise ValueError(
                f"expected agents compiled without a checkpointer, which start fresh each time, found {graph.name!r} "
                f"with checkpointer={graph.checkpointer!r}"
            )


def _graphs_in(agent: Any) -> Iterator[Pregel[Any, Any, Any, Any]]:
    """Yield the graphs that `agent` runs, those within them, too."""
    if isinstance(agent, Pregel):
        yield agent
        yield from (graph for _, graph in agent.get_subgraphs(recurse=True) if isinstance(graph, Pregel))
    elif isinstance(agent, RunnableBindingBase):
        yield from _graphs_in(agent.bound)
    elif isinstance(agent, (RunnableSequence, RunnableLambda)):
        parts = agent.steps if isinstance(agent, RunnableSequence) else agent.deps
        yield from (graph for part in parts for graph in _graphs_in(part))


def _with_upstream(planned: AgentContext, contexts: Mapping[str, Any]) -> AgentContext:
    """Return a context with the abstracts of what it depends on, as far as they are there."""
    found = [AgentContext.from_json(contexts[each]) for each in planned.dependencies if each in contexts]
    return with_results(planned, [(each, ()) for each in found])


def _elsewhere(cited: tuple[Cited, ...], subtask: _Subtask) -> list[Cited]:
    """Return what is cited from the session of an agent that ran without a thread."""
    return [each for each in cited if each.text is None and each.owner != subtask.session_id]


def _texts(cited: tuple[Cited, ...], found: list[tuple[Cited, str | None]]) -> list[ColdItem]:
    """Return what the task's session must have of what is cited: what messages carry, and what was found elsewhere."""
    known = [*((each, each.text) for each in cited), *found]
    return [ColdItem(key=each.key, text=text) for each, text in known if text is not None]


def _undone(sent: AgentContext, reason: str) -> AgentContext:
    """Return the reply in which nothing is done, for this reason."""
    why = reason[:MAX_ABSTRACT_CHARS]
    return replace(
        sent,
        item_state_updates=tuple(ItemState(item.item_id, 0) for item in sent.todo_items),
        key_information=tuple(KeyInformation(item.item_id, why) for item in sent.todo_items),
    )


def _refusal(expected: str, found: object) -> ProtocolError:
    return ProtocolError(f"expected {expected}, found {found!r}", code=ErrorCode.INVALID_TYPE)
