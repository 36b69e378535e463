"""What a hook or a tool finds out about its run: the session, the name of the agent, and the messages of the state."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final, Protocol

from langchain_core.messages import BaseMessage
from langgraph.config import get_config

__all__ = [
    "SESSION_KEY", "agent_name", "graph_session", "messages_of", "new_session", "private_session", "state_value",
    "thread_id", "thread_session",
]  # fmt: skip

SESSION_KEY: Final = "accp_session"
"""The private state key of the session of a thread; a copy of the thread has the same session."""


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
    """Return a session id that cannot be guessed."""
    return f"run-{secrets.token_hex(16)}"


def private_session(state: Any) -> str | None:
    """Return the session of an agent that has `AccpMiddleware` with a store, else None."""
    private = state_value(state, SESSION_KEY)
    return private if isinstance(private, str) and private else None


def graph_session(runtime: _Runtime) -> str | None:
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


def thread_session(runtime: _Runtime) -> str | None:
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


def _from_config(part: str, name: str) -> str | None:
    try:
        config: Mapping[str, Any] = get_config()
    except RuntimeError:
        return None
    value = (config.get(part) or {}).get(name)
    return str(value) if value else None


def state_value(state: Any, key: str) -> Any:
    """Return what `state`, a mapping or an object, holds under `key`; None where it holds nothing."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def messages_of(state: Any, key: str = "messages") -> list[BaseMessage]:
    """Return the messages in `state`: a list of them, a mapping or an object that holds them under `key`."""
    found = state if isinstance(state, list) else state_value(state, key)
    return [message for message in found or () if isinstance(message, BaseMessage)]
