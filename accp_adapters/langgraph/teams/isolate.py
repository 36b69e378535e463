"""One agent behind its own context: a node, and a target of `Send`, around any agent (ACI 2.1 and 5.3).

The agent's model reads its AgentContext as text and nothing else of the parent's state; the parent gets states,
abstracts and references back and nothing else of the agent's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langgraph.pregel import Pregel

from accp_adapters.langgraph import stores
from accp_adapters.langgraph.teams.deliveries import Deliveries, Reporter, is_awaited, takes_texts
from accp_adapters.policy import Policy

__all__ = ["isolate", "isolated"]


def isolate(
    agent: Any,
    *,
    agent_id: str,
    policy: Policy | str | None = None,
    store: stores.Store | str | None = None,
    reporter: Runnable[Any, Any] | None = None,
    catch: tuple[type[Exception], ...] = (),
) -> Runnable[Any, dict[str, Any]]:
    """Return the node that runs `agent` on its own AgentContext, and on nothing else.

    `graph.add_node("crm", isolate(crm_agent, agent_id="crm"))`. As the target of `Send("crm", {"agent_context": json})`
    it takes that context; as a plain node the one open context of `agent_id` in `state["agent_contexts"]`, with the
    abstracts of what it depends on. The agent begins with one message: steps, context, references, and how to answer
    (a line for each item). It may open the references in it: give it `AccpMiddleware` or `fetch_tool` to open them.
    Its answer becomes states and abstracts; one of more than `policy.abstract_limit` tokens is stored and cited. An
    item whose answer is not understood, and a reply that breaks a rule, is unverified, with the reason.

    Args:
        agent: A compiled graph, any Runnable that takes `{"messages": [...]}`, a chat model, or a function, sync or
            async, from AgentContext to AgentContext, its JSON, or `AgentReply`.
        agent_id: The AgentID whose contexts it takes.
        policy: The token counter and `abstract_limit`. None: the defaults.
        store: The store for long results; None: the graph's own, else the state of the graph carries them.
        reporter: A chat model without tools. Where the agent worked and its answer lacks results, such as "Done.", it
            reads them from the agent's messages, so that no work is repeated. None: such an item stays unverified.
        catch: Exceptions of the agent that fail its subtask, with the reason; others end the run, or are retried by the
            node's RetryPolicy. An interrupt is never caught.

    Raises:
        ValueError: `agent` was compiled with a checkpointer of its own, so that it remembers earlier subtasks.
        TypeError: `agent` is neither a Runnable nor callable.
    """
    deliveries = Deliveries(
        agent_id=agent_id,
        policy=Policy.of(policy),
        store=stores.opened(store),
        catch=catch,
        reporter=None if reporter is None else Reporter(reporter),
    )
    return isolated(agent, deliveries)


def isolated(agent: Any, deliveries: Deliveries) -> Runnable[Any, dict[str, Any]]:
    """Return the node that runs `agent` on the deliveries to it.

    Raises:
        ValueError: `agent` was compiled with a checkpointer of its own, so that it remembers earlier subtasks.
        TypeError: `agent` is neither a Runnable nor callable.
    """
    if not isinstance(agent, Runnable) and not callable(agent):
        raise TypeError(f"expected a Runnable or a function, found {type(agent).__name__}")
    _refuse_checkpointers(agent)
    # LangGraph finds `runnable` as a subgraph because the functions below close over it. A class would hide it, and
    # with it streaming, interrupts and its state. A function becomes a Runnable, so that it hands the callbacks of its
    # configuration on to the models that it calls.
    is_function = not isinstance(agent, Runnable)

    async def call(given: Any) -> Any:
        return await agent(*given)

    function = call if takes_texts(agent) else agent
    runnable: Runnable[Any, Any] = RunnableLambda(function, name=deliveries.agent_id) if is_function else agent
    needs_await = is_function and is_awaited(agent)

    def run(state: Any, config: RunnableConfig) -> dict[str, Any]:
        if needs_await:
            raise TypeError(f"expected `ainvoke` for the asynchronous agent {deliveries.agent_id!r}, found `invoke`")
        delivery = deliveries.open(state)
        with deliveries.attempt(config) as attempt:
            attempt.result = runnable.invoke(deliveries.input_for(agent, delivery), attempt.config)
        return deliveries.close(delivery, attempt)

    async def arun(state: Any, config: RunnableConfig) -> dict[str, Any]:
        delivery = deliveries.open(state)
        with deliveries.attempt(config) as attempt:
            given = await stores.in_thread(deliveries.input_for, agent, delivery)
            attempt.result = await deliveries.wait_for(runnable.ainvoke(given, attempt.config))
        return await deliveries.aclose(delivery, attempt)

    return RunnableLambda(run, arun, name=deliveries.agent_id)


# `checkpointer=True` keeps an agent's messages in the parent's checkpoints, a saver of its own keeps them where the
# parent has none.
def _refuse_checkpointers(agent: Any) -> None:
    """Refuse an agent that would remember earlier subtasks (ValueError)."""
    for graph in _graphs_in(agent):
        if graph.checkpointer:
            raise ValueError(
                f"expected agents compiled without a checkpointer, which start fresh each time, found {graph.name!r} "
                f"with checkpointer={graph.checkpointer!r}"
            )


def _graphs_in(agent: Any) -> Iterator[Pregel[Any, Any, Any, Any]]:
    """Yield the graphs that `agent` runs, and those within them."""
    if isinstance(agent, Pregel):
        yield agent
        yield from (graph for _, graph in agent.get_subgraphs(recurse=True) if isinstance(graph, Pregel))
    elif isinstance(agent, RunnableBindingBase):
        yield from _graphs_in(agent.bound)
    elif isinstance(agent, (RunnableSequence, RunnableLambda)):
        parts = agent.steps if isinstance(agent, RunnableSequence) else agent.deps
        yield from (graph for part in parts for graph in _graphs_in(part))
