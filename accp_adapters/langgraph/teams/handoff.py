"""The tool that hands over to another agent, which gets a task and what the task names, not the whole history.

`Command(graph=PARENT, goto=Send(agent, task), update=call and answer)`: the receiver is isolated (ACI: an agent
receives its own context), and the parent keeps a conversation that every provider accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args
from uuid import NAMESPACE_OID, uuid5

from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command, Send

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph.fetch import refusals_as_tool_errors
from accp_adapters.langgraph.metadata import Grant, Metadata, carried_texts, grants_in, is_carriable, pack_carried
from accp_adapters.langgraph.runtime import (
    agent_of,
    agents_of,
    grant_holders,
    messages_of,
    new_session,
    open_grant,
    session_of,
)
from accp_adapters.langgraph.summary import folded_text, rows_of, summarize
from accp_adapters.langgraph.turns import as_json, count_tokens, has_thoughts, turns_of, without_thoughts
from accp_adapters.tokens import count_o200k
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import StoredText, find_references

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
    keys: tuple[str, ...]
    """Further state keys that the receiver gets."""

    def command(self, runtime: ToolRuntime) -> Command[Any]:
        """Return the command for the turn that called the tool; each handoff tool of the turn returns the same one.

        LangGraph takes the first command for the parent that it finds and drops the others.

        Raises:
            ProtocolError: E5002, a task cites a reference that the agent may not open; E5001, a swarm is handed to
                several agents.
        """
        messages = messages_of(runtime.state, self.messages_key)
        turn = _turn(messages, runtime.tool_call_id)
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
        session_id, running = session_of(runtime, runtime.state), agents_of(runtime)
        holders = self._grant_holders(runtime)
        grants = [open_grant(key, holders, session_id, running) for key in find_references(task)]
        metadata = Metadata(
            grants=tuple(replace(grant, agent=agent) for grant in grants),
            texts=carried_texts([grant.key for grant in grants], holders),
        )
        words = f"{task}{_quoted(task, messages)}" if task else _last_user_content(messages)
        brief = metadata.on(HumanMessage(words, id=_identity(turn, call, "task")))
        return {**_picked(runtime.state, self.keys), self.messages_key: [brief]}

    def _grant_holders(self, runtime: ToolRuntime) -> list[BaseMessage]:
        """Return the messages that may grant references, with those of the fold."""
        return [*messages_of(runtime.state, self.messages_key), *grant_holders(runtime.state)]

    def _update(self, turn: AIMessage, calls: Sequence[tuple[ToolCall, str]], runtime: ToolRuntime) -> dict[str, Any]:
        """Return what the parent keeps: the calls that hand over, each answered."""
        messages = messages_of(runtime.state, self.messages_key)
        before = messages[: messages.index(turn)]
        kept = [call for call, _ in calls]
        answers = [_answer(turn, call, kept) for call in kept]
        if self.style == "swarm":
            own = _since_last_words(before)
            if any(tool.name == FETCH_NAME for tool in runtime.tools):
                answer = self._with_work(answers[0], own, runtime)
                if answer and _tokens([answer]) < _tokens([*own, *answers]):
                    own, answers = [], [answer]
            return {self.messages_key: [*own, without_thoughts(turn, kept), *answers], _ACTIVE: calls[0][1]}
        # The supervisor goes on afterwards, and needs what it had learned.
        shown = turn if len(kept) == len(turn.tool_calls) else without_thoughts(turn, kept)
        return {self.messages_key: [*before, shown, *answers]}

    # "A handoff between agents occurs": then a checkpoint is due (ACCP section 5.2).
    def _with_work(self, answer: ToolMessage, own: Sequence[BaseMessage], runtime: ToolRuntime) -> ToolMessage | None:
        """Return the answer with what the agent found before: a summary, and for this agent alone a reference.

        None: the results are too large for a message to carry.
        """
        rows = list(rows_of(turns_of(own)))
        if not rows:
            return answer
        text = StoredText.of(as_json(rows))
        if not is_carriable(text.text):
            return None
        holders = self._grant_holders(runtime)
        first = Grant(key=text.key, session_id=session_of(runtime, runtime.state) or new_session())
        grants = dict.fromkeys([first, *(replace(each, agent=None) for each in grants_in(holders, agents_of(runtime)))])
        # The message carries the text whether there is a store or not: it must be found in the parent's state.
        metadata = Metadata(
            grants=tuple(replace(grant, agent=agent_of(runtime)) for grant in grants),
            texts=(pack_carried(text), *carried_texts([grant.key for grant in grants], holders)),
        )
        results = sum("tool" in row for row in rows)
        words = folded_text(results, summarize(rows), f": {FETCH_NAME} {text.reference}")
        return metadata.on(answer.model_copy(update={"content": f"{answer.content}\n{words}"}))


def handoff_tool(
    agent: str,
    *,
    style: Style = "swarm",
    name: str | None = None,
    description: str | None = None,
    messages_key: str = "messages",
    keys: Iterable[str] = (),
) -> BaseTool:
    """Return the tool by which a model hands over to `agent`, for `create_swarm`, `create_supervisor` and by hand.

    The receiver begins with one message, the task that the model writes (without one, the user's last message). Where
    the task names an agent as `@agent`, that agent's last answer follows below. The task grants the references in it
    to the receiver alone, if the agent that hands over may open them; give the receiver `AccpMiddleware` or
    `fetch_tool` to open them. The parent keeps the call and its answer; other calls of the same turn are removed, and
    the answer says so.

    "supervisor" also keeps the messages before, and may hand over to several agents at once. "swarm" hands over to one,
    which becomes the active agent; the answer holds a summary of what the first agent found, and a reference that this
    agent alone may open when it is handed to again. Where that would not be shorter, and where the agent has no
    `accp_fetch`, the parent keeps the results themselves.

    Args:
        agent: The name of the agent's node in the parent graph.
        style: Who talks to the user afterwards.
        name: The tool's name; None: `transfer_to_` and the name of the agent.
        description: What the model reads; None: the name of the receiver, and what the receiver sees.
        messages_key: The state key of the messages, in both graphs.
        keys: Further state keys that the receiver gets, where they are present.

    Raises:
        ValueError: there is no such style, or a tool cannot have that name.
    """
    if style not in get_args(Style):
        raise ValueError(f"expected style to be one of {get_args(Style)}, found {style!r}")
    tool_name = name or f"transfer_to_{_NOT_IN_NAMES.sub('_', agent.strip()).lower()}"
    if not agent.strip() or not _NAME.fullmatch(tool_name):
        raise ValueError(f"expected a tool name of 1 to 64 letters, digits, _ or -, found {tool_name!r} for {agent!r}")
    words = description or f"Hand over to {agent}, who sees only the task and the answers of @agents in it"
    return _tool_of(_Handoff(style=style, messages_key=messages_key, keys=tuple(keys)), agent, tool_name, words)


def _tool_of(handoff: _Handoff, agent: str, name: str, description: str) -> BaseTool:
    def hand_over(runtime: ToolRuntime, **asked: object) -> Command[Any]:
        with refusals_as_tool_errors():
            return handoff.command(runtime)

    async def ahand_over(runtime: ToolRuntime, **asked: object) -> Command[Any]:
        return hand_over(runtime)

    return StructuredTool.from_function(
        hand_over,
        coroutine=ahand_over,
        name=name,
        description=description,
        args_schema=_PARAMETERS,
        handle_tool_error=True,
        metadata={_DESTINATION: agent, _STYLE: handoff.style},
    )


def _turn(messages: Sequence[BaseMessage], call_id: str | None) -> AIMessage:
    """Return the message that makes the call."""
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return message
    raise ProtocolError(
        f"expected a message that makes the call {call_id!r}, found none", code=ErrorCode.TOOL_SCHEMA_MISMATCH
    )


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


def _tokens(messages: Iterable[BaseMessage]) -> int:
    return sum(count_tokens(message, count_o200k) for message in messages)


def _last_user_content(messages: Sequence[BaseMessage]) -> Any:
    """Return the content of the user's last message, images included."""
    contents = (message.content for message in reversed(messages) if isinstance(message, HumanMessage))
    return next(contents, "Go on.")


def _quoted(task: str, messages: Sequence[BaseMessage]) -> str:
    """Return the last answer of each agent that `task` names as `@agent`, below the task."""
    spoken = [message for message in messages if isinstance(message, AIMessage) and not message.tool_calls]
    answers = {message.name: message.text for message in spoken if message.name and message.text}
    named = (name for name in dict.fromkeys(_MENTION.findall(task)) if name in answers)
    return "".join(f"\n\n@{name}: {answers[name]}" for name in named)


def _picked(state: Any, keys: Iterable[str]) -> dict[str, Any]:
    values = state if isinstance(state, Mapping) else vars(state)
    return {key: values[key] for key in keys if key in values}


def _answer(turn: AIMessage, call: ToolCall, kept: Sequence[ToolCall]) -> ToolMessage:
    cut = ", ".join(other["name"] for other in turn.tool_calls if other not in kept)
    words = f"Transferred; without the results of {cut}" if cut else "Transferred"
    return ToolMessage(words, name=call["name"], tool_call_id=call["id"], id=_identity(turn, call, "answer"))


def _identity(turn: AIMessage, call: ToolCall, what: str) -> str:
    """Return an id that is the same in a replay."""
    return str(uuid5(NAMESPACE_OID, f"{turn.id}/{call['id']}/{what}"))
