"""An agent that takes contexts, behind A2A: it gets one AgentContext and returns it, and nothing else (ACI 2.1, 5.3).

    ContextExecutor(agent, agent_id="crm")       an AgentExecutor for the SDK's DefaultRequestHandler

References in a context are grants. `References.open` refuses any other (E5002) and asks the master for the text: the
task waits for input, `qry:fetch`, and the master's `RemoteAgent` answers. A result that is too long for an abstract is
kept here and cited; it opens for the caller and the A2A context that it was made for (E5002 for everybody else).
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Message, Part, Role, Task, TaskState, TaskStatus

from accp_adapters.a2a.teams.contexts import (
    ContextReply,
    answers,
    check_failure,
    completion_parts,
    delivered,
    failure_part,
    found_parts,
    question_part,
    said_in,
    text_in,
    wanted,
)
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import o200k_base
from accp_core.accp import ErrorCode
from accp_core.accp.grammar import escape_key
from accp_core.accp.state.context_state import cold_write
from accp_core.aci import AgentContext, KeyInformation, check_grant
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore, TokenCounter
from accp_core.view import preview

__all__ = ["Agent", "ContextExecutor", "References"]

_WAITING: Final = 1_000
"""Runs that wait for a reference; the one that waits longest is given up."""
_SCOPES: Final = 1_000
"""A2A contexts whose long results are kept."""


class References:
    """What an agent may open while it works on one context."""

    def __init__(self, context: AgentContext) -> None:
        """Grant what `context` cites."""
        self._context = context
        self._asked: asyncio.Queue[tuple[str, asyncio.Future[str]]] = asyncio.Queue()

    async def open(self, reference: str) -> str:
        """Return the text behind `reference`, such as "$cold.c9523506b4bd", which the master has.

        Raises:
            ProtocolError: E5002, the context does not grant it; E2001, the master has nothing there.
        """
        ref = f"${check_grant(self._context, reference)}"
        found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._asked.put_nowait((ref, found))
        return await found

    async def next(self) -> tuple[str, asyncio.Future[str]]:
        """Return the next reference that is asked for, and where its text goes."""
        return await self._asked.get()


Agent: TypeAlias = Callable[[AgentContext, References], Awaitable[AgentContext | ContextReply | str]]
"""Works on one context and returns it, with the whole of long results, or says it in words (`brief` tells how)."""


@dataclass(slots=True, kw_only=True)
class _Run:
    """One delivery at work."""

    sent: AgentContext
    correlation_id: str
    frames: bool
    references: References
    work: asyncio.Future[AgentContext | ContextReply | str]
    asked: asyncio.Future[str] | None = field(default=None)
    """Where the text goes that the master was asked for."""


class ContextExecutor(AgentExecutor):
    """Runs an agent on the contexts that a master delivers to it."""

    def __init__(
        self,
        agent: Agent,
        *,
        agent_id: str,
        store: ColdStore | None = None,
        abstract_limit: int = 300,
        counter: TokenCounter | None = None,
    ) -> None:
        """Serve `agent` under `agent_id`.

        Args:
            agent: What works.
            agent_id: The AgentID whose contexts it takes.
            store: Keeps long results; None: in memory, until the process ends.
            abstract_limit: Tokens of an abstract; what is longer is kept and cited.
            counter: Counts tokens; None: o200k_base.
        """
        self._agent = agent
        self._agent_id = agent_id
        self._sender = escape_key(agent_id)
        self._store = store or SqliteColdStore()
        self._limit = abstract_limit
        self._counter = counter
        self._waiting: OrderedDict[str, _Run] = OrderedDict()
        self._scopes: OrderedDict[str, None] = OrderedDict()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Take a delivery, the answer to a question of ours, or a question of the master's."""
        job = _Job(context, event_queue)
        question = wanted(job.parts)
        if question is not None:
            await event_queue.enqueue_event(job.direct(self._found(job, *question)))
            return
        await job.open()
        try:
            run = self._resumed(job) if context.current_task is not None else self._started(job)
        except ProtocolError as refusal:
            await job.refuse(refusal, self._sender, job.owner)
            return
        await self._drive(run, job)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stop the work on a delivery."""
        run = self._waiting.pop(context.task_id or "", None)
        if run is not None:
            run.work.cancel()
        await _Job(context, event_queue).updater.cancel()

    def _started(self, job: _Job) -> _Run:
        sent, correlation_id = delivered(job.parts, job.owner)
        if sent.agent_id != self._agent_id:
            reason = f"expected a context of agent {self._agent_id!r}, found one of {sent.agent_id!r}"
            raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        references = References(sent)
        return _Run(
            sent=sent,
            correlation_id=correlation_id,
            frames=said_in(job.parts) is not None,
            references=references,
            work=asyncio.ensure_future(self._agent(sent, references)),
        )

    def _resumed(self, job: _Job) -> _Run:
        run = self._waiting.pop(job.updater.task_id, None)
        if run is None or run.asked is None:
            raise ProtocolError("expected a task that waits, found none: it was given up", code=ErrorCode.TIMEOUT)
        try:
            check_failure(job.parts)
            run.asked.set_result(text_in(job.parts))
        except ProtocolError as refusal:
            run.asked.set_exception(refusal)
        return run

    async def _drive(self, run: _Run, job: _Job) -> None:
        """Wait until the agent is done or needs a reference."""
        question = asyncio.ensure_future(run.references.next())
        either: set[asyncio.Future[Any]] = {run.work, question}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            run.work.cancel()
            raise
        finally:
            if not question.done():
                question.cancel()
        if run.work.done():
            await self._finish(run, job)
        else:
            await self._ask(run, job, *question.result())

    async def _ask(self, run: _Run, job: _Job, ref: str, found: asyncio.Future[str]) -> None:
        run.asked = found
        self._waiting[job.updater.task_id] = run
        if len(self._waiting) > _WAITING:
            self._waiting.popitem(last=False)[1].work.cancel()
        await job.updater.requires_input(job.says([question_part(ref, sender=self._sender, owner=job.reply_id)]))

    async def _finish(self, run: _Run, job: _Job) -> None:
        try:
            reply = self._reply(run.sent, run.work.result(), job)
        except ProtocolError as refusal:
            await job.refuse(refusal, self._sender, run.correlation_id)
            return
        parts = completion_parts(
            reply,
            run.sent,
            correlation_id=run.correlation_id,
            sender=self._sender,
            owner=job.reply_id,
            frames=run.frames,
        )
        await job.updater.complete(job.says(parts))

    # "while only structured task descriptions and references to the full context are exchanged" (ACI section 4.1)
    def _reply(self, sent: AgentContext, result: AgentContext | ContextReply | str, job: _Job) -> AgentContext:
        """Return the context that leaves: long results are kept, previewed and cited."""
        if isinstance(result, str):
            result = answers(sent, result)
        reply = result if isinstance(result, ContextReply) else ContextReply(context=result)
        counter, entries, kept = self._counter or o200k_base(), [], []
        for entry in reply.context.key_information:
            text = reply.full.get(entry.item_id, entry.output_abstract)
            if len(text) > MAX_ABSTRACT_CHARS or counter(text) > self._limit:
                ref = self._keep(job.scope, text)
                kept.append(ref)
                shown = preview(text, limit=self._limit, opening=ref, counter=counter)
                entry = KeyInformation(entry.item_id, shown[:MAX_ABSTRACT_CHARS])
            entries.append(entry)
        return replace(
            reply.context,
            key_information=tuple(entries),
            context_uri=(*reply.context.context_uri, *kept),
        )

    def _keep(self, scope: str, text: str) -> str:
        write = cold_write(scope, text)
        self._store.put(write.session_id, write.key, write.text)
        self._scopes[scope] = None
        self._scopes.move_to_end(scope)
        if len(self._scopes) > _SCOPES:
            self._store.purge(self._scopes.popitem(last=False)[0])
        return f"${write.key}"

    def _found(self, job: _Job, ref: str, correlation_id: str) -> list[Part]:
        """Return the answer to a question of the master's: what was kept for this caller in this A2A context."""
        text = self._store.get(job.scope, ref.removeprefix("$"))
        if text is None:
            refusal = ProtocolError(
                f"expected a reference that was given out in this context, found {ref!r}",
                code=ErrorCode.UNAUTHORIZED_REF,
            )
            return [failure_part(refusal, sender=self._sender, correlation_id=correlation_id, owner=job.reply_id)]
        return found_parts(ref, text, sender=self._sender, correlation_id=correlation_id, owner=job.reply_id)


class _Job:
    """One call of the executor: what was said, and how to speak."""

    def __init__(self, context: RequestContext, queue: EventQueue) -> None:
        self._context = context
        self._queue = queue
        self.updater: Final = TaskUpdater(queue, context.task_id or "", context.context_id or "")
        self.reply_id: Final = secrets.token_hex(6)
        call = context.call_context
        self.scope: Final = f"a2a:{call.tenant}:{call.user.user_name}:{self.updater.context_id}"

    @property
    def parts(self) -> list[Part]:
        """What the caller said."""
        return list(self._context.message.parts) if self._context.message else []

    @property
    def owner(self) -> str:
        """The id of the message in which it was said."""
        return self._context.message.message_id if self._context.message else ""

    async def open(self) -> None:
        """Make the task, unless it goes on."""
        if self._context.current_task is None:
            task = Task(
                id=self.updater.task_id,
                context_id=self.updater.context_id,
                status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                history=[self._context.message] if self._context.message else [],
            )
            await self._queue.enqueue_event(task)

    def says(self, parts: list[Part]) -> Message:
        """Return a message of the agent within the task."""
        message = self.direct(parts)
        message.task_id = self.updater.task_id
        return message

    def direct(self, parts: list[Part]) -> Message:
        """Return a message of the agent that needs no task."""
        context_id = self.updater.context_id
        return Message(role=Role.ROLE_AGENT, message_id=self.reply_id, context_id=context_id, parts=parts)

    async def refuse(self, refusal: ProtocolError, sender: str, correlation_id: str) -> None:
        """End the task with the code of what was refused."""
        part = failure_part(refusal, sender=sender, correlation_id=correlation_id, owner=self.reply_id)
        end: Any = self.updater.reject if refusal.code.startswith("E5") else self.updater.failed
        await end(self.says([part]))
