"""What the middleware does to a recorded run: the core's projector, by the rules of a policy."""

from __future__ import annotations

import contextlib

from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.langgraph.fetch import fetch_tool
from accp_adapters.policy import Policy
from accp_adapters.replay.recorded_run import RecordedMessage
from accp_adapters.replay.recorded_run import Role as Author
from accp_adapters.replay.strategy import IncomingMessage, SentMessage, Strategy
from accp_core.errors import ProtocolError
from accp_core.projection import MessageRecord, Projector, Role
from accp_core.references import reference_to
from accp_core.strict_json import compact_json

__all__ = ["policy_strategy"]

_ROLES = {
    Author.INSTRUCTIONS: Role.INSTRUCTIONS,
    Author.USER: Role.USER,
    Author.WIRE: Role.USER,
    Author.AGENT: Role.MODEL,
    Author.TOOL: Role.TOOL,
}


def policy_strategy(name: str, policy: Policy) -> Strategy:
    """Return what `AccpMiddleware(policy)` does, where each agent of a run has a name and a state of its own."""
    definition = compact_json(convert_to_openai_tool(fetch_tool(policy))) if policy.previews else ""
    return Strategy(
        name=name,
        new_rewriter=lambda agent, tools: _Reader(policy, agent).read,
        fetch_tool=definition,
        fetch=lambda text, words: _fetch(policy, text, words),
    )


def _fetch(policy: Policy, text: str, words: str) -> str:
    """Return the answer of `accp_fetch`: what it finds by the words, or the first page where it finds nothing."""
    for query in (words, ""):
        with contextlib.suppress(ProtocolError):
            request = FetchRequest(ref=reference_to("text"), query=query)
            return answer({"text": text}, request, limit=policy.fetch_limit, counter=policy.counter)
    return ""


class _Reader:
    """The state of one agent, and what its model is sent of it."""

    def __init__(self, policy: Policy, agent: str) -> None:
        self._policy = policy
        self._agent = agent
        self._prompt = Projector(policy.rules)
        """Has the messages as the model is sent them."""

    def read(self, incoming: IncomingMessage) -> SentMessage:
        """Return the next message as the model is sent it."""
        record = self._recorded(incoming.message)
        is_result = record.role is Role.TOOL
        projected = self._prompt.project(
            record,
            request=incoming.request if is_result else None,
            results=incoming.results_in_turn if is_result else None,
        )
        text = next((block for block in projected.blocks if block is not None), record.text)
        references = [stored.reference for stored in projected.stored]
        return SentMessage(text=text, reference=references[0] if references else "")

    def _recorded(self, message: RecordedMessage) -> MessageRecord:
        role = _ROLES[message.role]
        if role is Role.TOOL:
            return MessageRecord(role=role, blocks=(message.text,), name=message.tool, call_id=message.call_id)
        if role is not Role.MODEL:
            return MessageRecord(role=role, blocks=(message.text,))
        if message.sender and message.sender != self._agent:
            role = Role.OTHER_AGENT if self._policy.other_agents and message.text else Role.MODEL
        return MessageRecord(role=role, blocks=(message.text,), name=message.sender)
