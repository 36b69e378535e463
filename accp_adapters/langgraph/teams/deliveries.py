"""One delivery to an isolated agent: opened from the state of the graph, closed with the agent's reply (ACI 5.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime, get_runtime

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import stores
from accp_adapters.langgraph.metadata import Grant, is_carriable, pack_carried
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.runtime import agents_of, new_session, session_of
from accp_adapters.langgraph.teams.replies import CitedText, agent_input, read_reply
from accp_core.aci import AcceptedReply, AgentContext, ItemState, KeyInformation, offload_long, with_results
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore
from accp_core.references import StoredText, reference_to

__all__ = ["CONTEXT_KEY", "DELIVERY_KEY", "SESSION_KEY", "TEXTS_KEY", "Deliveries", "Delivery"]

CONTEXT_KEY: Final = "agent_context"
"""The key under which a `Send` carries the context."""
DELIVERY_KEY: Final = "aci_delivery"
"""The key of the delivery's id, where the evaluating node sends; it is the key of the reply, too."""
TEXTS_KEY: Final = "aci_texts"
"""The key of the texts behind references, key to packed text, where the graph has no store."""
SESSION_KEY: Final = "aci_session"
"""The key of the session whose store the task uses, where the evaluating node sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One context on its way to an agent."""

    planned: AgentContext
    """The context as in the master's state."""
    sent: AgentContext
    """The context as the agent gets it: with the results that it waits for."""
    session_id: str
    """The session whose store the task uses."""
    id: str | None
    """The key of the reply in the master's state; None: no evaluating node expects one."""
    agents: frozenset[str]
    """The nodes that run."""
    store: ColdStore
    """The store for long results."""
    has_store: bool
    """Whether the user or the graph provides that store; if not, the graph's state carries the texts."""
    texts: Mapping[str, str]
    """The texts that the state carries, key to packed text."""


@dataclass(slots=True)
class _Attempt:
    """One call of an agent."""

    result: Any = None
    """What it returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliveries:
    """The deliveries to one agent of any kind."""

    agent_id: str
    """The AgentID whose contexts it takes."""
    policy: Policy
    """The token counter and the limit of an abstract."""
    store: stores.Store | None
    """The store that the user gave."""
    catch: tuple[type[Exception], ...]
    """Exceptions of the agent that count as not done."""

    def open(self, state: Any) -> Delivery:
        """Return the delivery that a `Send`, or the state of a node, holds for this agent.

        Raises:
            ProtocolError: E5001, the context is another agent's; E1004, there is none, or more than one.
        """
        if not isinstance(state, Mapping):
            raise _refusal(f"a state with {CONTEXT_KEY!r} or 'agent_contexts'", type(state).__name__)
        # Outside of a graph there is no runtime, although its type has no None.
        running: Runtime[Any] | None = get_runtime()
        runtime = running or Runtime()
        is_sent = CONTEXT_KEY in state
        planned = AgentContext.from_json(state[CONTEXT_KEY]) if is_sent else self._open_context(state)
        if planned.agent_id != self.agent_id:
            raise ProtocolError(
                f"expected a context of agent {self.agent_id!r}, found one of {planned.agent_id!r}",
                code=ErrorCode.POLICY_DENIED,
            )
        return Delivery(
            planned=planned,
            sent=planned if is_sent else _with_upstream(planned, state["agent_contexts"]),
            session_id=state.get(SESSION_KEY) or session_of(runtime, state) or new_session(),
            id=state.get(DELIVERY_KEY),
            agents=agents_of(runtime),
            store=stores.choose(self.policy, self.store, runtime.store),
            has_store=stores.has_store(self.store, runtime.store),
            texts=state.get(TEXTS_KEY) or {},
        )

    def _open_context(self, state: Mapping[str, Any]) -> AgentContext:
        """Return the one context of this agent in which nothing is done."""
        contexts = (AgentContext.from_json(context) for context in (state.get("agent_contexts") or {}).values())
        own = [context for context in contexts if context.agent_id == self.agent_id and not context.states]
        if len(own) != 1:
            names = [context.subtask_id for context in own]
            raise _refusal(f"one open context of agent {self.agent_id!r}; Send each where there are several", names)
        return own[0]

    def input_for(self, agent: Any, delivery: Delivery) -> Any:
        """Return what the agent is invoked with."""
        counter, session_id = self.policy.counter, delivery.session_id
        return agent_input(agent, delivery.sent, delivery.texts, counter=counter, session_id=session_id)

    @contextmanager
    def attempt(self, delivery: Delivery) -> Iterator[_Attempt]:
        """Turn an exception that is to be caught into a reply in which nothing is done."""
        attempt = _Attempt()
        try:
            yield attempt
        except GraphBubbleUp:  # an interrupt of the agent is no failure
            raise
        except self.catch as error:
            attempt.result = _not_done(delivery.sent, f"{type(error).__name__}: {error}")

    def close(self, delivery: Delivery, result: Any) -> dict[str, Any]:
        """Return the update for the parent, after the texts that it cites were stored; or it carries them."""
        reply, texts, cited = self._accept(delivery, result)
        for grant in _elsewhere(cited, delivery):
            texts += _copied(grant.key, delivery.store.get(grant.session_id, grant.key))
        stores.put(delivery.store, delivery.session_id, _to_store(texts, delivery))
        return self._update(delivery, reply, texts)

    async def aclose(self, delivery: Delivery, result: Any) -> dict[str, Any]:
        """`close`, asynchronously."""
        reply, texts, cited = await asyncio.to_thread(self._accept, delivery, result)
        for grant in _elsewhere(cited, delivery):
            texts += _copied(grant.key, await stores.aget(delivery.store, grant.session_id, grant.key))
        await stores.aput(delivery.store, delivery.session_id, _to_store(texts, delivery))
        return self._update(delivery, reply, texts)

    def _accept(self, delivery: Delivery, result: Any) -> tuple[AcceptedReply, list[StoredText], tuple[CitedText, ...]]:
        """Return the accepted reply, what to store, and what it cites; one that breaks a rule is not done."""
        sent = delivery.sent
        try:
            reply, cited = read_reply(sent, result, delivery.session_id, delivery.agents)
            accepted = AcceptedReply.of(sent, reply)
            limit, counter = self.policy.abstract_limit, self.policy.counter
            context, long = offload_long(
                accepted.context, accepted.full, limit=limit, counter=counter, open_with=FETCH_NAME
            )
        except ProtocolError as refusal:
            return AcceptedReply(context=_not_done(sent, str(refusal))), [], ()
        context = replace(
            context, context_uri=(*context.context_uri, *(reference_to(text.grant.key) for text in cited))
        )
        new = tuple(uri for uri in context.context_uri if uri not in sent.context_uri)
        carried = [StoredText(key=text.grant.key, text=text.text) for text in cited if text.text is not None]
        return replace(accepted, context=context, full={}, stored=new), [*long, *carried], cited

    def _update(self, delivery: Delivery, reply: AcceptedReply, texts: Iterable[StoredText]) -> dict[str, Any]:
        """Return the update for the parent: the agent's own context, and the texts that no store has."""
        planned = delivery.planned
        kept = replace(reply.context, context=planned.context, context_uri=(*planned.context_uri, *reply.stored))
        update: dict[str, Any] = {"agent_contexts": {kept.subtask_id: kept.to_json()}}
        if delivery.id:
            update["aci_replies"] = {delivery.id: reply.to_json()}
        carried = [] if delivery.has_store else [pack_carried(text) for text in texts if is_carriable(text.text)]
        return {**update, TEXTS_KEY: dict(carried)} if carried else update


def _with_upstream(planned: AgentContext, contexts: Mapping[str, Any]) -> AgentContext:
    """Return a context with the abstracts of those subtasks that it depends on and that are there."""
    upstream = [AgentContext.from_json(contexts[name]) for name in planned.dependencies if name in contexts]
    return with_results(planned, [(context, ()) for context in upstream])


def _elsewhere(cited: Iterable[CitedText], delivery: Delivery) -> list[Grant]:
    """Return the grants of texts in the session of an agent that ran without a thread."""
    return [text.grant for text in cited if text.text is None and text.grant.session_id != delivery.session_id]


def _copied(key: str, text: str | None) -> list[StoredText]:
    return [] if text is None else [StoredText(key=key, text=text)]


def _to_store(texts: Iterable[StoredText], delivery: Delivery) -> list[StoredText]:
    """Return the texts for the store: all where there is one, else those that the state cannot carry."""
    return [text for text in texts if delivery.has_store or not is_carriable(text.text)]


def _not_done(sent: AgentContext, reason: str) -> AgentContext:
    """Return the context of a reply in which nothing is done, for `reason`."""
    why = reason[:MAX_ABSTRACT_CHARS]
    return replace(
        sent,
        item_state_updates=tuple(ItemState(item.item_id, 0) for item in sent.todo_items),
        key_information=tuple(KeyInformation(item.item_id, why) for item in sent.todo_items),
    )


def _refusal(expected: str, found: object) -> ProtocolError:
    return ProtocolError(f"expected {expected}, found {found!r}", code=ErrorCode.INVALID_TYPE)
