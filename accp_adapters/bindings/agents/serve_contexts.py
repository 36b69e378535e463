"""The handler of an agent that takes contexts: it gets one context and returns it, nothing else (ACI 2.1 and 5.3).

    crm = serve_contexts(agent, agent_id="crm")       accp serve agents:crm --agent-id crm --http 127.0.0.1:8930

References in a context are grants. The agent opens them with its `GrantedReferences`: the master is asked by
`wait:fetch`, while the request stays open. A result that is too long for an abstract is stored here and cited; it opens
for the principal and the delivery that it was made for.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

from accp_adapters.bindings.agents.context_messages import TextAnswer, cut_pieces
from accp_adapters.bindings.agents.text_exchange import TextExchange, TextExchanges
from accp_adapters.bindings.hosts import Answer, Handler, Request
from accp_adapters.remote import (
    AgentResult,
    AgentResults,
    GrantedReferences,
    ReferenceRequest,
    check_agent,
    run_graph,
)
from accp_adapters.remote.reference_request import FETCH_OPERATION
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import o200k_base
from accp_core.accp import Intent, Message
from accp_core.accp.profiles import reply_correlation
from accp_core.aci import AgentContext, AgentReply
from accp_core.bridges.aci_in_accp import completion_message, read_context
from accp_core.compression import ResultLimits
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore, TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["ContextAgent", "serve_contexts"]

ContextAgent: TypeAlias = Callable[[AgentContext, GrantedReferences], Awaitable[AgentResult] | AgentResult]
"""Works on one context; a function that is not asynchronous runs in a thread."""


def serve_contexts(
    agent: ContextAgent | Any,
    *,
    agent_id: str,
    store: ColdStore | None = None,
    limits: ResultLimits | None = None,
    counter: TokenCounter | None = None,
    deliveries: int = 128,
) -> Handler:
    """Return the handler by which a `SessionHost` serves `agent`, in any number of workers.

    Args:
        agent: A function of a context and what it grants; or a graph, or anything else with `ainvoke`, that takes
            `{"messages": […]}`.
        agent_id: The AgentID whose contexts it takes.
        store: Keeps long results and the texts that were opened; all workers need the same one. None: in memory.
        limits: `limits.abstract` tokens is the longest abstract; a longer result is stored and cited.
        counter: Counts the tokens of the model; None: o200k_base.
        deliveries: Contexts that one worker takes at once, fewer than `HostLimits.handlers`: further ones are refused
            (E2003).
    """
    counted = counter or o200k_base()
    if hasattr(agent, "ainvoke"):
        graph = agent

        async def agent(context: AgentContext, references: GrantedReferences) -> AgentReply:
            return await run_graph(graph, context, references, counter=counted)

    kept = store or SqliteColdStore()
    return _ContextHandler(agent, agent_id, AgentResults(kept, limits, counted), TextExchanges(kept), deliveries)


class _ContextHandler:
    """What a peer may ask of an agent that takes contexts."""

    def __init__(
        self, agent: ContextAgent, agent_id: str, results: AgentResults, texts: TextExchanges, deliveries: int
    ) -> None:
        self._agent: Final = agent
        self._agent_id: Final = agent_id
        self._results: Final = results
        self._texts: Final = texts
        self._deliveries: Final = deliveries

    async def __call__(self, request: Request) -> Answer | AsyncIterator[Answer]:
        """Answer a delivery, take a text that the agent waits for, or open what it stored."""
        payload: Mapping[str, Any] = request.message.payload
        asked = request.message.intent, request.message.operation
        if asked == (Intent.REQUEST, FETCH_OPERATION):
            answer = TextAnswer.read(payload)
            await self._texts.take(_scope(request, answer.delivery, "texts"), answer)
            return {}
        if asked == (Intent.QUERY, FETCH_OPERATION):
            scope = _scope(request, str(payload.get("delivery")), "results")
            return _pieces(await self._results.answer(ReferenceRequest.from_payload(payload), scope))
        return self._deliver(request, self._context_in(request.message))

    def _context_in(self, message: Message) -> AgentContext:
        sent, _ = read_context(message)
        check_agent(sent, self._agent_id)
        if len(self._texts) >= self._deliveries:
            reason = f"expected at most {self._deliveries} contexts at once"
            raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        return sent

    async def _deliver(self, request: Request, sent: AgentContext) -> AsyncIterator[Answer]:
        """Yield what the agent waits for, and at the end its context."""
        delivery = reply_correlation(request.message.envelope) or request.idempotency_key
        scope = _scope(request, delivery, "texts")
        run = _Run(self._agent, sent, self._texts.begin(scope))
        try:
            async for wanted in run.messages(is_first=request.runs == 1):
                yield wanted
            returned = await self._results.leave(sent, run.result(), _scope(request, delivery, "results"))
            yield completion_message(returned, sent=sent, sender=self._agent_id, correlation_id=delivery)
            self._texts.forget(scope)
        except Exception:
            self._texts.forget(scope)
            raise
        finally:
            self._texts.stop(scope)
            await run.stop()


class _Run:
    """One run of the agent."""

    def __init__(self, agent: ContextAgent, sent: AgentContext, texts: TextExchange) -> None:
        self._agent: Final = agent
        self._sent: Final = sent
        self._texts: Final = texts
        self._references: Final = GrantedReferences(sent)
        self._work: asyncio.Future[AgentResult] | None = None
        self._waiting: Final[set[asyncio.Future[None]]] = set()

    async def messages(self, *, is_first: bool) -> AsyncIterator[Message]:
        """Run the agent, and yield what it waits for until it is done; a run that follows another one repeats that."""
        for before in [] if is_first else await self._texts.wanted_before():
            yield before.to_message()
        self._work = asyncio.ensure_future(_call(self._agent, self._sent, self._references))
        while (opened := await self._references.next_request(self._work)) is not None:
            wanted, is_new = await self._texts.want(opened.request)
            if is_new:
                yield wanted.to_message()
            self._waiting.add(asyncio.ensure_future(self._texts.resolve(wanted, opened)))

    def result(self) -> AgentResult:
        """Return the agent's result, or raise what it raised."""
        assert self._work is not None
        return self._work.result()

    async def stop(self) -> None:
        """Stop what still runs."""
        tasks: list[asyncio.Future[Any]] = [*self._waiting, *([self._work] if self._work else [])]
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


async def _call(agent: ContextAgent, sent: AgentContext, references: GrantedReferences) -> AgentResult:
    # An asynchronous function, however it is wrapped, only begins in the thread.
    found = (
        agent(sent, references)
        if inspect.iscoroutinefunction(agent)
        else await asyncio.to_thread(agent, sent, references)
    )
    return await found if inspect.isawaitable(found) else found


async def _pieces(text: str) -> AsyncIterator[Answer]:
    for piece in cut_pieces(text):
        yield {"data": piece}


def _scope(request: Request, delivery: str, kind: str) -> str:
    """Return the session of the store for one principal and delivery."""
    return "accp:" + compact_json([request.principal, delivery, kind])
