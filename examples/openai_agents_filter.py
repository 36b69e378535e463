"""OpenAI Agents SDK: one filter and one tool, and a result of 600 rows is a preview that a query opens."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from accp_adapters.frameworks.openai_agents import AccpInputFilter

ORDERS = [{"id": n, "customer": f"Customer {n}", "status": "late" if n % 50 == 0 else "paid"} for n in range(600)]


class Clerk(Model):
    """Stands in for a model: calls the tool, queries what it cannot see, says what it found."""

    async def get_response(self, system_instructions: str | None, input: Any, *_: Any, **__: Any) -> ModelResponse:
        return ModelResponse(output=[self._answer(str(input[-1].get("output", "")))], usage=Usage(), response_id=None)

    def _answer(self, shown: str) -> Any:
        if not shown:
            return ResponseFunctionToolCall(type="function_call", call_id="1", name="orders", arguments="{}")
        if reference := re.search(r"\$cold\.\w+", shown):
            query = {"ref": reference[0], "query": "select count(*) as late from rows where status = 'late'"}
            arguments = json.dumps(query)
            return ResponseFunctionToolCall(type="function_call", call_id="2", name="accp_fetch", arguments=arguments)
        text = ResponseOutputText(type="output_text", text=shown, annotations=[])
        return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@function_tool
def orders() -> str:
    """Return all orders."""
    return json.dumps(ORDERS)


accp = AccpInputFilter()
agent = Agent("clerk", tools=[orders, accp.tool], model=Clerk())

if __name__ == "__main__":
    settings = RunConfig(call_model_input_filter=accp, tracing_disabled=True)
    result = asyncio.run(Runner.run(agent, "How many orders are late?", run_config=settings))
    print(result.final_output)
    assert "12" in result.final_output
    assert json.dumps(ORDERS) in [item.get("output") for item in result.to_input_list()]
