"""Who may open a reference: the session that owns it, when trusted metadata of the agent's state cites it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final, Protocol

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from accp_adapters.langgraph.marks import MARK
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "FOLD_KEY",
    "SESSION_KEY",
    "agent_of",
    "agents_of",
    "call_of",
    "grant",
    "granted_in",
    "has_references",
    "held_in",
    "messages_of",
    "named_references",
    "new_session",
    "open_grant",
    "request_of",
    "results_beside",
    "session_of",
]

SESSION_KEY: Final = "accp_session"
"""The private state key that holds the session of a run without a thread."""

FOLD_KEY: Final = "accp_fold"
"""The private state key that holds what the fold keeps, its references among it."""

_RUN: Final = re.compile(r"run-[0-9a-f]{32}")
_KEY: Final = re.compile(r"\bcold\.[0-9a-f]{12}\b")


class _Execution(Protocol):
    @property
    def thread_id(self) -> str | None: ...

    @property
    def checkpoint_ns(self) -> str: ...


class _Runtime(Protocol):
    """What `Runtime` and `ToolRuntime` have in common here."""

    @property
    def execution_info(self) -> _Execution | None: ...


def new_session() -> str:
    """Return a session id that nobody can guess, for a run without a thread."""
    return f"run-{secrets.token_hex(16)}"


def session_of(runtime: _Runtime, state: Any) -> str | None:
    """Return the id of the session: the thread, else the private one of this run, else None.

    Never the checkpoint namespace, which differs from node to node.
    """
    execution = runtime.execution_info
    if execution is not None and execution.thread_id not in (None, ""):
        return str(execution.thread_id)  # callers use numbers and UUIDs, too
    return state.get(SESSION_KEY) if isinstance(state, Mapping) else None


def agents_of(runtime: _Runtime) -> frozenset[str]:
    """Return the names of the nodes that run now: an agent's within its graph, and those of the graphs around it."""
    execution = runtime.execution_info
    places = execution.checkpoint_ns.split("|") if execution is not None else ()
    return frozenset(place.partition(":")[0] for place in places)


def agent_of(runtime: _Runtime) -> str:
    """Return the name of the node, in the graph around it, of the agent whose tool runs; empty: nothing is around."""
    execution = runtime.execution_info
    places = execution.checkpoint_ns.split("|") if execution is not None else []
    return places[-2].partition(":")[0] if len(places) > 1 else ""


def messages_of(state: Any, key: str = "messages") -> list[BaseMessage]:
    """Return the messages in `state`: a list of them, a mapping or an object that holds them under `key`."""
    found = state
    if not isinstance(state, list):
        found = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    return [message for message in found or () if isinstance(message, BaseMessage)]


def named_references(text: str) -> list[str]:
    """Return the keys of the cold store that stand in `text`, each once."""
    return list(dict.fromkeys(_KEY.findall(text)))


def grant(opened: Sequence[tuple[str, str]], agent: str) -> dict[str, list[str]]:
    """Return the mark of a message by which `agent` may open these (session, key) pairs, and nobody else."""
    # Lists only: where LangChain merges two messages it joins lists, and would join the strings, too.
    return {
        "refs": [key for _, key in opened],
        "sessions": [session for session, _ in opened],
        "agents": [agent] * len(opened),
    }


def held_in(state: Any) -> list[BaseMessage]:
    """Return the messages of `state` that may cite something, with one for what is folded in it."""
    fold = state.get(FOLD_KEY) if isinstance(state, Mapping) else None
    if not fold:
        return messages_of(state)
    return [*messages_of(state), ToolMessage("", tool_call_id="", additional_kwargs={MARK: fold["mark"]})]


def open_grant(
    ref: str, messages: Iterable[BaseMessage], session_id: str | None, agents: Collection[str] = ()
) -> tuple[str, str]:
    """Return the session and the key that `ref` opens for an agent whose state holds `messages`.

    `agents` are the nodes that run (`agents_of`): what was granted to one agent opens for no other.

    A reference that somebody typed is text, not a grant. One of another session opens only when that
    session was a run without a thread: its id cannot be guessed, so whoever carries it was given it.

    Raises:
        ProtocolError: E5002, no message grants `ref`, or it belongs to another session.
    """
    key = ref.strip().removeprefix("$")
    owners = {owner for granted, owner in _grants(messages, agents) if granted == key}
    for owner in sorted(owners, key=lambda owner: owner != session_id):
        if owner == session_id or _RUN.fullmatch(owner):
            return owner, key
    raise ProtocolError(
        f"expected a reference that a tool result of this conversation cites, found {ref!r}",
        code=ErrorCode.UNAUTHORIZED_REF,
    )


def granted_in(messages: Iterable[BaseMessage], agents: Collection[str]) -> list[tuple[str, str]]:
    """Return the (session, key) of all that `messages` let these agents open, each once."""
    return list(dict.fromkeys((owner, key) for key, owner in _grants(messages, agents)))


def has_references(messages: Iterable[BaseMessage], agents: Collection[str]) -> bool:
    """Tell whether any of `messages` cites a text of the cold store, for these agents or for whoever reads it."""
    marks = (message.additional_kwargs.get(MARK, {}) for message in messages)
    cites = (mark for mark in marks if mark.get("refs"))
    return any("agents" not in mark or not set(mark["agents"]).isdisjoint(agents) for mark in cites)


def _grants(messages: Iterable[BaseMessage], agents: Collection[str]) -> Iterable[tuple[str, str]]:
    for message in messages:
        mark = message.additional_kwargs.get(MARK, {})
        holders = mark.get("agents") or repeat(None)
        for key, owner, holder in zip(mark.get("refs", ()), mark.get("sessions", ()), holders, strict=False):
            if holder is None or holder in agents:
                yield key, owner


def request_of(messages: Sequence[BaseMessage], call: Mapping[str, Any] | None) -> str:
    """Return what the agent works on: the last words of the user and the arguments of `call`."""
    words = next((message.text for message in reversed(messages) if isinstance(message, HumanMessage)), "")
    values = " ".join(str(value) for value in call["args"].values()) if call else ""
    return f"{words} {values}".strip()


def call_of(messages: Sequence[BaseMessage], call_id: str | None) -> tuple[Mapping[str, Any] | None, int]:
    """Return the tool call `call_id` and how many calls its AIMessage made, (None, 1) when there is none."""
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                if call["id"] == call_id:
                    return call, len(message.tool_calls)
    return None, 1


def results_beside(messages: Sequence[BaseMessage], call_id: str | None) -> int:
    """Return how many results the model turn that made call `call_id` will have, at least 1."""
    return call_of(messages, call_id)[1]
