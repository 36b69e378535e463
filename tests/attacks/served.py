"""What `accp serve` serves to those who attack it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accp_adapters.bindings.hosts import Request
from tests.adapters.bindings.acp.agents import Echo

__all__ = ["agent", "answer"]


async def answer(request: Request) -> Mapping[str, Any]:
    """Return how much was asked."""
    return {"characters": sum(map(len, map(str, request.message.payload.values())))}


agent = Echo()
