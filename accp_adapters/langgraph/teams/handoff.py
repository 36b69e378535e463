"""The tool that hands over to another agent, which gets a task and what the task names, not the whole history.

`Command(graph=PARENT, goto=Send(agent, task), update=call and answer)`: the receiver is isolated (ACI: an agent
receives its own context), and the parent keeps a conversation that every provider accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, get_args
from uuid import NAMESPACE_OID, uuid5

from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command, Send

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph.conversation import find_request, has_thoughts, messages_of, without_thoughts
from accp_adapters.langgraph.fetch import refusals_as_tool_errors
from accp_adapters.langgraph.grants import HANDED_TEXTS_KEY, held_texts
from accp_adapters.policy import Policy
from accp_core.compression import compress
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import check_grant, find_references, reference_to

__all__ = ["Style", "handoff_tool"]

Style = Literal["swarm", "supervisor"]
"""Who talks to the user afterwards: "swarm", the receiver; "supervisor", the agent that hands over."""

_DESTINATION: Final = "__handoff_destination"
"""The metadata key under which langgraph-supervisor and langgraph-swarm look for a tool's destination."""
_STYLE: Final = "accp_handoff"
"""The metadata key of our handoff tools."""
_ACTIVE: Final = "active_agent"
"""The state key by which langgraph-swarm routes the user's next message."""
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]+")
_MENTION: Final = re.compile(r"(?<!\w)@([\w-]+)")
_PARAMETERS: Final[dict[str, Any]] = {"type": "object", "properties": {"task": {"type": "string"}}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Handoff:
    """What all handoff tools of one style do; the tool's own agent is one of the destinations."""

    style: Style
    """Who talks to the user afterwards."""
    messages_key: str
    """The state key of the messages."""
    policy: Policy | None
    """Bounds the answers that a task quotes; None: they are quoted whole."""

    def command(self, runtime: ToolRuntime) -> Command[Any]:
        """Return the command for the turn that called the tool; each handoff tool of the turn returns the same one.

        LangGraph takes the first command for the parent that it finds and drops the others.

        Raises:
            ProtocolError: E5002, a task cites a reference that the agent may not open; E5001, a swarm is handed to
                several agents.
        """
        messages = messages_of(runtime.state, self.messages_key)
        turn = find_request(messages, runtime.tool_call_id)
        if turn is None:
            reason = f"expected a message that makes the call {runtime.tool_call_id!r}, found none"
            raise ProtocolError(reason, code=ErrorCode.TOOL_SCHEMA_MISMATCH)
        calls = _handoffs(turn, runtime.tools)
        if self.style == "swarm" and len(calls) > 1:
            names = [agent for _, agent in calls]
            raise ProtocolError(
                f"expected one agent to hand over to, found {names!r}: one talks at a time",
                code=ErrorCode.POLICY_DENIED,
            )
        sends = tuple(Send(agent, self._first_state(turn, call, agent, runtime)) for call, agent in calls)
        # A list of Sends would be merged with others by ToolNode, which drops the update.
        goto: Any = sends if len(sends) > 1 else sends[0]
        return Command(graph=Command.PARENT, goto=goto, update=self._update(turn, calls, runtime))

    def _first_state(self, turn: AIMessage, call: ToolCall, agent: str, runtime: ToolRuntime) -> dict[str, Any]:
        """Return the state that `agent` begins with: its task, which grants the references in it."""
        messages = messages_of(runtime.state, self.messages_key)
        task = str(call["args"].get("task") or "").strip()
        texts = _granted_texts(task, runtime.state, messages)
        answers, stored = self._quoted(task, messages)
        texts |= stored
        words = f"{task}{answers}" if task else _last_user_content(messages)
        brief = HumanMessage(words, id=_identity(turn, call, "task"))
        granted = {HANDED_TEXTS_KEY: texts} if texts else {}
        return {self.messages_key: [brief], **granted}

    def _quoted(self, task: str, messages: Sequence[BaseMessage]) -> tuple[str, dict[str, str]]:
        """Return the last answers of the agents that `task` names as `@agent`, and the texts of those in previews."""
        answers, stored = _answers(task, messages), {}
        if self.policy is not None:
            limits = replace(self.policy.result_limits(), preview=self.policy.abstract_limit)
            limits = replace(limits, inline=self.policy.abstract_limit if self.policy.previews else None)
            shorten = partial(compress, limits=limits, counter=self.policy.counter, request=task, open_with=FETCH_NAME)
            shown = {name: shorten(text) for name, text in answers.items()}
            stored = {each.stored.key: each.stored.text for each in shown.values() if each.stored}
            answers = {name: each.text for name, each in shown.items()}
        return "".join(f"\n\n@{name}: {text}" for name, text in answers.items()), stored

    def _update(self, turn: AIMessage, calls: Sequence[tuple[ToolCall, str]], runtime: ToolRuntime) -> dict[str, Any]:
        """Return what the parent keeps: the calls that hand over, each answered."""
        messages = messages_of(runtime.state, self.messages_key)
        before = messages[: messages.index(turn)]
        kept = [call for call, _ in calls]
        answers = [_answer(turn, call, kept) for call in kept]
        if self.style == "swarm":
            own = _since_last_words(before)
            return {self.messages_key: [*own, without_thoughts(turn, kept), *answers], _ACTIVE: calls[0][1]}
        # The supervisor goes on afterwards, and needs what it had learned.
        shown = turn if len(kept) == len(turn.tool_calls) else without_thoughts(turn, kept)
        return {self.messages_key: [*before, shown, *answers]}


def handoff_tool(
    agent: str,
    *,
    style: Style = "swarm",
    name: str | None = None,
    description: str | None = None,
    messages_key: str = "messages",
    policy: Policy | None = None,
) -> BaseTool:
    """Return the tool by which a model hands over to `agent`, for `create_swarm`, `create_supervisor` and by hand.

    The receiver begins with one message, the task that the model writes (without one, the user's last message). Where
    the task names an agent as `@agent`, that agent's last answer follows below. The receiver gets the texts behind the
    references in the task, if the agent that hands over may open them; give it `AccpMiddleware` to read them. The
    parent keeps the call and its answer; other calls of the same turn are removed, and the answer says so.

    "supervisor" also keeps the messages before, and may hand over to several agents at once. "swarm" hands over to one,
    which becomes the active agent; the parent keeps what the first agent found, which later agents read as a
    projection.

    Args:
        agent: The name of the agent's node in the parent graph.
        style: Who talks to the user afterwards.
        name: The tool's name; None: `transfer_to_` and the name of the agent.
        description: What the model reads; None: the name of the receiver, and what the receiver sees.
        messages_key: The state key of the messages, in both graphs.
        policy: An answer of an `@agent` that takes more than its `abstract_limit` becomes a preview, whose text the
            receiver gets; it needs `AccpMiddleware` to open it. None: answers are quoted whole.

    Raises:
        ValueError: there is no such style, or a tool cannot have that name.
    """
    if style not in get_args(Style):
        raise ValueError(f"expected style to be one of {get_args(Style)}, found {style!r}")
    tool_name = name or f"transfer_to_{_NOT_IN_NAMES.sub('_', agent.strip()).lower()}"
    if not agent.strip() or not _NAME.fullmatch(tool_name):
        raise ValueError(f"expected a tool name of 1 to 64 letters, digits, _ or -, found {tool_name!r} for {agent!r}")
    words = description or f"Hand over to {agent}, who sees only the task and the answers of @agents in it"
    return _tool_of(_Handoff(style=style, messages_key=messages_key, policy=policy), agent, tool_name, words)


def _tool_of(handoff: _Handoff, agent: str, name: str, description: str) -> BaseTool:
    def hand_over(runtime: ToolRuntime, **asked: object) -> Command[Any]:
        with refusals_as_tool_errors():
            return handoff.command(runtime)

    return StructuredTool.from_function(
        hand_over,
        name=name,
        description=description,
        args_schema=_PARAMETERS,
        handle_tool_error=True,
        metadata={_DESTINATION: agent, _STYLE: handoff.style},
    )


def _granted_texts(task: str, state: Any, messages: Sequence[BaseMessage]) -> dict[str, str]:
    """Return by their keys the texts that `task` names; E5002: the agent's own state does not hold one."""
    names = find_references(task)
    held = held_texts(state, messages) if names else {}
    return {key: held[key] for key in (check_grant(reference_to(name), held) for name in names)}


def _handoffs(turn: AIMessage, tools: Iterable[BaseTool]) -> list[tuple[ToolCall, str]]:
    """Return the calls of a turn that hand over, each with its agent; `tools` are all tools of the tool node."""
    agents = {tool.name: tool.metadata[_DESTINATION] for tool in tools if tool.metadata and _STYLE in tool.metadata}
    return [(call, agents[call["name"]]) for call in turn.tool_calls if call["name"] in agents]


def _since_last_words(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages after the last HumanMessage, which the parent has not seen, without signed thoughts."""
    positions = [position for position, message in enumerate(messages) if isinstance(message, HumanMessage)]
    own = messages[positions[-1] + 1 :] if positions else []
    return [
        without_thoughts(message) if isinstance(message, AIMessage) and has_thoughts(message) else message
        for message in own
    ]


def _last_user_content(messages: Sequence[BaseMessage]) -> Any:
    """Return the content of the user's last message, images included."""
    contents = (message.content for message in reversed(messages) if isinstance(message, HumanMessage))
    return next(contents, "Go on.")


def _answers(task: str, messages: Sequence[BaseMessage]) -> dict[str, str]:
    """Return the last answer of each agent that `task` names as `@agent`, by the name of the agent."""
    spoken = [message for message in messages if isinstance(message, AIMessage) and not message.tool_calls]
    answers = {message.name: message.text for message in spoken if message.name and message.text}
    return {name: answers[name] for name in dict.fromkeys(_MENTION.findall(task)) if name in answers}


def _answer(turn: AIMessage, call: ToolCall, kept: Sequence[ToolCall]) -> ToolMessage:
    cut = ", ".join(other["name"] for other in turn.tool_calls if other not in kept)
    words = f"Transferred; without the results of {cut}" if cut else "Transferred"
    return ToolMessage(words, name=call["name"], tool_call_id=call["id"], id=_identity(turn, call, "answer"))


def _identity(turn: AIMessage, call: ToolCall, what: str) -> str:
    """Return an id that is the same in a replay."""
    return str(uuid5(NAMESPACE_OID, f"{turn.id}/{call['id']}/{what}"))
