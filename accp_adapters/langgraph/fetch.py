"""The tool that opens references: `accp_fetch(ref, select, offset, limit)`."""

from __future__ import annotations

from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from accp_adapters.langgraph import tiers
from accp_adapters.langgraph.grants import messages_of, open_grant, results_beside, session_of
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.select import Query, answer
from accp_core.errors import ProtocolError

__all__ = ["FETCH_NAME", "LEGEND", "fetch_tool"]

FETCH_NAME: Final = "accp_fetch"
"""The tool's name; results of this tool are never rewritten."""

LEGEND: Final = ""
"""How to read a view, one line; empty while the notation needs none."""

_DESCRIPTION: Final = (
    'Open a $cold reference from a tool result. select: "col,col", "col=value" or a path "a.b"; '
    "offset, limit: rows or lines."
)

# Written by hand: a schema made from the signature spells every default out and costs half as much again.
_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "ref": {"type": "string"},
        "select": {"type": "string"},
        "offset": {"type": "integer"},
        "limit": {"type": "integer"},
    },
    "required": ["ref"],
}


def fetch_tool(policy: Policy | None = None, *, store: tiers.Store | None = None) -> BaseTool:
    """Return the tool `accp_fetch`, which `AccpMiddleware` registers by itself; hand-built graphs add it.

    It opens what messages of the agent's own state cite, in the session that owns it, and answers with
    at most `policy.fetch_limit` tokens. A refusal is a ToolMessage with status "error" that starts with the
    code: E5002 (not a reference of this conversation), E2001 (nothing stored), E1004 (no such selection).

    Args:
        policy: The same policy as that of the middleware or the node.
        store: The same store; None: the graph's own, else the embedded one.
    """
    chosen = policy or Policy()

    def accp_fetch(
        ref: str,
        runtime: ToolRuntime,
        select: str | None = None,
        offset: int | None = 0,
        limit: int | None = None,
    ) -> str:
        try:
            owner, key = _grant(ref, runtime)
            source = tiers.choose(chosen, store, runtime.store).get(owner, key)
            return _answer(ref, source, Query.of(select, offset, limit), chosen, runtime)
        except ProtocolError as refusal:
            raise ToolException(str(refusal)) from refusal

    async def aaccp_fetch(
        ref: str,
        runtime: ToolRuntime,
        select: str | None = None,
        offset: int | None = 0,
        limit: int | None = None,
    ) -> str:
        try:
            owner, key = _grant(ref, runtime)
            source = await tiers.aget(tiers.choose(chosen, store, runtime.store), owner, key)
            return _answer(ref, source, Query.of(select, offset, limit), chosen, runtime)
        except ProtocolError as refusal:
            raise ToolException(str(refusal)) from refusal

    return StructuredTool.from_function(
        accp_fetch,
        coroutine=aaccp_fetch,
        name=FETCH_NAME,
        description=f"{_DESCRIPTION} {LEGEND}".strip(),
        args_schema=_PARAMETERS,
        handle_tool_error=True,
    )


def _grant(ref: str, runtime: ToolRuntime) -> tuple[str, str]:
    return open_grant(ref, messages_of(runtime.state), session_of(runtime, runtime.state))


def _answer(ref: str, source: str | None, query: Query, policy: Policy, runtime: ToolRuntime) -> str:
    if source is None:
        raise ProtocolError(f"expected a stored text under {ref!r}, found none", code="E2001")
    results = results_beside(messages_of(runtime.state), runtime.tool_call_id)
    limit = min(policy.fetch_limit, policy.batch_limit // results)
    return answer(source, query, limit=limit, counter=policy.counter)
