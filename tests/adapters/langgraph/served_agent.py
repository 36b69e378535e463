"""The agent that `langgraph dev` serves in `test_server.py`: its model opens the references that it is shown."""

from __future__ import annotations

import json
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_core.references import find_references, reference_to

__all__ = ["OPEN", "ROWS", "agent"]

ROWS = [{"id": f"CRM-{n:04}", "email": f"c{n}@example.com", "trace": f"{n * 7919 % 100_003:08}"} for n in range(200)]
OPEN = "open what you see"


@tool
def crm(query: str) -> str:
    """Return customers."""
    return json.dumps(ROWS)


class Reader(BaseChatModel):
    """Looks up customers at a question, opens what it sees when it is told to, and says what its prompt held."""

    @property
    def _llm_type(self) -> str:
        return "reader"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Reader:
        """Return the model itself: it knows its tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_answer(messages))])


def _answer(messages: list[BaseMessage]) -> AIMessage:
    if isinstance(messages[-1], ToolMessage):
        longest = max(len(message.text) for message in messages)
        return AIMessage(f"read {sum(len(message.text) for message in messages)} characters, at most {longest}")
    if messages[-1].text == OPEN:
        keys = dict.fromkeys(key for message in messages for key in find_references(message.text))
        asked = [(FETCH_NAME, {"ref": reference_to(key), "limit": 3}) for key in keys]
    else:
        asked = [("crm", {"query": messages[-1].text})]
    calls = [{"name": name, "args": args, "id": f"call_{len(messages)}_{at}"} for at, (name, args) in enumerate(asked)]
    return AIMessage("" if calls else "nothing to open", tool_calls=calls)


agent = create_agent(Reader(), [crm], middleware=[AccpMiddleware(Policy(inline_limit=600, preview_limit=500))])
