"""The tool that opens references: `accp_fetch(ref, query, offset, limit)`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS, FetchRequest, answer, read_request
from accp_adapters.langgraph import stores
from accp_adapters.langgraph.marks import carried_text
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.projection import said
from accp_adapters.langgraph.runtime import agents_of, held_in, messages_of, open_grant, results_beside, session_of
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import parse_reference

__all__ = ["fetch_tool", "refusals"]


def fetch_tool(policy: Policy | None = None, *, store: stores.Store | None = None) -> BaseTool:
    """Return the tool `accp_fetch`, which `AccpMiddleware` registers by itself; hand-built graphs add it.

    It opens what messages of the agent's own state cite, in the session that owns it, and answers with
    at most `policy.fetch_limit` tokens. A refusal is a ToolMessage with status "error" that starts with the
    code: E5002 (not a reference of this conversation), E2001 (nothing stored), E1004 (no such selection).

    Args:
        policy: The same policy as that of the middleware or the node.
        store: The same store; None: the graph's own. What a message carries itself needs none.
    """
    chosen = policy or Policy()

    def accp_fetch(runtime: ToolRuntime, **arguments: object) -> str:
        with refusals():
            request = read_request(arguments)
            source = _held(request, runtime)
            if source is None:
                owner, key = _grant(request, runtime)
                source = stores.choose(chosen, store, runtime.store).get(owner, key)
            return _answer(source, request, chosen, runtime)

    async def aaccp_fetch(runtime: ToolRuntime, **arguments: object) -> str:
        with refusals():
            request = read_request(arguments)
            source = _held(request, runtime)
            if source is None:
                owner, key = _grant(request, runtime)
                source = await stores.aget(stores.choose(chosen, store, runtime.store), owner, key)
            return await asyncio.to_thread(_answer, source, request, chosen, runtime)

    return StructuredTool.from_function(
        accp_fetch,
        coroutine=aaccp_fetch,
        name=FETCH_NAME,
        description=FETCH_DESCRIPTION,
        args_schema=FETCH_PARAMETERS,
        handle_tool_error=True,
    )


@contextmanager
def refusals() -> Iterator[None]:
    """Answer a refusal as a tool error, which the model reads and the graph survives."""
    try:
        yield
    except ProtocolError as refusal:
        raise ToolException(str(refusal)) from refusal


def _held(request: FetchRequest, runtime: ToolRuntime) -> str | None:
    """Return the text where the agent's own state holds it: carried by the message that cites it, or as words."""
    messages = messages_of(runtime.state)
    words = said(parse_reference(request.ref), messages, session_of(runtime, runtime.state) or "")
    return carried_text(_grant(request, runtime)[1], held_in(runtime.state)) if words is None else words


def _grant(request: FetchRequest, runtime: ToolRuntime) -> tuple[str, str]:
    session_id = session_of(runtime, runtime.state)
    return open_grant(request.ref, held_in(runtime.state), session_id, agents_of(runtime))


def _answer(source: str | None, request: FetchRequest, policy: Policy, runtime: ToolRuntime) -> str:
    if source is None:
        reason = f"expected a stored text under {request.ref!r}, found none: gone, or in another store"
        raise ProtocolError(reason, code=ErrorCode.REF_NOT_FOUND)
    results = results_beside(messages_of(runtime.state), runtime.tool_call_id)
    limit = min(policy.fetch_limit, policy.batch_limit // results)
    return answer(source, request, limit=limit, counter=policy.counter)
