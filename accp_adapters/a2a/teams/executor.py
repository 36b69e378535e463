"""An agent that takes AgentContexts, behind A2A: it gets one context and returns it, nothing else (ACI 2.1, 5.3).

    ContextExecutor(agent, agent_id="crm")       an AgentExecutor for the SDK's DefaultRequestHandler

References in a context are grants. `GrantedReferences` refuses any other reference (E5002) and asks the master for the
text, or for what a query finds in it: the task waits for input with `qry:fetch`, and the master's `RemoteAgent` answers
that. A result that is too long for an abstract is stored here and cited; only the caller and the A2A context that it
was made for may open or query it (E5002).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.types import Part

from accp_adapters.a2a.teams.call import Call
from accp_adapters.a2a.teams.contexts import accp_message_in, completion_parts, delivery_in, raise_failure_in, words_in
from accp_adapters.a2a.teams.reference_messages import (
    answer_parts,
    is_answered,
    request_in,
    request_part,
)
from accp_adapters.remote import (
    AgentResult,
    AgentResults,
    AskedReference,
    GrantedReferences,
    PeerAnswer,
    ReferenceRequest,
    check_agent,
)
from accp_core.accp import ErrorCode
from accp_core.accp.grammar import escape_key
from accp_core.aci import AgentContext
from accp_core.bounded import SizedCache
from accp_core.compression import ResultLimits
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore, TokenCounter

__all__ = ["Agent", "ContextExecutor"]

MAX_WAITING_BYTES: Final = 64 << 20
"""Bytes of the deliveries that wait for a text, WAITING_BYTES and the context each; the oldest one is cancelled."""
WAITING_BYTES: Final = 16 << 10

Agent: TypeAlias = Callable[[AgentContext, GrantedReferences], Awaitable[AgentResult]]
"""Works on one context."""


@dataclass(slots=True, kw_only=True)
class _RunningDelivery:
    """A delivery that the agent works on."""

    sent: AgentContext
    """The context as it was delivered."""
    correlation_id: str
    """The correlation_id of the answer."""
    frames: bool
    """Whether it was delivered by a frame, and is answered by one."""
    references: GrantedReferences
    work: asyncio.Future[AgentResult]
    size: int
    """Bytes that the delivery takes while it waits."""
    waits_for: AskedReference | None = None
    """What the master was asked for last."""


class ContextExecutor(AgentExecutor):
    """Runs an agent on the contexts that a master delivers."""

    def __init__(
        self,
        agent: Agent,
        *,
        agent_id: str,
        store: ColdStore | None = None,
        limits: ResultLimits | None = None,
        counter: TokenCounter | None = None,
    ) -> None:
        """Serve `agent` under `agent_id`.

        Args:
            agent: Works on a context.
            agent_id: The AgentID whose contexts it takes.
            store: Keeps long results; None: in memory, until the process ends.
            limits: `limits.abstract` tokens is the longest abstract; a longer result is stored and cited.
            counter: Counts the tokens of the model; None: o200k_base.
        """
        self._agent = agent
        self._agent_id = agent_id
        self._sender = escape_key(agent_id)
        self._results: Final = AgentResults(store, limits, counter)
        self._waiting: Final[SizedCache[str, _RunningDelivery]] = SizedCache(MAX_WAITING_BYTES)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Handle a message of the master: a delivery, a text that we asked for, or a query of a stored result."""
        call = Call(context, event_queue)
        request = request_in(call.parts)
        if request is not None:
            await event_queue.enqueue_event(call.message(await self._reference_answer(call, request)))
            return
        await call.open_task()
        try:
            run = self._resumed(call) if context.current_task is not None else self._started(call)
        except ProtocolError as refusal:
            await call.refuse(refusal, self._sender, call.message_id)
            return
        await self._drive(run, call)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stop the work on a delivery that waits, and cancel its task."""
        run = self._waiting.pop(context.task_id or "")
        if run is not None:
            run.work.cancel()
        await Call(context, event_queue).updater.cancel()

    def _started(self, call: Call) -> _RunningDelivery:
        """Start the agent on the context that a message delivers.

        Raises:
            ProtocolError: E5001, the context is another agent's; the codes of `delivery_in`.
        """
        sent, correlation_id = delivery_in(call.parts, call.message_id)
        check_agent(sent, self._agent_id)
        granted = GrantedReferences(sent)
        return _RunningDelivery(
            sent=sent,
            correlation_id=correlation_id,
            frames=accp_message_in(call.parts) is not None,
            references=granted,
            work=asyncio.ensure_future(self._agent(sent, granted)),
            size=WAITING_BYTES + sum(part.ByteSize() for part in call.parts),
        )

    def _resumed(self, call: Call) -> _RunningDelivery:
        """Give the agent the text that it waits for, or the master's refusal.

        Raises:
            ProtocolError: E3001, no delivery waits under this task.
        """
        run = self._waiting.pop(call.updater.task_id)
        if run is None or run.waits_for is None:
            raise ProtocolError("expected a task that waits, found none: it was given up", code=ErrorCode.TIMEOUT)
        try:
            raise_failure_in(call.parts)
            found = PeerAnswer(words_in(call.parts), is_answered(run.waits_for.request, call.parts))
            run.waits_for.answer.set_result(found)
        except ProtocolError as refusal:
            run.waits_for.answer.set_exception(refusal)
        return run

    async def _drive(self, run: _RunningDelivery, call: Call) -> None:
        """Wait until the agent is done or opens a reference."""
        try:
            request = await run.references.next_request(run.work)
        except asyncio.CancelledError:
            run.work.cancel()
            raise
        if request is None:
            await self._finish(run, call)
        else:
            await self._ask(run, call, request)

    async def _ask(self, run: _RunningDelivery, call: Call, request: AskedReference) -> None:
        """Ask the master for a text, and let the task wait for it."""
        run.waits_for = request
        for _, evicted in self._waiting.put(call.updater.task_id, run, run.size):
            evicted.work.cancel()
        part = request_part(request.request, sender=self._sender, message_id=call.reply_id)
        await call.updater.requires_input(call.task_message([part]))

    async def _finish(self, run: _RunningDelivery, call: Call) -> None:
        """Complete the task with the context that the agent returned, or refuse it with the agent's error."""
        try:
            returned = await self._results.leave(run.sent, run.work.result(), call.session_id)
        except ProtocolError as refusal:
            await call.refuse(refusal, self._sender, run.correlation_id)
            return
        parts = completion_parts(
            returned,
            run.sent,
            correlation_id=run.correlation_id,
            sender=self._sender,
            message_id=call.reply_id,
            frames=run.frames,
        )
        await call.updater.complete(call.task_message(parts))

    async def _reference_answer(self, call: Call, request: ReferenceRequest) -> list[Part]:
        """Return the parts that answer the master: what it asks for of this caller and A2A context, or a refusal."""
        try:
            text = await self._results.answer(request, call.session_id)
        except ProtocolError as refusal:
            return [call.failure(refusal, self._sender, request.correlation_id)]
        return answer_parts(request, text, sender=self._sender, message_id=call.reply_id)
