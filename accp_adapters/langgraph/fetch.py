"""The tool that opens references: `accp_fetch(ref, query, offset, limit)`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS, FetchRequest, answer, read_request
from accp_adapters.langgraph import stores
from accp_adapters.langgraph.metadata import Grant, carried_text
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.projection import find_words
from accp_adapters.langgraph.runtime import agents_of, grant_holders, messages_of, open_grant, session_of
from accp_adapters.langgraph.turns import find_call
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore
from accp_core.references import checked_text, parse_reference

__all__ = ["fetch_tool", "refusals_as_tool_errors"]


def fetch_tool(policy: Policy | None = None, *, store: stores.Store | None = None) -> BaseTool:
    """Return the tool `accp_fetch`, which `AccpMiddleware` registers by itself; hand-built graphs add it.

    It opens what messages of the agent's own state cite, in the session that owns it. An answer takes at most
    `policy.fetch_limit` tokens. A refusal is a ToolMessage with status "error" that begins with the code: E5002 (not
    a reference of this conversation), E2001 (nothing stored, or another text), E1004 (no such part of it).

    Args:
        policy: The policy of the middleware or the node.
        store: Their store; None: the graph's own. A text that a message carries needs none.
    """
    chosen = policy or Policy()
    store_of = partial(_store_of, chosen, store)

    def accp_fetch(runtime: ToolRuntime, **arguments: object) -> str:
        with refusals_as_tool_errors():
            request = read_request(arguments)
            text = _text_in_state(request, runtime)
            if text is None:
                grant = _grant(request, runtime)
                text = checked_text(grant.key, store_of(runtime).get(grant.session_id, grant.key))
            return _answer(text, request, chosen, runtime)

    async def aaccp_fetch(runtime: ToolRuntime, **arguments: object) -> str:
        with refusals_as_tool_errors():
            request = read_request(arguments)
            text = _text_in_state(request, runtime)
            if text is None:
                grant = _grant(request, runtime)
                text = checked_text(grant.key, await stores.aget(store_of(runtime), grant.session_id, grant.key))
            return await asyncio.to_thread(_answer, text, request, chosen, runtime)

    return StructuredTool.from_function(
        accp_fetch,
        coroutine=aaccp_fetch,
        name=FETCH_NAME,
        description=FETCH_DESCRIPTION,
        args_schema=FETCH_PARAMETERS,
        handle_tool_error=True,
    )


@contextmanager
def refusals_as_tool_errors() -> Iterator[None]:
    """Turn a refusal into a tool error, which the model reads and which does not end the run."""
    try:
        yield
    except ProtocolError as refusal:
        raise ToolException(str(refusal)) from refusal


def _store_of(policy: Policy, given: stores.Store | None, runtime: ToolRuntime) -> ColdStore:
    return stores.choose(policy, given, runtime.store)


def _text_in_state(request: FetchRequest, runtime: ToolRuntime) -> str | None:
    """Return the text where the agent's own state holds it: the words of an agent, or carried by a message."""
    words = find_words(parse_reference(request.ref), messages_of(runtime.state))
    if words is not None:
        return words
    return carried_text(_grant(request, runtime).key, grant_holders(runtime.state))


def _grant(request: FetchRequest, runtime: ToolRuntime) -> Grant:
    session_id = session_of(runtime, runtime.state)
    return open_grant(request.ref, grant_holders(runtime.state), session_id, agents_of(runtime))


def _answer(text: str, request: FetchRequest, policy: Policy, runtime: ToolRuntime) -> str:
    _, results = find_call(messages_of(runtime.state), runtime.tool_call_id)
    return answer(text, request, limit=policy.result_limits(results).fetch, counter=policy.counter)
