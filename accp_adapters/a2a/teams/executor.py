"""An agent that takes AgentContexts, behind A2A: it gets one context and returns it, nothing else (ACI 2.1, 5.3).

    ContextExecutor(agent, agent_id="crm")       an AgentExecutor for the SDK's DefaultRequestHandler

References in a context are grants. `GrantedReferences.open` refuses any other reference (E5002) and asks the master for
the text: the task waits for input with `qry:fetch`, and the master's `RemoteAgent` answers. A result that is too long
for an abstract is stored here and cited; only the caller and the A2A context that it was made for may open it (E5002).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Message, Part, Role, Task, TaskState, TaskStatus

from accp_adapters.a2a.teams.contexts import (
    FetchRequest,
    accp_message_in,
    completion_parts,
    delivery_in,
    failure_part,
    fetch_answer_parts,
    fetch_request_in,
    fetch_request_part,
    raise_failure_in,
    words_in,
)
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import o200k_base
from accp_core import references
from accp_core.accp import ErrorCode
from accp_core.accp.grammar import escape_key
from accp_core.aci import AgentContext, AgentReply, check_context_grant, offload_long, reply_from_words
from accp_core.bounded import BoundedDict
from accp_core.compression import ResultLimits
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore, TokenCounter

__all__ = ["Agent", "AgentResult", "ContextExecutor", "GrantedReferences", "OpenRequest"]

MAX_WAITING: Final = 1_000
"""Deliveries that wait for a text; the one that waits longest is cancelled."""
MAX_SESSIONS: Final = 1_000
"""A2A contexts whose long results are stored; those of the oldest one are deleted."""


class OpenRequest(NamedTuple):
    """A reference that the agent opens."""

    reference: str
    text: asyncio.Future[str]
    """Holds the text behind it when the master has answered."""


class GrantedReferences:
    """The references that an agent may open while it works on one context."""

    def __init__(self, context: AgentContext) -> None:
        """Grant the references of `context`."""
        self._context = context
        self._requests: asyncio.Queue[OpenRequest] = asyncio.Queue()

    async def open(self, reference: str) -> str:
        """Return the text behind `reference`, such as "$cold.…", from the master.

        Raises:
            ProtocolError: E5002, the context does not grant it; E2001, the master has no text for it.
        """
        granted = references.reference_to(check_context_grant(self._context, reference))
        request = OpenRequest(granted, asyncio.get_running_loop().create_future())
        self._requests.put_nowait(request)
        return await request.text

    async def next_request(self) -> OpenRequest:
        """Return the next reference that the agent opens; waits for one."""
        return await self._requests.get()


AgentResult: TypeAlias = AgentContext | AgentReply | str
"""The result of an agent: its context, a reply with the whole of long results, or words as `brief` asks for them."""
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
    waits_for: asyncio.Future[str] | None = None
    """The future of the text that the master was asked for last."""


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
        self._store = store or SqliteColdStore()
        self._limits = limits or ResultLimits()
        self._counter = counter
        self._waiting: Final[BoundedDict[str, _RunningDelivery]] = BoundedDict(MAX_WAITING)
        self._sessions: Final[BoundedDict[str, None]] = BoundedDict(MAX_SESSIONS)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Handle a message of the master: a delivery, a text that we asked for, or a request for a stored result."""
        call = _Call(context, event_queue)
        request = fetch_request_in(call.parts)
        if request is not None:
            await event_queue.enqueue_event(call.message(self._fetch_answer(call, request)))
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
        run = self._waiting.pop(context.task_id or "", None)
        if run is not None:
            run.work.cancel()
        await _Call(context, event_queue).updater.cancel()

    def _started(self, call: _Call) -> _RunningDelivery:
        """Start the agent on the context that a message delivers.

        Raises:
            ProtocolError: E5001, the context is another agent's; the codes of `delivery_in`.
        """
        sent, correlation_id = delivery_in(call.parts, call.message_id)
        if sent.agent_id != self._agent_id:
            reason = f"expected a context of agent {self._agent_id!r}, found one of {sent.agent_id!r}"
            raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        granted = GrantedReferences(sent)
        return _RunningDelivery(
            sent=sent,
            correlation_id=correlation_id,
            frames=accp_message_in(call.parts) is not None,
            references=granted,
            work=asyncio.ensure_future(self._agent(sent, granted)),
        )

    def _resumed(self, call: _Call) -> _RunningDelivery:
        """Give the agent the text that it waits for, or the master's refusal.

        Raises:
            ProtocolError: E3001, no delivery waits under this task.
        """
        run = self._waiting.pop(call.updater.task_id, None)
        if run is None or run.waits_for is None:
            raise ProtocolError("expected a task that waits, found none: it was given up", code=ErrorCode.TIMEOUT)
        try:
            raise_failure_in(call.parts)
            run.waits_for.set_result(words_in(call.parts))
        except ProtocolError as refusal:
            run.waits_for.set_exception(refusal)
        return run

    async def _drive(self, run: _RunningDelivery, call: _Call) -> None:
        """Wait until the agent is done or opens a reference."""
        request = asyncio.ensure_future(run.references.next_request())
        either: set[asyncio.Future[Any]] = {run.work, request}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            run.work.cancel()
            raise
        finally:
            if not request.done():
                request.cancel()
        if run.work.done():
            await self._finish(run, call)
        else:
            await self._ask(run, call, request.result())

    async def _ask(self, run: _RunningDelivery, call: _Call, request: OpenRequest) -> None:
        """Ask the master for a text, and let the task wait for it."""
        run.waits_for = request.text
        evicted = self._waiting.put(call.updater.task_id, run)
        if evicted is not None:
            evicted[1].work.cancel()
        part = fetch_request_part(request.reference, sender=self._sender, message_id=call.reply_id)
        await call.updater.requires_input(call.task_message([part]))

    async def _finish(self, run: _RunningDelivery, call: _Call) -> None:
        """Complete the task with the context that the agent returned, or refuse it with the agent's error."""
        try:
            returned = self._stored_reply(run.sent, run.work.result(), call.session_id)
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

    # "while only structured task descriptions and references to the full context are exchanged" (ACI section 4.1)
    def _stored_reply(self, sent: AgentContext, result: AgentResult, session_id: str) -> AgentContext:
        """Return the context that leaves: long results are stored first, then previewed and cited."""
        if isinstance(result, str):
            result = reply_from_words(sent, result)
        reply = result if isinstance(result, AgentReply) else AgentReply(context=result)
        context = reply.context if isinstance(reply.context, AgentContext) else AgentContext.from_json(reply.context)
        returned, texts = offload_long(
            context, reply.full, limit=self._limits.abstract, counter=self._counter or o200k_base()
        )
        for stored in texts:
            self._store.put(session_id, stored.key, stored.text)
        if texts:
            evicted = self._sessions.put(session_id, None)
            if evicted is not None:
                self._store.purge(evicted[0])
        return returned

    def _fetch_answer(self, call: _Call, request: FetchRequest) -> list[Part]:
        """Return the parts that answer the master: a text stored for this caller and A2A context, or a refusal."""
        key = references.parse_reference(request.reference)
        text = self._store.get(call.session_id, key)
        try:
            # The session holds what was cited to this caller in this A2A context, and nothing else.
            references.check_grant(request.reference, () if text is None else (key,))
            text = references.checked_text(key, text)
        except ProtocolError as refusal:
            return [call.failure(refusal, self._sender, request.correlation_id)]
        return fetch_answer_parts(request, text, sender=self._sender, message_id=call.reply_id)


class _Call:
    """One call of the executor: the message of the master, and the queue of our answers."""

    def __init__(self, context: RequestContext, queue: EventQueue) -> None:
        self._context = context
        self._queue = queue
        self.updater: Final = TaskUpdater(queue, context.task_id or "", context.context_id or "")
        self.reply_id: Final = secrets.token_hex(6)
        """The id of our answer; in this form it is the msg_id of the frame in it, too."""
        caller = context.call_context
        self.session_id: Final = f"a2a:{caller.tenant}:{caller.user.user_name}:{self.updater.context_id}"
        """The session of the store that belongs to this caller and A2A context."""

    @property
    def parts(self) -> list[Part]:
        """The parts of the master's message."""
        return list(self._context.message.parts) if self._context.message else []

    @property
    def message_id(self) -> str:
        """The id of the master's message."""
        return self._context.message.message_id if self._context.message else ""

    async def open_task(self) -> None:
        """Create the task, unless the message continues one."""
        if self._context.current_task is None:
            task = Task(
                id=self.updater.task_id,
                context_id=self.updater.context_id,
                status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                history=[self._context.message] if self._context.message else [],
            )
            await self._queue.enqueue_event(task)

    def task_message(self, parts: list[Part]) -> Message:
        """Return a message of the agent within the task."""
        message = self.message(parts)
        message.task_id = self.updater.task_id
        return message

    def message(self, parts: list[Part]) -> Message:
        """Return a message of the agent outside any task."""
        context_id = self.updater.context_id
        return Message(role=Role.ROLE_AGENT, message_id=self.reply_id, context_id=context_id, parts=parts)

    def failure(self, refusal: ProtocolError, sender: str, correlation_id: str) -> Part:
        """Return the part that refuses the message which `correlation_id` names."""
        return failure_part(refusal, sender=sender, correlation_id=correlation_id, message_id=self.reply_id)

    async def refuse(self, refusal: ProtocolError, sender: str, correlation_id: str) -> None:
        """End the task as rejected (E5xxx) or failed, with the code of the refusal."""
        end: Any = self.updater.reject if refusal.code.startswith("E5") else self.updater.failed
        await end(self.task_message([self.failure(refusal, sender, correlation_id)]))
