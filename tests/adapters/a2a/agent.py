"""The agent under test: its behaviour is chosen by the message id, as A2A's own test suite does it, and ids are fixed.

The same message gives the same events each time, times apart, so that what comes through frames can be compared with
what comes without.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from a2a import types
from a2a.helpers import new_data_part, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentCard, Message, Part, Role, Task, TaskState, TaskStatus
from a2a.utils.errors import InvalidParamsError

__all__ = ["BEHAVIOURS", "TICKETS", "FixtureAgent", "card"]

TICKETS: Final = {
    "tickets": [
        {"number": f"REQ{12312 + n}", "priority": f"P{n % 3 + 1}", "open": n % 2 == 0, "cost": 4326 + n, "rate": n / 8}
        for n in range(12)
    ]
}
"""What the agent finds: rows with integers and decimals."""
PICTURE: Final = bytes(range(256))


class FixtureAgent(AgentExecutor):
    """Does what the id of a message says; keeps what it was given."""

    def __init__(self) -> None:
        """Begin with nothing seen, and the gate shut."""
        self.seen: list[Message] = []
        self.says: list[Part] = []
        """What an answer to any other message holds; empty: an echo."""
        self.gate = asyncio.Event()
        self.second_gate = asyncio.Event()
        self.second_gate.set()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Run the behaviour with the longest name that the message id begins with; an echo otherwise."""
        message = context.message
        assert message is not None and context.task_id and context.context_id
        self.seen.append(message)
        names = [name for name in BEHAVIOURS if message.message_id.startswith(name)]
        job = Job(context, event_queue)
        if names:
            await BEHAVIOURS[max(names, key=len)](job)
        elif message.message_id.startswith("gate"):
            await hold(job, self.gate, self.second_gate)
        elif self.says:
            await job.open()
            await job.updater.complete(job.says(*self.says))
        else:
            await echo(job)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say that the task is cancelled."""
        await Job(context, event_queue).updater.cancel()


class Job:
    """One run: the request, and how to speak."""

    def __init__(self, context: RequestContext, queue: EventQueue) -> None:
        """Take a request and the queue that its events go to."""
        self.context = context
        self.queue = queue
        self.updater = TaskUpdater(queue, context.task_id or "", context.context_id or "")
        self.said = 0

    async def open(self) -> None:
        """Make the task, unless it goes on."""
        if self.context.current_task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=self.updater.task_id, context_id=self.updater.context_id, status=status)
            assert self.context.message is not None
            task.history.append(self.context.message)
            await self.queue.enqueue_event(task)

    def says(self, *parts: Part) -> Message:
        """Return a message of the agent."""
        self.said += 1
        assert self.context.message is not None
        return Message(
            role=Role.ROLE_AGENT,
            message_id=f"{self.context.message.message_id}-reply-{self.said}",
            context_id=self.updater.context_id,
            task_id=self.updater.task_id,
            parts=parts,
        )

    async def add(self, name: str, *parts: Part, **more: Any) -> None:
        """Give a chunk of an artifact, whose id is its name."""
        await self.updater.add_artifact(list(parts), artifact_id=name, name=name, **more)


def text(words: str) -> Part:
    """Return a part that is a text."""
    return new_text_part(words)


async def echo(job: Job) -> None:
    """Complete with what was said."""
    await job.open()
    await job.updater.complete(job.says(text(f"Echo: {job.context.get_user_input()}")))


async def complete(job: Job) -> None:
    """Complete with a message."""
    await job.open()
    await job.updater.complete(job.says(text("Hello from TCK")))


def artifact(*parts: Part) -> Callable[[Job], Awaitable[None]]:
    """Return the behaviour that gives one artifact and completes."""

    async def run(job: Job) -> None:
        await job.open()
        await job.updater.start_work()
        await job.add("result", *parts)
        await job.updater.complete()

    return run


async def direct(job: Job) -> None:
    """Reply without a task."""
    reply = job.says(text("Direct message response"))
    reply.ClearField("task_id")
    await job.queue.enqueue_event(reply)


async def ask(job: Job) -> None:
    """Ask for input, and complete when it comes."""
    await job.open()
    if job.context.current_task is None:
        await job.updater.requires_input(job.says(text("Which quarter?")))
    else:
        await job.updater.complete(job.says(text(f"Thank you: {job.context.get_user_input()}")))


async def authorise(job: Job) -> None:
    """Ask for a log-in."""
    await job.open()
    await job.updater.requires_auth(job.says(text("Log in first")))


async def fail(job: Job) -> None:
    """Fail with data on why."""
    await job.open()
    await job.updater.failed(job.says(text("The store is closed"), new_data_part({"opens": 8, "day": "Monday"})))


async def reject(job: Job) -> None:
    """Reject with a message."""
    await job.open()
    await job.updater.reject(job.says(text("Not my trade")))


async def refuse(job: Job) -> None:
    """Refuse with an error of A2A."""
    raise InvalidParamsError(message="rejected by the agent")


async def crash(job: Job) -> None:
    """Break in the middle."""
    await job.open()
    raise ValueError("the agent broke")


async def chunked(job: Job) -> None:
    """Give one artifact in two chunks."""
    await job.open()
    await job.updater.start_work()
    await job.add("c1", text("chunk-1 "), append=False)
    await job.add("c1", text("chunk-2"), append=True, last_chunk=True)
    await job.updater.complete()


async def several(job: Job) -> None:
    """Give several artifacts by turns, one of them anew, with files, data, metadata and extensions between them."""
    await job.open()
    await job.updater.start_work(job.says(text("Looking them up now.")))
    await job.add("rows", new_data_part(TICKETS), metadata={"source": "crm", "page": 1}, append=False)
    await job.add("notes", text("first "), text("second "), append=False, extensions=["urn:example:notes"])
    await job.add("rows", new_data_part(TICKETS), append=True)
    picture = Part(raw=PICTURE, media_type="image/png", filename="p.png")
    await job.add("notes", text("third"), picture, append=True, last_chunk=True)
    await job.add("rows", new_data_part(TICKETS), Part(url="https://example.org/x.csv", media_type="text/csv"))
    await job.add("rows", new_data_part("a string"), new_data_part([1, 2.5, None]), append=True, last_chunk=True)
    await job.updater.complete(job.says(text("Done."), new_data_part(TICKETS, media_type="application/json")))


async def speak(job: Job) -> None:
    """Say something twice while working, and complete without a word."""
    await job.open()
    await job.updater.start_work(job.says(text("Looking them up now.")))
    await job.updater.start_work(job.says(text("Looked at 12 tickets")))
    await job.add("result", text("two are open"))
    await job.updater.complete()


async def slow(job: Job) -> None:
    """Work until somebody cancels, or for four seconds."""
    await job.open()
    await job.updater.start_work()
    await asyncio.sleep(4)
    await job.updater.complete()


async def hold(job: Job, gate: asyncio.Event, second: asyncio.Event) -> None:
    """Give one chunk, two more when the gate opens, and the others behind the second one."""
    await job.open()
    await job.add("rows", new_data_part(TICKETS), append=False)
    await gate.wait()
    for index in range(5):
        if index == 2:
            await second.wait()
        await job.add("rows", text(f"chunk {index} "), new_data_part(TICKETS), append=True, last_chunk=index == 4)
    await job.updater.complete()


FILE: Final = Part(raw=b"tck", media_type="text/plain", filename="output.txt")
LINK: Final = Part(url="https://example.com/output.txt", media_type="text/plain", filename="output.txt")

BEHAVIOURS: Final[Mapping[str, Callable[[Job], Awaitable[None]]]] = {
    "tck-complete-task": complete,
    "tck-artifact-text": artifact(text("Generated text content")),
    "tck-artifact-file": artifact(FILE),
    "tck-artifact-file-url": artifact(LINK),
    "tck-artifact-data": artifact(new_data_part({"key": "value", "count": 42})),
    "tck-message-response": direct,
    "tck-input-required": ask,
    "tck-reject-task": refuse,
    "tck-stream-001": artifact(text("Stream hello from TCK")),
    "tck-stream-002": complete,
    "tck-stream-003": artifact(text("Stream task lifecycle")),
    "tck-stream-ordering-001": artifact(text("Ordered output")),
    "tck-stream-artifact-text": artifact(text("Streamed text content")),
    "tck-stream-artifact-file": artifact(FILE),
    "tck-stream-artifact-chunked": chunked,
    "test-resubscribe-message-id": slow,
    "auth": authorise,
    "fail": fail,
    "reject": reject,
    "crash": crash,
    "several": several,
    "words": speak,
}
"""Beginning of a message id to what the agent does; those of the suite first, then ours."""


def card(*, jsonrpc: str = "", rest: str = "", grpc: str = "") -> AgentCard:
    """Return the card of the agent at these addresses."""
    urls = {"JSONRPC": jsonrpc, "HTTP+JSON": rest, "GRPC": grpc}
    return AgentCard(
        name="fixture",
        description="Does what message ids say",
        version="1.0.0",
        provider=types.AgentProvider(organization="accp-middleware", url="https://example.com"),
        supported_interfaces=[
            types.AgentInterface(protocol_binding=binding, url=url, protocol_version="1.0")
            for binding, url in urls.items()
            if url
        ],
        capabilities=types.AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[types.AgentSkill(id="fixture", name="Fixture", description="Behaves as told", tags=["test"])],
    )
