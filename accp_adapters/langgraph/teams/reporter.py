"""The result of work whose words are missing, read from the agent's transcript by a model without tools (ACI 5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig

from accp_adapters.langgraph.turns import as_json
from accp_core.aci import AgentContext, AgentReply, report_request, with_report

__all__ = ["Reporter"]


@dataclass(frozen=True, slots=True)
class Reporter:
    """Asks a model once for the results that an agent's answer lacks.

    An exception of the model leaves the reply as it is, with the reason: the work is done, whoever can tell of it. So
    does an interrupt, after which the agent would work again.
    """

    model: Runnable[Any, BaseMessage]
    """A chat model without tools."""

    def complete(
        self, sent: AgentContext, reply: AgentReply, messages: list[BaseMessage], config: RunnableConfig
    ) -> AgentReply:
        """Return `reply` with those answers that the agent's `messages` show."""
        if not _can_report(reply, messages):
            return reply
        try:
            words = self.model.invoke(_request(sent, reply, messages), config).text
        except Exception as error:
            return _without_report(reply, error)
        return with_report(sent, reply, words)

    async def acomplete(
        self, sent: AgentContext, reply: AgentReply, messages: list[BaseMessage], config: RunnableConfig
    ) -> AgentReply:
        """`complete`, asynchronously."""
        if not _can_report(reply, messages):
            return reply
        try:
            words = (await self.model.ainvoke(_request(sent, reply, messages), config)).text
        except Exception as error:
            return _without_report(reply, error)
        return with_report(sent, reply, words)


def _can_report(reply: AgentReply, messages: list[BaseMessage]) -> bool:
    return bool(reply.unread) and any(isinstance(message, AIMessage) for message in messages)


def _request(sent: AgentContext, reply: AgentReply, messages: list[BaseMessage]) -> list[BaseMessage]:
    transcript = [entry for message in messages for entry in _entries(message)]
    return [HumanMessage(report_request(sent, reply.unread, transcript))]


def _entries(message: BaseMessage) -> Iterator[tuple[str, str]]:
    """Yield speaker and text of what a message holds: its words, its calls of tools."""
    if isinstance(message, ToolMessage):
        yield f"result of {message.name or 'a tool'}", message.text
    elif message.text:
        yield ("agent" if isinstance(message, AIMessage) else message.type), message.text
    for call in message.tool_calls if isinstance(message, AIMessage) else ():
        yield f"call {call['name']}", as_json(call["args"])


def _without_report(reply: AgentReply, error: Exception) -> AgentReply:
    reason = f"the reporter failed: {type(error).__name__}: {error}"
    return replace(reply, unread={item: f"{problem}; {reason}" for item, problem in reply.unread.items()})
