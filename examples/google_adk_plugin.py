"""Google ADK: one plugin, and a result of 600 rows is a preview that a query opens; the session stays whole."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionCall, Part

from accp_adapters.frameworks.google_adk import AccpPlugin

ORDERS = [{"id": n, "customer": f"Customer {n}", "status": "late" if n % 50 == 0 else "paid"} for n in range(600)]


class Clerk(BaseLlm):
    """Stands in for a model: calls the tool, queries what it cannot see, says what it found."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        answered = llm_request.contents[-1].parts[-1].function_response
        yield LlmResponse(content=Content(role="model", parts=[self._answer(answered)]))

    def _answer(self, answered: Any) -> Part:
        if answered is None:
            return Part(function_call=FunctionCall(name="orders", args={}))
        shown = str(answered.response)
        if reference := re.search(r"\$cold\.\w+", shown):
            query = {"ref": reference[0], "query": "select count(*) as late from rows where status = 'late'"}
            return Part(function_call=FunctionCall(name="accp_fetch", args=query))
        return Part(text=shown)


def orders() -> str:
    """Return all orders."""
    return json.dumps(ORDERS)


agent = LlmAgent(name="clerk", model=Clerk(model="scripted"), tools=[orders])
runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=[AccpPlugin()]))

if __name__ == "__main__":
    events = asyncio.run(runner.run_debug("How many orders are late?", quiet=True))
    answer = events[-1].content.parts[0].text
    print(answer)
    assert "12" in answer
    assert any(json.dumps(ORDERS) in str(event.content) for event in events)
