"""The tasks of one peer: messages whose results are kept under an id (ACP transport 0.3, the endpoint "tasks")."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from accp_adapters.bindings.acp.sessions.kept import Kept, size_of_parts
from accp_adapters.bindings.acp.sessions.session import AcpSession
from accp_core.acp import AcpError, AcpMessage, Part
from accp_core.acp.document import Json
from accp_core.acp.envelope import message_from_json, timestamp
from accp_core.acp.parts import part_to_json
from accp_core.errors import LocalProtocolError, ProtocolError

__all__ = ["HttpTasks", "TaskStatus"]


_TASK_BYTES: Final = 1_000
"""About the memory of a task beside its texts."""


class TaskStatus(StrEnum):
    """The states of a task that this server uses; the value is what `status` holds."""

    WORKING = "working"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    id: str
    title: str
    description: str
    created: float
    status: TaskStatus = TaskStatus.WORKING
    reason: str = ""
    parts: tuple[Part, ...] = field(default=())

    def to_json(self) -> dict[str, Json]:
        """Return what a client sees of it."""
        artifacts: list[Json] = [{"parts": [part_to_json(part) for part in self.parts]}] if self.parts else []
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "status": self.status.value,
            "created_at": timestamp(self.created),
            "artifacts": artifacts,
            **({"reason": self.reason} if self.reason else {}),
        }


class HttpTasks:
    """The tasks of one peer, the oldest forgotten for those too many."""

    def __init__(self, session: AcpSession) -> None:
        """Have the agent of `session` do them."""
        self._session = session
        self._tasks: Kept[_Task] = session.keeping(session.limits.tasks)
        self._watching: set[asyncio.Task[None]] = set()

    def create(self, data: Mapping[str, Any], weight: int) -> dict[str, Json]:
        """Give the agent the task of a request, which takes `weight` bytes; return what a client sees of it.

        Raises:
            ValueError: There is neither a title nor content for the agent.
            LocalProtocolError: ERR_NOT_CONNECTED, there is no memory for it.
        """
        title, description = (str(data.get(name) or "")[:10_000] for name in ("title", "description"))
        message = _message_of(data, title, description)
        task = _Task(id=f"task_{secrets.token_hex(6)}", title=title, description=description, created=time.time())
        result = self._session.result_of(task.id)
        asked = replace(message, message_id=task.id, task_id=task.id, correlation_id=None)
        self._session.take_message(asked, weight)
        self._keep(task)
        watching = asyncio.create_task(self._watch(task.id, result))
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)
        return task.to_json()

    def all(self) -> list[Json]:
        """Return what a client sees of every task, the oldest first."""
        return [task.to_json() for task in self._tasks.values()]

    def get(self, task_id: str) -> dict[str, Json]:
        """Return what a client sees of one task; raises as `cancel`."""
        return self._find(task_id).to_json()

    def cancel(self, task_id: str) -> dict[str, Json]:
        """End a task as failed, unless it has ended; what the agent still returns for it is dropped.

        Raises:
            LocalProtocolError: ERR_NOT_FOUND.
        """
        self._end(task_id, TaskStatus.FAILED, reason="canceled")
        return self._find(task_id).to_json()

    async def _watch(self, task_id: str, result: asyncio.Future[tuple[Part, ...]]) -> None:
        try:
            self._end(task_id, TaskStatus.COMPLETED, parts=await asyncio.shield(result))
        except LocalProtocolError:
            return
        except ProtocolError as error:
            self._end(task_id, TaskStatus.FAILED, reason=error.reason)

    def _end(self, task_id: str, status: TaskStatus, *, reason: str = "", parts: tuple[Part, ...] = ()) -> None:
        task = self._find(task_id)
        if task.status is TaskStatus.WORKING:
            self._keep(replace(task, status=status, reason=reason, parts=parts))

    def _keep(self, task: _Task) -> None:
        size = 4 * (len(task.title) + len(task.description)) + size_of_parts(task.parts)
        self._tasks.put(task.id, task, size + _TASK_BYTES)

    def _find(self, task_id: str) -> _Task:
        task = self._tasks.get(task_id)
        if task is None:
            raise LocalProtocolError(f"expected a known task, found {task_id!r:.100}", code=AcpError.NOT_FOUND)
        return task


def _message_of(data: Mapping[str, Any], title: str, description: str) -> AcpMessage:
    """Return the message for the agent: the parts or the text of the request, its input, or what describes the task."""
    given = data.get("input")
    if isinstance(given, Mapping):
        return message_from_json({"parts": [given]})
    if any(name in data for name in ("parts", "text", "content")):
        return message_from_json({**data, "role": "user"})
    words = str(given or "") or "\n".join(filter(None, (title, description)))
    if not words:
        raise ValueError("expected a task with a title, an input or parts, found none of them")
    return message_from_json({"text": words})
