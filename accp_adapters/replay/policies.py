"""What the middleware does to a recorded run: the core's projector, by the rules of a policy."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.langgraph.fetch import fetch_tool
from accp_adapters.langgraph.policy import Policy
from accp_adapters.replay.recorded_run import RecordedMessage
from accp_adapters.replay.recorded_run import Role as Author
from accp_adapters.replay.strategy import IncomingMessage, SentMessage, Strategy
from accp_core.projection import MessageRecord, Projector, Role
from accp_core.references import StoredText
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
        name=name, new_rewriter=lambda agent, tools: _Reader(policy, agent, tools).read, fetch_tool=definition
    )


class _Reader:
    """The state of one agent, and what its model is sent of it."""

    def __init__(self, policy: Policy, agent: str, tools: str) -> None:
        self._policy = policy
        self._agent = agent
        self._state = Projector(replace(policy.rules, repeats=False))
        """Has the messages as the state keeps them."""
        self._prompt = Projector(policy.rules)
        """Has the messages as the model is sent them."""
        self._tokens = policy.counter(tools)
        """Tokens that a provider would have counted so far."""

    def read(self, incoming: IncomingMessage) -> SentMessage:
        """Return the next message as the model is sent it."""
        record, stored = self._kept(incoming)
        self._state.add(record)
        projected = self._prompt.project(record)
        text = next((block for block in projected.blocks if block is not None), record.text)
        self._tokens += self._policy.counter(text)
        references = [kept.reference for kept in (*stored, *projected.stored)]
        return SentMessage(text=text, reference=references[0] if references else "")

    def _kept(self, incoming: IncomingMessage) -> tuple[MessageRecord, tuple[StoredText, ...]]:
        """Return the next message as the state keeps it, and the texts that it cites: a result is compressed."""
        record = self._recorded(incoming.message)
        if record.role is not Role.TOOL:
            return record, ()
        (block,) = self._state.compress(record, request=incoming.request, results=incoming.results_in_turn)
        if block is None:
            return record, ()
        stored = (block.stored,) if block.stored else ()
        keys = tuple(text.key for text in stored)
        return replace(record, blocks=(block.text,), references=keys), stored

    def _recorded(self, message: RecordedMessage) -> MessageRecord:
        role = _ROLES[message.role]
        if role is Role.TOOL:
            return MessageRecord(role=role, blocks=(message.text,), name=message.tool, call_id=message.call_id)
        if role is not Role.MODEL:
            return MessageRecord(role=role, blocks=(message.text,))
        if message.sender and message.sender != self._agent:
            role = Role.OTHER_AGENT if self._policy.other_agents and message.text else Role.MODEL
        own = message.sender == self._agent and message.by_model
        return MessageRecord(
            role=role,
            blocks=(message.text,),
            name=message.sender,
            tokens_counted=self._tokens + self._policy.counter(message.text) if own else 0,
        )
