"""What the model of an agent is sent of the messages in the state; the state itself stays as it is."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import ToolCall
from langgraph.config import get_config
from langgraph.runtime import Runtime

from accp_adapters.langchain import program_calls, texts_in, to_records, with_projection
from accp_adapters.policy import Policy
from accp_core.errors import EncodeError
from accp_core.ports import TokenCounter
from accp_core.projection import MessageRecord, Projected, Projector, PromptProjector, Role, Unit, attribute
from accp_core.references import StoredText, key_of
from accp_core.strict_json import compact_json

__all__ = [
    "SESSION_KEY", "MessageProjector", "ProjectedMessages", "agent_name", "as_json", "count_tokens", "find_request",
    "graph_session", "has_thoughts", "messages_of", "new_session", "private_session", "projector_after",
    "said_caller", "state_value", "thread_id", "thread_session", "without_thoughts",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedMessages:
    """What a model is sent."""

    messages: list[Any]
    """The messages; those that did not change are the objects that were given."""
    stored: dict[str, tuple[StoredText, ...]]
    """The texts that previews cite, by the id of the message that holds them."""
    rewritten: list[tuple[BaseMessage, Projected]]
    """The messages that changed and that no earlier call of the model was sent, each with its projection."""
    failed: int
    """How many messages that no earlier call was sent stay as they are because their projection raised."""
    kept: list[tuple[BaseMessage, str]]
    """The results of tools that no earlier call was sent and that stay as they are, each with the reason."""
    offers_tool: bool
    """Whether the messages need the fetch tool, see `ProjectedPrompt`."""


class MessageProjector:
    """Projects conversations of LangChain messages; it remembers, within a bound, those that it has projected."""

    def __init__(
        self, policy: Policy, *, stored: Callable[[BaseMessage], tuple[Unit | None, ...]] = lambda message: ()
    ) -> None:
        """Project by `policy`; `stored` is as in `to_records`."""
        self._stored: Final = stored
        self._prompts: Final = PromptProjector(policy.rules)

    def project(
        self,
        messages: Sequence[BaseMessage],
        *,
        state: Sequence[BaseMessage] | None = None,
        agent: str | None = None,
        handed_over: Iterable[str] = (),
        views: Mapping[str, str] = MappingProxyType({}),
    ) -> ProjectedMessages:
        """Return what the model of `agent` is sent of `messages`.

        Args:
            messages: The conversation from its first message on, as a request holds it.
            state: The messages of the state, which alone can open a reference: a text that is in none of them is
                shown as a view at most. None: they are `messages`.
            agent: The name of the agent, None where it has none.
            handed_over: The keys of texts that another agent handed over to it.
            views: The keys of texts that are views already, each with what is sent of it; "": the text itself.
        """
        kept = None if state is None else {text for message in state for text in texts_in(message)}
        records = [_as_view(each, views) for each in to_records(messages, kept=kept, stored=self._stored)]
        prompt = self._prompts.project(records, agent=agent, handed_over=handed_over)
        pairs = list(zip(messages, prompt.messages, strict=True))
        turns = (index for index in reversed(range(len(messages))) if isinstance(messages[index], AIMessage))
        unsent = pairs[next(turns, 0) :]  # the last message of a model, whose arguments may be short, and what follows
        return ProjectedMessages(
            messages=[with_projection(message, shown) for message, shown in pairs],
            stored={message.id or "": shown.stored for message, shown in pairs if shown.stored},
            rewritten=[pair for pair in unsent if pair[1].is_changed],
            failed=sum(shown.failed for _, shown in unsent),
            kept=[(message, shown.kept) for message, shown in unsent if shown.kept],
            offers_tool=prompt.offers_tool,
        )


def _as_view(record: MessageRecord, views: Mapping[str, str]) -> MessageRecord:
    """Return the record of a tool's answer that is nothing but views as one that stays."""
    shown = tuple(views.get(key_of(text or "")) for text in record.blocks) if views else (None,)
    if record.role is not Role.TOOL or None in shown:
        return record
    return replace(record, stays=True, stored=tuple("whole" for _ in shown), shown=shown)


def projector_after(messages: Iterable[BaseMessage], policy: Policy, agent: str | None) -> Projector:
    """Return the projector that has `messages`, for storing the results that come after them compressed."""
    projector = Projector(replace(policy.rules, repeats=False))
    for record in attribute(to_records(messages), names=policy.rules.agent_names, agent=agent):
        projector.add(record)
    return projector


# A model's message: its calls, its thoughts, its tokens.

_SIGNED: Final = frozenset({"thinking", "redacted_thinking"})
_THOUGHTS: Final = _SIGNED | {"reasoning"}


def find_request(messages: Sequence[BaseMessage], call_id: str | None, tool: str = "") -> AIMessage | None:
    """Return the last message that makes the call `call_id`, where it is given of `tool`; None where none does."""
    turns = (message for message in reversed(messages) if isinstance(message, AIMessage))
    made = ((turn, call) for turn in turns for call in turn.tool_calls)
    return next((turn for turn, call in made if call["id"] == call_id and tool in ("", call["name"])), None)


def has_thoughts(message: BaseMessage) -> bool:
    """Return whether `message` holds a model's signed thoughts, which a provider binds to the messages before."""
    if not isinstance(message, AIMessage) or isinstance(message.content, str):
        return False
    return any(isinstance(block, dict) and block.get("type") in _THOUGHTS for block in message.content)


def without_thoughts(message: AIMessage, calls: Sequence[ToolCall] | None = None) -> AIMessage:
    """Return `message` as its text and `calls` (None: its own), without anything bound to the messages before.

    Signed thoughts and raw calls are in content blocks and in fields of the provider: none of these is kept, nor is
    a count of tokens, which is true of the whole message only. A message with calls of a program keeps all but the
    signed thoughts: its blocks say that the program reads the results.
    """
    if calls is None and program_calls(message):
        content = [block for block in message.content if not (isinstance(block, dict) and block.get("type") in _SIGNED)]
        return message.model_copy(update={"content": content, "usage_metadata": None})
    kept = message.tool_calls if calls is None else calls
    return AIMessage(content=message.text, tool_calls=list(kept), name=message.name, id=message.id)


def count_tokens(message: BaseMessage, counter: TokenCounter) -> int:
    """Return the tokens that a model reads of `message`: its text, and its calls as compact JSON."""
    calls = [{"name": call["name"], "arguments": call["args"]} for call in getattr(message, "tool_calls", ())]
    return counter(message.text) + (counter(as_json(calls)) if calls else 0)


def as_json(value: Any) -> str:
    """Return `value` as compact JSON; what JSON cannot hold (a date, NaN in arguments) as Python prints it."""
    try:
        return compact_json(value, default=str)
    except EncodeError:
        return str(value)


# What a hook or a tool finds out about its run: the session, the name of the agent, and the messages of the state.

SESSION_KEY: Final = "accp_session"
"""The private state key of the session of a thread; a copy of the thread has the same session."""


def new_session() -> str:
    """Return a session id that cannot be guessed."""
    return f"run-{secrets.token_hex(16)}"


def private_session(state: Any) -> str | None:
    """Return the session of an agent that has `AccpMiddleware` with a store, else None."""
    private = state_value(state, SESSION_KEY)
    return private if isinstance(private, str) and private else None


def graph_session(runtime: Runtime[Any] | ToolRuntime) -> str | None:
    """Return the session of a hand-built graph: its thread, and the nodes that it runs in; None without a thread.

    Two agents of one thread have two sessions.
    """
    thread = thread_session(runtime)
    execution = runtime.execution_info
    if thread is None or execution is None:
        return None
    # A namespace is "crm:id|tools:id": the last node is the one that runs in the graph.
    around = [part.partition(":")[0] for part in execution.checkpoint_ns.split("|")[:-1]]
    return "|".join([thread, *around])


def thread_session(runtime: Runtime[Any] | ToolRuntime) -> str | None:
    """Return the thread as a session, None where there is none."""
    execution = runtime.execution_info
    if execution is None or execution.thread_id in (None, ""):
        return None
    return str(execution.thread_id)  # callers use numbers and UUIDs, too


def agent_name() -> str | None:
    """Return the name of the agent that runs, None where it has none or nothing runs."""
    return _from_config("metadata", "lc_agent_name")


def thread_id() -> str | None:
    """Return the id of the thread that runs, None where it has none or nothing runs."""
    return _from_config("configurable", "thread_id")


def said_caller() -> Any:
    """Return who calls a tool, as `is_program` takes it, where the config says it; None: it does not.

    `tool.invoke(call, {"metadata": {"accp_caller": "program"}})`.
    """
    return _value_in_config("metadata", "accp_caller")


def _from_config(part: str, name: str) -> str | None:
    value = _value_in_config(part, name)
    return str(value) if value else None


def _value_in_config(part: str, name: str) -> Any:
    try:
        config: Mapping[str, Any] = get_config()
    except RuntimeError:
        return None
    return (config.get(part) or {}).get(name)


def state_value(state: Any, key: str) -> Any:
    """Return what `state`, a mapping or an object, holds under `key`; None where it holds nothing."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def messages_of(state: Any, key: str = "messages") -> list[BaseMessage]:
    """Return the messages in `state`: a list of them, a mapping or an object that holds them under `key`."""
    found = state if isinstance(state, list) else state_value(state, key)
    return [message for message in found or () if isinstance(message, BaseMessage)]
