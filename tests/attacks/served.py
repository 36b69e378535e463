"""What `accp serve` serves to those who attack it."""

import asyncio
from collections.abc import Mapping
from typing import Any

from accp_adapters.bindings.acp.session import AcpSession
from accp_adapters.bindings.hosts import Request
from accp_core.acp import AcpMessage, AgentCard
from tests.adapters.bindings.acp.agents import Echo, text_of

__all__ = ["agent", "answer", "complain", "echo_agent", "slow_agent"]


async def answer(request: Request) -> Mapping[str, Any]:
    """Return how much was asked."""
    return {"characters": sum(map(len, map(str, request.message.payload.values())))}


async def complain(request: Request) -> Mapping[str, Any]:
    """Fail with what was asked, as programs do that quote it."""
    raise ValueError(f"no such thing: {request.message.payload['text']}")


agent = Echo()


class _Agent:
    """Echoes, or takes as long as an agent may."""

    card = AgentCard(name="Agent")

    def __init__(self, *, is_slow: bool) -> None:
        self._is_slow = is_slow

    async def handle(self, message: AcpMessage, peer: AcpSession) -> str:
        if self._is_slow:
            await asyncio.sleep(3_600)
        return text_of(message)


echo_agent, slow_agent = _Agent(is_slow=False), _Agent(is_slow=True)
