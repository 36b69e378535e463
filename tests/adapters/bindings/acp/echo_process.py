"""An agent on standard input and output that says its process id."""

from __future__ import annotations

import asyncio
import os

from accp_adapters.bindings.acp import AcpSession, serve_stdio
from accp_core.acp import AcpMessage
from tests.adapters.bindings.acp.agents import Echo, text_of


class Process(Echo):
    """Prints, too, which must not reach the peer."""

    async def handle(self, message: AcpMessage, peer: AcpSession) -> str | None:
        print("printed by the agent")
        if text_of(message) == "pid":
            return str(os.getpid())
        return await super().handle(message, peer)


if __name__ == "__main__":
    asyncio.run(serve_stdio(Process()))
