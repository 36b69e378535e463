"""References in the arguments of other tools, `Policy.tools={"write_file": resolve("content")}`, in LangGraph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from accp_adapters.fetching import FetchRequest, describe_passed, passed_requests, passed_text
from accp_adapters.langgraph.fetch import private_texts
from accp_adapters.langgraph.references import handing_over, stores
from accp_adapters.langgraph.runtime import agent_name, thread_id
from accp_adapters.policy import Policy
from accp_adapters.telemetry import Telemetry
from accp_core.errors import ProtocolError
from accp_core.projection import ToolForms

__all__ = ["Passing"]

ToolAnswer: TypeAlias = ToolMessage | Command[Any]
"""What a tool returns."""


class Passing:
    """Gives tools the texts of references that a model wrote as arguments."""

    def __init__(self, policy: Policy, store: stores.Store | None, telemetry: Telemetry) -> None:
        """Open what the fetch tool of a middleware with this policy and store opens."""
        self._forms: Final = ToolForms(policy.tools)
        self._store: Final = store
        self._telemetry: Final = telemetry

    def call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolAnswer]) -> ToolAnswer:
        """Return the answer of a tool that is given the texts, with those that it hands over; or the refusal."""
        given = self.resolved(request)
        if isinstance(given, ToolMessage):
            return given
        with handing_over.receiving() as texts:
            answer = handler(given)
        return handing_over.with_texts(answer, texts)

    async def acall(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolAnswer]]
    ) -> ToolAnswer:
        """`call`, asynchronously."""
        needs_thread = bool(self._requests(request.tool_call))
        given = await stores.in_thread(self.resolved, request) if needs_thread else request
        if isinstance(given, ToolMessage):
            return given
        with handing_over.receiving() as texts:
            answer = await handler(given)
        return handing_over.with_texts(answer, texts)

    def resolved(self, request: ToolCallRequest) -> ToolCallRequest | ToolMessage:
        """Return the request with the texts in place of references, or the refusal, a tool error with its code."""
        call = request.tool_call
        if not (requests := self._requests(call)):
            return request
        with self._telemetry.passing_on(call["name"], agent_name(), thread_id()):
            try:
                texts, keys = self._texts(call["name"], request.state, requests)
            except ProtocolError as refusal:
                self._telemetry.refused(str(refusal))
                return ToolMessage(str(refusal), name=call["name"], tool_call_id=call["id"] or "", status="error")
            self._telemetry.passed_on(call["name"], keys, sum(map(len, texts.values())))
        return request.override(tool_call={**call, "args": {**call["args"], **texts}})

    def describe(self, call: Mapping[str, Any], state: Any, runtime: Any = None) -> str:
        """Return what a person is shown of a call: each argument, a reference with its size and first lines.

        For `HumanInTheLoopMiddleware(interrupt_on={"write_file": {"allowed_decisions": […], "description":
        accp.describe_call}})`.
        """
        requests, shown = self._requests(call), [f"Tool: {call['name']}"]
        for name, value in call["args"].items():
            if name not in requests:
                shown.append(f"{name}: {value!r}")
                continue
            try:
                texts, _ = self._texts(call["name"], state, {name: requests[name]})
                shown.append(describe_passed(name, requests[name], texts[name]))
            except ProtocolError as refusal:
                shown.append(f"{name}: {value!r}, which is refused: {refusal}")
        return "\n".join(shown)

    def _requests(self, call: Mapping[str, Any]) -> dict[str, FetchRequest]:
        return dict(passed_requests(call["args"], self._forms.resolve(call["name"])))

    def _texts(self, tool: str, state: Any, requests: Mapping[str, FetchRequest]) -> tuple[dict[str, str], list[str]]:
        """Return the texts by the names of their arguments, and the keys that they come from."""
        resolved = self._forms.resolve(tool)
        most = resolved.max_chars if resolved else 0
        opened = private_texts(self._store, state, requests.values())
        texts = {name: passed_text(each, opened.open, max_chars=most) for name, each in requests.items()}
        return texts, opened.opened
