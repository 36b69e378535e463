"""One line for `create_agent`: results take fewer tokens, and a large one is a preview with a reference."""

from __future__ import annotations

import json
import re
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from scripted import Scripted, call

from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.tokens import o200k_base

DEALS = [{"id": n, "owner": f"c{n}@example.com", "stage": "won" if n % 200 == 7 else "open"} for n in range(2_000)]


@tool
def list_deals(region: str) -> list[dict[str, Any]]:
    """Return all deals of a region."""
    return DEALS


def look_up(messages: list[BaseMessage]) -> AIMessage:
    return call("list_deals", region="north")


def fetch_the_won_ones(messages: list[BaseMessage]) -> AIMessage:
    reference = re.findall(r"\$cold\.\w+", messages[-1].text)[0]
    return call("accp_fetch", ref=reference, query="SELECT owner FROM rows WHERE stage = 'won'")


def answer(messages: list[BaseMessage]) -> AIMessage:
    return AIMessage(f"Won: {messages[-1].text}")


model = Scripted(steps=[look_up, fetch_the_won_ones, answer])
agent = create_agent(model, [list_deals], middleware=[AccpMiddleware()])
state = agent.invoke({"messages": "Who won deals in the north?"})

count = o200k_base()
raw, shown = count(json.dumps(DEALS)), count(model.sent[1][-1].text)
print(f"the tool returned {raw:,} tokens, the model read {shown:,} and fetched what it needed:")
print(state["messages"][-1].text)

assert shown * 5 < raw
assert [deal["owner"] in model.sent[2][-1].text for deal in DEALS] == [deal["stage"] == "won" for deal in DEALS]
