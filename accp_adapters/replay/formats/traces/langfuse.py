"""Langfuse: exported observations of type GENERATION, alone or within their trace.

Its handler for LangChain writes messages with a role, LangChain's calls, and definitions as messages of a tool.
Sources: https://api.reference.langfuse.com (`Observation`, `TraceWithFullDetails`) and
https://langfuse.com/docs/observability/features/observation-types; `langfuse.langchain.CallbackHandler`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Request
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.traces.logged_messages import opened, read_answer, read_prompt

__all__ = ["is_observation", "read_observation"]

_OWNER: Final = "a Langfuse generation"
_ROLES: Final = frozenset({"system", "developer", "human", "user", "ai", "assistant", "tool", "function", "generic"})
"""Those that the handlers for LangChain write."""


def is_observation(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"observations": [{"type": str()}, *_]} | {"data": [{"type": str(), "traceId": _}, *_]}:
            return True
        case {"type": str(kind), "input": _} if kind.isupper():
            return "traceId" in document or "trace_id" in document
    return False


def read_observation(document: Mapping[str, Any], findings: Findings) -> Iterator[Request]:
    """Yield the model call of an observation, or those of a trace."""
    inner = document.get("observations") or document.get("data")
    if isinstance(inner, list):
        for observation in inner:
            try:
                found = list(read_observation({"traceId": document.get("id")} | observation, findings))
            except (KeyError, TypeError, ValueError, AttributeError):
                findings.add("observation", "of Langfuse that cannot be read")
                continue
            yield from found
    elif document.get("type") != "GENERATION":
        findings.add("observation", f"of type {document.get('type')!r} of Langfuse", left_out=True)
    else:
        prompt, tools = read_prompt(_of_langchain(opened(document.get("input"))), findings, _OWNER)
        yield Request(
            prompt=prompt,
            output=read_answer(_of_langchain(opened(document.get("output"))), findings, _OWNER),
            tools=tools,
            group=str(document.get("traceId") or document.get("trace_id") or document.get("id")),
            started=str(document.get("startTime") or document.get("start_time") or ""),
        )


def _of_langchain(logged: Any) -> Any:
    """Return what the handler for LangChain logged as LangChain's messages; anything else as it is."""
    if isinstance(logged, Mapping):
        return _as_langchain(logged) if _is_of_langchain(logged) else logged
    if not isinstance(logged, list) or not any(map(_is_of_langchain, logged)):
        return logged
    messages = [each if isinstance(each, Mapping) else {} for each in logged]
    tools = [each["content"] for each in messages if _is_definition(each)]
    return {"messages": [_as_langchain(each) for each in messages if not _is_definition(each)], "tools": tools}


def _as_langchain(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message with its type.

    The handler for LangChain.js writes the name of a tool as the role of its result.
    """
    role = message.get("role")
    written: dict[str, Any] = {"type": role, **{name: value for name, value in message.items() if name != "role"}}
    if isinstance(role, str) and role not in _ROLES:
        written |= {"type": "tool", "name": message.get("name") or role}
    if isinstance(calls := message.get("tool_calls"), list):
        written["tool_calls"] = [_call(each) for each in calls]
    return written


def _call(written: Any) -> Any:
    """Return a call as LangChain writes it, from OpenAI's form as well."""
    match written:
        case {"function": {"name": name, **asked}}:
            return {"name": name, "args": opened(asked.get("arguments")), "id": written.get("id")}
    return written


def _is_of_langchain(message: Any) -> bool:
    match message:
        case {"role": str(), "tool_calls": [{"args": _}, *_]} | {"role": str(), "additional_kwargs": _}:
            return True
    return _is_definition(message)


def _is_definition(message: Any) -> bool:
    match message:
        case {"role": "tool", "content": {"type": "function", "function": {}}}:
            return True
    return False
