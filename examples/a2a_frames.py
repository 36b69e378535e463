"""A2A: one line adds frames to a server, one to a client, and `task_view` is what a model reads of the task."""

import asyncio

from a2a.client import ClientConfig, create_client
from a2a.helpers import new_data_part, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCard, AgentInterface, Role, SendMessageRequest, Task, TaskState, TaskStatus
from httpx import ASGITransport, AsyncClient
from starlette.applications import Starlette

from accp_adapters.a2a import AccpClientInterceptor, AccpRequestHandler, declare, task_view

ORDERS = [{"id": f"ORD-{7001 + n}", "customer": "Haas AG", "total": 820.5 + n, "open": n % 2 == 0} for n in range(30)]


class Crm(AgentExecutor):
    """An ordinary agent, which does not know frames."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        ids = {"id": context.task_id, "context_id": context.context_id}
        status = TaskStatus(state=TaskState.TASK_STATE_WORKING)
        await event_queue.enqueue_event(Task(**ids, status=status, history=[context.message]))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.add_artifact([new_data_part({"orders": ORDERS})], name="orders")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


async def main() -> None:
    here = AgentInterface(protocol_binding="JSONRPC", url="http://crm/", protocol_version="1.0")
    modes = ["text/plain"]
    card = AgentCard(
        name="crm", description="Orders", version="1", default_input_modes=modes, default_output_modes=modes
    )
    card.supported_interfaces.append(here)
    card.skills.add(id="crm", name="crm", description="Orders", tags=["example"])
    card = declare(card)
    handler = AccpRequestHandler(DefaultRequestHandler(Crm(), InMemoryTaskStore(), card))  # the server's line
    app = Starlette(routes=create_jsonrpc_routes(handler, "/"))
    async with AsyncClient(transport=ASGITransport(app)) as http:
        config = ClientConfig(httpx_client=http, streaming=False)
        client = await create_client(card, config, interceptors=[AccpClientInterceptor()])  # the client's line
        message = new_text_message("Which orders are open?", role=Role.ROLE_USER)
        (response,) = [each async for each in client.send_message(SendMessageRequest(message=message))]
    view = task_view(response.task)
    print(f"{view.tokens_before} tokens as JSON, {view.tokens_after} as a view:\n{view.text}")
    assert response.task.artifacts[0].parts[0].data.struct_value["orders"][1]["total"] == 821.5
    assert view.text.startswith("state completed\n")
    assert view.tokens_after < view.tokens_before / 2


asyncio.run(main())
