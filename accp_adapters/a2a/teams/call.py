"""One call of an executor: the message that came, and how it is answered."""

from __future__ import annotations

import secrets
from typing import Any, Final

from a2a.server.agent_execution import RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Message, Part, Role, Task, TaskState, TaskStatus

from accp_adapters.a2a.teams.contexts import failure_part
from accp_core.errors import ProtocolError

__all__ = ["Call"]


class Call:
    """One call of the executor: the message of the master, and the queue of our answers."""

    def __init__(self, context: RequestContext, queue: EventQueue) -> None:
        """Answer the message of `context` by events in `queue`."""
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
