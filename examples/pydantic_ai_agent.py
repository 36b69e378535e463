"""Pydantic AI: one capability, and a result of 600 rows is a preview that a query opens; the history stays whole."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from accp_adapters.frameworks.pydantic_ai import AccpCapability

ORDERS = [{"id": n, "customer": f"Customer {n}", "status": "late" if n % 50 == 0 else "paid"} for n in range(600)]


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stand in for a model: call the tool, query what it cannot see, say what it found."""
    results = [str(part.content) for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
    if not results:
        return ModelResponse(parts=[ToolCallPart("orders", {})])
    if reference := re.search(r"\$cold\.\w+", results[-1]):
        query = "select count(*) as late from rows where status = 'late'"
        return ModelResponse(parts=[ToolCallPart("accp_fetch", {"ref": reference[0], "query": query})])
    return ModelResponse(parts=[TextPart(results[-1])])


agent: Agent[Any, str] = Agent(FunctionModel(model), capabilities=[AccpCapability()])


@agent.tool_plain
def orders() -> list[dict[str, Any]]:
    """Return all orders."""
    return ORDERS


if __name__ == "__main__":
    result = asyncio.run(agent.run("How many orders are late?"))
    print(result.output)
    assert "12" in result.output
    assert json.dumps(ORDERS, separators=(",", ":")).encode() in result.all_messages_json()
