"""Calling the fixture agent: clients of every kind, requests, and results that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final

import grpc
from a2a.client import Client, ClientCallContext, ClientConfig, create_client
from a2a.client.errors import A2AClientError
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.helpers import new_data_part, new_text_part
from a2a.types import AgentCard, Message, Part, Role, SendMessageRequest, StreamResponse
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict
from httpx import AsyncClient, Limits, Request, Response

from accp_adapters.a2a import EXTENSION, AccpClientInterceptor
from tests.adapters.a2a.agent import TICKETS
from tests.limits import PATIENCE

__all__ = ["ASKED", "Recorder", "anonymous", "asking", "connect", "request", "told"]

ASKED: Final = [new_text_part("Show me my open tickets"), new_data_part({"limit": 12, **TICKETS})]


class Recorder(AsyncClient):
    """An HTTP client that keeps the bodies of what it sent and received."""

    def __init__(self) -> None:
        """Begin with nothing."""
        hooks = {"request": [self._asked], "response": [self._answered]}
        super().__init__(event_hooks=hooks, limits=Limits(max_connections=None), timeout=PATIENCE)
        self.asked: list[str] = []
        self.answered: list[str] = []

    async def _asked(self, request: Request) -> None:
        self.asked.append(request.content.decode())

    async def _answered(self, response: Response) -> None:
        self.answered.append((await response.aread()).decode())


async def connect(
    card: AgentCard,
    binding: str = "JSONRPC",
    *,
    streaming: bool = False,
    aware: bool = True,
    never_larger: bool = False,
    http: AsyncClient | None = None,
) -> Client:
    """Return a client of the agent with this card, by one transport."""
    config = ClientConfig(
        streaming=streaming,
        supported_protocol_bindings=[binding],
        use_client_preference=True,
        grpc_channel_factory=grpc.aio.insecure_channel,
        httpx_client=http,
    )
    interceptors = [AccpClientInterceptor(never_larger=never_larger)] if aware else []
    return await create_client(card, config, interceptors=interceptors)


def asking() -> ClientCallContext:
    """Return the context of a call that asks for frames by itself, to see them as they are."""
    return ClientCallContext(service_parameters=ServiceParametersFactory.create([with_a2a_extensions([EXTENSION])]))


def request(name: str, *parts: Part, **more: Any) -> SendMessageRequest:
    """Return a request with a message of this id."""
    return SendMessageRequest(message=Message(message_id=name, role=Role.ROLE_USER, parts=parts or ASKED, **more))


async def told(client: Client, asked: SendMessageRequest, *, raises: bool = False, **options: Any) -> list[Any]:
    """Return what a call gives, or the error that ends it, as JSON in which ids and times of the server are equal."""
    events: list[Any] = []
    with nullcontext() if raises else _noted(events):
        async for response in client.send_message(asked, **options):
            events.append(anonymous(response))  # noqa: PERF401  # what came before an error counts
    return events


@contextmanager
def _noted(events: list[Any]) -> Iterator[None]:
    try:
        yield
    except (A2AError, A2AClientError) as error:
        events.append((type(error).__name__, re.sub(r":[0-9]{4,}/", ":port/", str(error))))


def anonymous(response: StreamResponse) -> Any:
    """Return the JSON of a response in which the ids that the server made up, and its times, are the same each time."""
    field = getattr(response, str(response.WhichOneof("payload")))
    ids = {getattr(field, "task_id", "") or getattr(field, "id", ""): "task", field.context_id: "context"}

    def rename(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: rename(member, name) for name, member in value.items()}
        if isinstance(value, list):
            return [rename(item) for item in value]
        return "time" if key == "timestamp" else ids.get(value, value) if isinstance(value, str) else value

    return rename(MessageToDict(response))
