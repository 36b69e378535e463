"""Scripted chat models that read their prompts and count the tokens: each prompt becomes a line of a log."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from accp_adapters.tokens import o200k_base
from accp_core import read
from accp_core.strict_json import compact_json

QUESTION: Final = (
    "Which customers with overdue P1 tickets must we call first, and how much revenue do they stand for? "
    "Our board meets on Thursday and the marker of this question is BLUE-HERON."
)
Step = Callable[[list[BaseMessage]], AIMessage]


class Scripted(BaseChatModel):
    """Answers each call with the next step; after the last step it starts again, for the next task."""

    name: str
    steps: list[Any]
    log: Path
    tools: list[Any] = Field(default_factory=list)
    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Scripted:
        """Return the model with `tools`, whose definitions are counted with each prompt."""
        self.tools = [convert_to_openai_tool(tool) for tool in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        turns = [
            {"role": turn.type, "content": turn.text, "calls": getattr(turn, "tool_calls", [])} for turn in messages
        ]
        prompt = compact_json([*self.tools, *turns])
        line = {"agent": self.name, "tokens": o200k_base()(prompt), "prompt": prompt}
        with self.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
        step = self.steps[self.calls % len(self.steps)]
        self.calls += 1
        return ChatResult(generations=[ChatGeneration(message=step(messages))])


def call(tool: str, **args: Any) -> AIMessage:
    """Return a model turn that calls `tool`."""
    return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": f"call-{tool}"}])


def last(messages: list[BaseMessage]) -> str:
    """Return the text of the last message."""
    return messages[-1].text


# --- the steps of the models ------------------------------------------------------------------------------------------


def list_overdue(messages: list[BaseMessage]) -> AIMessage:
    """Read the tickets, as JSON or as a view, and list those that are overdue, one per line."""
    text = last(messages)
    result = json.loads(text) if text.startswith("{") else read(text)
    overdue = [ticket for ticket in result["tickets"] if ticket["days_overdue"] > 0]
    return AIMessage("\n".join(map(line_of, overdue)))


def line_of(ticket: dict[str, Any]) -> str:
    """Return a ticket as one line."""
    customer = ticket["customer"]
    return (
        f"{ticket['id']} {customer['name']} ({customer['revenue_eur']} EUR): "
        f"{ticket['subject']}, {ticket['days_overdue']} days overdue"
    )


def rank(text: str) -> str:
    """Return the three customers with the most days overdue, and their revenue, from lines such as `line_of` writes."""
    lines = re.findall(r"REQ-\d+ ([A-Z][^(\n]*) \((\d+) EUR\): .*?, (\d+) days overdue", text)
    days: Counter[str] = Counter()
    revenue = {}
    for customer, euros, late in lines:
        days[customer] += int(late)
        revenue[customer] = int(euros)
    first = [customer for customer, _ in days.most_common(3)]
    return (
        f"Call {', '.join(first)} first; {sum(map(revenue.__getitem__, first))} EUR of revenue, {len(lines)} tickets."
    )
