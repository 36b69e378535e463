"""What a hook or a tool finds out about its run: the session, the agents that run, the state, and who may open what."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Protocol

from langchain_core.messages import BaseMessage, ToolMessage

from accp_adapters.langgraph.metadata import Grant, Metadata, grants_in
from accp_core.references import check_grant

__all__ = [
    "FOLD_KEY", "SESSION_KEY", "agent_of", "agents_of", "grant_holders", "has_references", "messages_of", "new_session",
    "open_grant", "session_of",
]  # fmt: skip

SESSION_KEY: Final = "accp_session"
"""The private state key that holds the session of a run without a thread."""

FOLD_KEY: Final = "accp_fold"
"""The private state key that holds the fold, its references among it."""

_THREADLESS: Final = re.compile(r"run-[0-9a-f]{32}")


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
    """Return a session id that cannot be guessed, for a run without a thread."""
    return f"run-{secrets.token_hex(16)}"


def session_of(runtime: _Runtime, state: Any) -> str | None:
    """Return the id of the session: the thread, else the private one of this run, else None.

    It is never the checkpoint namespace, which differs from node to node.
    """
    execution = runtime.execution_info
    if execution is not None and execution.thread_id not in (None, ""):
        return str(execution.thread_id)  # callers use numbers and UUIDs, too
    return state.get(SESSION_KEY) if isinstance(state, Mapping) else None


def agents_of(runtime: _Runtime) -> frozenset[str]:
    """Return the names of the nodes that run now: an agent's within its graph, and those of the graphs around it."""
    return frozenset(_running_nodes(runtime))


def agent_of(runtime: _Runtime) -> str:
    """Return the node of the running agent in the graph around it; empty where no graph is around it."""
    nodes = _running_nodes(runtime)
    return nodes[-2] if len(nodes) > 1 else ""


def _running_nodes(runtime: _Runtime) -> list[str]:
    """Return the names of the nodes that run, the outermost first: a namespace is "crm:id|tools:id"."""
    execution = runtime.execution_info
    parts = execution.checkpoint_ns.split("|") if execution is not None else []
    return [part.partition(":")[0] for part in parts]


def messages_of(state: Any, key: str = "messages") -> list[BaseMessage]:
    """Return the messages in `state`: a list of them, a mapping or an object that holds them under `key`."""
    found = state
    if not isinstance(state, list):
        found = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    return [message for message in found or () if isinstance(message, BaseMessage)]


def grant_holders(state: Any) -> list[BaseMessage]:
    """Return the messages of `state` that may grant references, with one that holds the grants of its fold."""
    fold = state.get(FOLD_KEY) if isinstance(state, Mapping) else None
    metadata = Metadata.from_json(fold.get("metadata") if isinstance(fold, Mapping) else None)
    return [*messages_of(state), *([metadata.on(ToolMessage("", tool_call_id=""))] if metadata.grants else [])]


def open_grant(
    reference: str, messages: Iterable[BaseMessage], session_id: str | None, agents: Collection[str] = ()
) -> Grant:
    """Return the grant by which `reference` opens for an agent whose state holds `messages`.

    The text of a message grants nothing, only its metadata does. A reference of another session opens only where that
    session was a run without a thread: its id cannot be guessed, so that an agent that has it was given it.

    Args:
        reference: The reference as the caller wrote it.
        messages: All messages of the agent's own state.
        session_id: The session of the agent, None where it has none.
        agents: The nodes that run (`agents_of`): what was granted to one agent opens for no other.

    Raises:
        ProtocolError: E5002, no message grants it, or it belongs to another session.
    """
    found = grants_in(messages, agents)
    usable = [grant for grant in found if grant.session_id == session_id or _THREADLESS.fullmatch(grant.session_id)]
    key = check_grant(reference, {grant.key for grant in usable})
    return min((grant for grant in usable if grant.key == key), key=lambda grant: grant.session_id != session_id)


def has_references(messages: Iterable[BaseMessage], agents: Collection[str]) -> bool:
    """Return whether any of `messages` lets the running `agents` open a stored text."""
    return bool(grants_in(messages, agents))
