"""The tool that hands over to another agent: it gets a task and what the task names, not the whole history.

`Command(graph=PARENT, goto=Send(agent, task), update=call and answer)`: what goes on is isolated (ACI: an agent
receives its own context), what stays in the parent is a transcript that every provider takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args
from uuid import NAMESPACE_OID, uuid5

from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command, Send

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph.fetch import refusals
from accp_adapters.langgraph.marks import MARK, carried_pairs, carry
from accp_adapters.langgraph.runtime import (
    agent_of,
    agents_of,
    grant,
    granted_in,
    held_in,
    messages_of,
    named_references,
    new_session,
    open_grant,
    session_of,
)
from accp_adapters.langgraph.summary import folded_text, rows_of, summarize
from accp_adapters.langgraph.turns import compact_json, in_words, thinks, tokens_of, turns_of
from accp_adapters.tokens import count_o200k
from accp_core.cold import cold_key
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Style", "handoff_tool"]

Style = Literal["swarm", "supervisor"]
"""Who goes on: "swarm", the agent handed to talks to the user; "supervisor", the one that hands over does."""

_DESTINATION: Final = "__handoff_destination"
"""Under this key langgraph-supervisor and langgraph-swarm look for a tool's destination."""
_OURS: Final = "accp_handoff"
_ACTIVE: Final = "active_agent"
"""The state key by which langgraph-swarm routes the user's next words."""
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]+")
_MENTION: Final = re.compile(r"(?<!\w)@([\w-]+)")
_PARAMETERS: Final[dict[str, Any]] = {"type": "object", "properties": {"task": {"type": "string"}}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Handoff:
    """What every handoff tool of one style does; the tool's own agent is one of the destinations."""

    style: Style
    messages_key: str
    keys: tuple[str, ...]

    def command(self, runtime: ToolRuntime) -> Command[Any]:
        """Return what the turn that called the tool comes to; each tool that it called returns the same.

        LangGraph takes the first command for the parent that it meets and drops the others.

        Raises: ProtocolError: E5002, a task names a reference that is not the agent's; E5001, a swarm would talk
            as two agents.
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
        sends = tuple(Send(agent, self._given(turn, call, agent, runtime)) for call, agent in calls)
        # A list of Sends would be merged with others by ToolNode, which drops the update.
        goto: Any = sends if len(sends) > 1 else sends[0]
        return Command(graph=Command.PARENT, goto=goto, update=self._update(turn, calls, runtime))

    def _given(self, turn: AIMessage, call: ToolCall, agent: str, runtime: ToolRuntime) -> dict[str, Any]:
        """Return the state that `agent` begins with: its task, with the references that the task names."""
        messages = messages_of(runtime.state, self.messages_key)
        task = str(call["args"].get("task") or "").strip()
        session_id, here = session_of(runtime, runtime.state), agents_of(runtime)
        held = self._held(runtime)
        granted = [open_grant(ref, held, session_id, here) for ref in named_references(task)]
        texts = carried_pairs([key for _, key in granted], held)
        kwargs = {MARK: {**grant(granted, agent), **texts}} if granted else {}
        words = f"{task}{_quoted(task, messages)}" if task else _asked(messages)
        brief = HumanMessage(words, id=_identity(turn, call, "task"), additional_kwargs=kwargs)
        return {**_picked(runtime.state, self.keys), self.messages_key: [brief]}

    def _held(self, runtime: ToolRuntime) -> list[BaseMessage]:
        """Return the messages that may cite something, what is folded among them."""
        return [*messages_of(runtime.state, self.messages_key), *held_in(runtime.state)]

    def _update(self, turn: AIMessage, calls: Sequence[tuple[ToolCall, str]], runtime: ToolRuntime) -> dict[str, Any]:
        """Return what the parent keeps: the calls that hand over, each answered."""
        messages = messages_of(runtime.state, self.messages_key)
        before = messages[: messages.index(turn)]
        kept = [call for call, _ in calls]
        answers = [_answer(turn, call, kept) for call in kept]
        if self.style == "swarm":
            own = _after_words(before)
            if any(tool.name == FETCH_NAME for tool in runtime.tools):
                answer = self._with_work(answers[0], own, runtime)
                if _tokens([answer]) < _tokens([*own, *answers]):
                    own, answers = [], [answer]
            return {self.messages_key: [*own, in_words(turn, kept), *answers], _ACTIVE: calls[0][1]}
        # Who goes on afterwards must find what it had learned.
        said = turn if len(kept) == len(turn.tool_calls) else in_words(turn, kept)
        return {self.messages_key: [*before, said, *answers]}

    # "A handoff between agents occurs": then a checkpoint is due (ACCP section 5.2).
    def _with_work(self, answer: ToolMessage, own: Sequence[BaseMessage], runtime: ToolRuntime) -> ToolMessage:
        """Return the answer with what the agent found before: a summary, and for this agent alone a reference."""
        rows = list(rows_of(turns_of(own)))
        if not rows:
            return answer
        session_id = session_of(runtime, runtime.state) or new_session()
        source = compact_json(rows)
        key = cold_key(session_id, source)
        held, here = self._held(runtime), agents_of(runtime)
        granted = [(session_id, key), *granted_in(own, here)]
        # The message carries the text, whatever store there is: it is in the parent's state that it must be found.
        texts = [*carry([(key, source)])["texts"], *carried_pairs([key for _, key in granted], held).get("texts", ())]
        mark = {**grant(granted, agent_of(runtime)), "texts": texts}
        results = sum("tool" in row for row in rows)
        words = folded_text(results, summarize(rows), f": accp_fetch ${key}")
        update = {"content": f"{answer.content}\n{words}", "additional_kwargs": {MARK: mark}}
        return answer.model_copy(update=update)


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

    The receiver begins with one message, the task that the model writes (without one, the user's last words). Where
    the task names an agent as `@agent`, that agent's last answer stands below it. The receiver may open the
    references that the task names, if the agent that hands over may; no one else may by that. Give the
    receiver `AccpMiddleware` or `fetch_tool`, or it cannot. The parent keeps the call and its answer; other calls of
    the same turn are cut from it, and the answer says so. "supervisor" keeps what went before, too, and several
    agents may be handed to at once. "swarm" hands to one and makes it the active one; of what the agent found before,
    the answer has a summary and a reference that this agent alone may open when it is handed to again. Where that
    would be no shorter, and without `accp_fetch` among its tools, the parent keeps what it found.

    Args:
        agent: The name of the agent's node in the parent graph.
        style: Who goes on afterwards.
        name: The tool's name; None: `transfer_to_` and the agent's.
        description: What the model reads; None: whom it hands over to, and what that one sees.
        messages_key: The state key of the messages, in both graphs.
        keys: State keys that the receiver gets, too, if they are there.

    Raises:
        ValueError: There is no such style, or a tool cannot have that name.
    """
    if style not in get_args(Style):
        raise ValueError(f"expected style to be one of {get_args(Style)}, found {style!r}")
    called = name or f"transfer_to_{_NO_NAME.sub('_', agent.strip()).lower()}"
    if not agent.strip() or not _NAME.fullmatch(called):
        raise ValueError(f"expected a tool name of 1 to 64 letters, digits, _ or -, found {called!r} for {agent!r}")
    handoff = _Handoff(style=style, messages_key=messages_key, keys=tuple(keys))

    def hand_over(runtime: ToolRuntime, **asked: object) -> Command[Any]:
        with refusals():
            return handoff.command(runtime)

    async def ahand_over(runtime: ToolRuntime, **asked: object) -> Command[Any]:
        return hand_over(runtime)

    return StructuredTool.from_function(
        hand_over,
        coroutine=ahand_over,
        name=called,
        description=description or f"Hand over to {agent}, who sees only the task and the answers of @agents in it",
        args_schema=_PARAMETERS,
        handle_tool_error=True,
        metadata={_DESTINATION: agent, _OURS: style},
    )


def _turn(messages: Sequence[BaseMessage], call_id: str | None) -> AIMessage:
    """Return the model turn that made the call."""
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return message
    raise ProtocolError(
        f"expected a message that makes the call {call_id!r}, found none", code=ErrorCode.TOOL_SCHEMA_MISMATCH
    )


def _handoffs(turn: AIMessage, tools: Iterable[BaseTool]) -> list[tuple[ToolCall, str]]:
    """Return the calls of a turn that hand over, and to whom; the other tools are known to the tool node."""
    agents = {tool.name: tool.metadata[_DESTINATION] for tool in tools if tool.metadata and _OURS in tool.metadata}
    return [(call, agents[call["name"]]) for call in turn.tool_calls if call["name"] in agents]


def _after_words(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return what an agent did since somebody spoke to it, which the parent has not seen, without its thoughts."""
    spoken = [position for position, message in enumerate(messages) if isinstance(message, HumanMessage)]
    own = messages[spoken[-1] + 1 :] if spoken else []
    return [in_words(message) if isinstance(message, AIMessage) and thinks(message) else message for message in own]


def _tokens(messages: Iterable[BaseMessage]) -> int:
    return sum(tokens_of(message, count_o200k) for message in messages)


def _asked(messages: Sequence[BaseMessage]) -> Any:
    """Return the user's last words, with the images among them."""
    found = (message.content for message in reversed(messages) if isinstance(message, HumanMessage))
    return next(found, "Go on.")


def _quoted(task: str, messages: Sequence[BaseMessage]) -> str:
    """Return the last answer of each agent that `task` names as `@agent`, below the task."""
    said = [message for message in messages if isinstance(message, AIMessage) and not message.tool_calls]
    answers = {message.name: message.text for message in said if message.name and message.text}
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
    """Return an id that a replay comes to again."""
    return str(uuid5(NAMESPACE_OID, f"{turn.id}/{call['id']}/{what}"))
