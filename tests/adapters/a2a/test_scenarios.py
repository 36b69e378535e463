"""Every scenario over every transport, blocking and streaming: what comes through frames is what comes without."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio
from a2a.client import Client, ClientConfig, create_client
from a2a.client.errors import A2AClientError
from a2a.helpers import new_data_part, new_text_part
from a2a.types import Message, Part, Role, SendMessageRequest, StreamResponse
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict

from accp_adapters.a2a import AccpClientInterceptor
from tests.adapters.a2a.agent import TICKETS
from tests.adapters.a2a.serve import Served, Wrap, always, negotiating, plain, serve

pytestmark = pytest.mark.asyncio(loop_scope="module")

BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")
SCENARIOS = (
    *("tck-complete-task", "tck-artifact-text", "tck-artifact-file", "tck-artifact-file-url", "tck-artifact-data"),
    *("tck-message-response", "tck-input-required", "tck-reject-task", "tck-stream-artifact-chunked"),
    *("auth", "fail", "reject", "crash", "several", "anything"),
)
ASKED = [new_text_part("Show me my open tickets"), new_data_part({"limit": 12, **TICKETS})]


async def connect(
    served: Served, binding: str, *, streaming: bool = False, aware: bool = True, frames: Wrap = always
) -> Client:
    """Return a client of the agent by one transport."""
    config = ClientConfig(
        streaming=streaming,
        supported_protocol_bindings=[binding],
        use_client_preference=True,
        grpc_channel_factory=grpc.aio.insecure_channel,
    )
    interceptor = AccpClientInterceptor(never_larger=frames is not always)
    return await create_client(served.card, config, interceptors=[interceptor] if aware else [])


def request(name: str, *parts: Part, **more: Any) -> SendMessageRequest:
    """Return a request with a message of this id."""
    return SendMessageRequest(message=Message(message_id=name, role=Role.ROLE_USER, parts=parts or ASKED, **more))


async def told(client: Client, asked: SendMessageRequest) -> list[Any]:
    """Return what a call gives, or the error that ends it, as JSON in which ids and times of the server are equal."""
    events: list[Any] = []
    try:
        async for response in client.send_message(asked):
            events.append(anonymous(MessageToDict(response), response))  # noqa: PERF401  # what came before an error counts
    except (A2AError, A2AClientError) as error:
        events.append((type(error).__name__, re.sub(r":[0-9]{4,}/", ":port/", str(error))))
    return events


def anonymous(value: Any, response: StreamResponse) -> Any:
    """Return JSON in which the ids that the server made up, and its times, are the same each time."""
    field = getattr(response, response.WhichOneof("payload"))
    ids = {field.context_id: "context", getattr(field, "task_id", "") or getattr(field, "id", ""): "task"}

    def rename(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: rename(member, name) for name, member in value.items()}
        if isinstance(value, list):
            return [rename(item) for item in value]
        return "time" if key == "timestamp" else ids.get(value, value) if isinstance(value, str) else value

    return rename(value)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agents() -> AsyncIterator[dict[Wrap, Served]]:
    async with serve(plain) as one, serve(negotiating) as two, serve(always) as three:
        yield {plain: one, negotiating: two, always: three}


@pytest.mark.parametrize("streaming", [False, True], ids=["blocking", "streaming"])
@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_scenario_decodes_to_exactly_the_plain_result(
    agents: dict[Wrap, Served], scenario: str, binding: str, streaming: bool
) -> None:
    async with await connect(agents[plain], binding, streaming=streaming, aware=False) as client:
        expected = await told(client, request(f"{scenario}-{binding}-{streaming}"))
    for wrap in (negotiating, always):
        async with await connect(agents[wrap], binding, streaming=streaming, frames=wrap) as client:
            assert await told(client, request(f"{scenario}-{binding}-{streaming}")) == expected
        assert agents[wrap].agent.seen[-1].parts == ASKED
