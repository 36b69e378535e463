"""The fixture agent on loopback, by JSON-RPC, REST and gRPC, plain or with frames; also as a command.

python -m tests.adapters.a2a.serve --port 9999 --grpc-port 9998 [--plain | --always]
"""

from __future__ import annotations

import argparse
import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final

import grpc
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler, RequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import BasePushNotificationSender, InMemoryPushNotificationConfigStore, InMemoryTaskStore
from a2a.types import AgentCard
from a2a.types.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from httpx import AsyncClient
from starlette.applications import Starlette
from starlette.types import ASGIApp

from accp_adapters.a2a import AccpRequestHandler, BoundedRequests, declare
from accp_adapters.serving.paced import PacedHttp
from tests.adapters.a2a.agent import FixtureAgent, card
from tests.limits import PATIENCE, async_wait_until

__all__ = ["Served", "Wrap", "always", "negotiating", "plain", "serve"]

Wrap = Callable[[RequestHandler], RequestHandler]
# A2A's suite asks for a max-age, which the SDK can say from 1.3 on.
CACHEABLE = "cache_control" in signature(create_agent_card_routes).parameters
CACHE: Final[dict[str, Any]] = {"cache_control": "public, max-age=3600"} if CACHEABLE else {}


def plain(handler: RequestHandler) -> RequestHandler:
    """Return the handler as it is."""
    return handler


def negotiating(handler: RequestHandler) -> RequestHandler:
    """Return the handler with frames for those who ask."""
    return AccpRequestHandler(handler)


def always(handler: RequestHandler) -> RequestHandler:
    """Return the handler with frames for those who ask, whatever they take."""
    return AccpRequestHandler(handler, never_larger=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running agent."""

    card: AgentCard
    agent: FixtureAgent
    store: InMemoryTaskStore
    handler: RequestHandler
    url: str


def application(handler: RequestHandler, agent_card: AgentCard) -> ASGIApp:
    """Return the HTTP application: the card, JSON-RPC at `/`, REST at `/rest`, A2A 0.3 at both."""
    # The card comes before REST, which would take its path for a tenant's.
    routes = create_agent_card_routes(agent_card, **CACHE)
    routes += create_rest_routes(handler, path_prefix="/rest", enable_v0_3_compat=True)
    routes += create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)
    return BoundedRequests(Starlette(routes=routes))


@asynccontextmanager
async def serve(
    wrap: Wrap = plain,
    *,
    port: int = 0,
    grpc_port: int = 0,
    declared: bool | None = None,
    executor: AgentExecutor | None = None,
) -> AsyncIterator[Served]:
    """Serve the fixture agent on loopback, or `executor`; the card declares the extension where it is wrapped."""
    listener = socket.create_server(("127.0.0.1", port))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each response takes 40 ms
    grpc_server = grpc.aio.server()
    address = f"127.0.0.1:{grpc_server.add_insecure_port(f'127.0.0.1:{grpc_port}')}"
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    agent_card = card(jsonrpc=f"{url}/", rest=f"{url}/rest", grpc=address)
    if declared if declared is not None else wrap is not plain:
        agent_card = declare(agent_card)
    agent, store, configs = FixtureAgent(), InMemoryTaskStore(), InMemoryPushNotificationConfigStore()
    async with AsyncClient(timeout=PATIENCE) as http:
        sender = BasePushNotificationSender(http, configs)
        inner = DefaultRequestHandler(
            executor or agent, store, agent_card, push_config_store=configs, push_sender=sender
        )
        handler = wrap(inner)
        add_A2AServiceServicer_to_server(GrpcHandler(handler), grpc_server)
        await grpc_server.start()
        async with running(application(handler, agent_card), listener):
            yield Served(card=agent_card, agent=agent, store=store, handler=handler, url=url)
        await grpc_server.stop(None)


@asynccontextmanager
async def running(app: ASGIApp, listener: socket.socket) -> AsyncIterator[None]:
    """Serve an application in this loop, on a socket that listens already."""
    config = uvicorn.Config(app, http=PacedHttp, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    await async_wait_until(lambda: server.started or serving.done())
    try:
        yield
    finally:
        server.should_exit = True
        await serving
        listener.close()


async def main() -> None:
    """Serve until somebody interrupts."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, default=9999)
    options.add_argument("--grpc-port", type=int, default=9998)
    ways = options.add_mutually_exclusive_group()
    ways.add_argument("--plain", action="store_const", const=plain, dest="wrap")
    ways.add_argument("--always", action="store_const", const=always, dest="wrap")
    asked = options.parse_args()
    async with serve(asked.wrap or negotiating, port=asked.port, grpc_port=asked.grpc_port) as served:
        print(f"serving {served.url}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
