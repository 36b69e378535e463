"""The tool that opens references: `accp_fetch(ref, query, offset, limit)`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Final

from langchain.tools import ToolRuntime
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from accp_adapters.fetching import (
    FETCH_DESCRIPTION,
    FETCH_NAME,
    FETCH_PARAMETERS,
    FetchRequest,
    answer_program,
    open_and_answer,
    read_request,
)
from accp_adapters.langchain.messages import program_calls
from accp_adapters.langgraph.references import stores
from accp_adapters.langgraph.references.grants import find_text
from accp_adapters.langgraph.references.node_grants import grants_in
from accp_adapters.langgraph.references.retention import stored_keys
from accp_adapters.langgraph.runtime import agent_name, graph_session, messages_of, private_session, thread_id
from accp_adapters.langgraph.turns import find_request
from accp_adapters.policy import Policy
from accp_adapters.telemetry import Telemetry
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore
from accp_core.references import StoredText, open_reference, parse_reference, reference_to

__all__ = ["fetch_tool", "is_own", "is_refused", "private_fetch_tool", "refusals_as_tool_errors"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """Where the texts may be that the state does not hold."""

    cold: ColdStore
    """The store."""
    session_id: str
    """The session there."""
    keys: Container[str] = ()
    """The keys that it may be asked for."""
    messages: Sequence[BaseMessage] = ()
    """The messages for whose previews a `CompressNode` may have stored others."""

    def read(self, texts: Mapping[str, str | None]) -> dict[str, str | None]:
        """Return those of the missing `texts` that the store may be asked for."""
        missing = self._missing(texts)
        granted = [key for key, grants in missing.items() if key in self.keys or any(map(self._has, grants))]
        return {key: self.cold.get(self.session_id, key) for key in granted}

    async def aread(self, texts: Mapping[str, str | None]) -> dict[str, str | None]:
        """`read`, asynchronously."""
        missing = await asyncio.to_thread(self._missing, texts)
        granted = [
            key
            for key, grants in missing.items()
            if key in self.keys or any([await self._ahas(each) for each in grants])
        ]
        return {key: await stores.aget(self.cold, self.session_id, key) for key in granted}

    def _missing(self, texts: Mapping[str, str | None]) -> dict[str, tuple[StoredText, ...]]:
        return grants_in(self.messages, [key for key, text in texts.items() if text is None])

    def _has(self, grant: StoredText) -> bool:
        return self.cold.get(self.session_id, grant.key) == grant.text

    async def _ahas(self, grant: StoredText) -> bool:
        return await stores.aget(self.cold, self.session_id, grant.key) == grant.text


_METADATA: Final = "accp_fetch"
"""The metadata key that tells our tool from another one of its name."""


def fetch_tool(policy: Policy | str | None = None, *, store: stores.Store | str | None = None) -> BaseTool:
    """Return the tool `accp_fetch` for hand-built graphs; `AccpMiddleware` registers its own.

    It opens the texts of the agent's own messages, and those that `CompressNode` put into the store for previews that
    are still among these messages, as the store knows it: what a message says of itself grants nothing. An answer takes
    at most `policy.fetch_limit` tokens. A refusal is a ToolMessage with status "error" that begins with the code: E5002
    (no longer a text of this conversation), E2001 (the store has another text), E1004 (no such part).

    Args:
        policy: The policy of the node.
        store: Its store; None: the graph's own, if it has one.
    """
    chosen, kept = Policy.of(policy), stores.opened(store)

    def find_stored(runtime: ToolRuntime) -> _Stored | None:
        cold, session_id = stores.choose(chosen, kept, runtime.store), graph_session(runtime)
        messages = messages_of(runtime.state)
        return _Stored(cold=cold, session_id=session_id, messages=messages) if cold and session_id else None

    return _fetch_tool(chosen, find_stored, Telemetry("langgraph"))


def private_fetch_tool(policy: Policy, store: stores.Store | None, telemetry: Telemetry) -> BaseTool:
    """Return the tool of an `AccpMiddleware`: besides the state, it opens only what this thread put into `store`."""
    cold = stores.choose(policy, store, None)

    def find_stored(runtime: ToolRuntime) -> _Stored | None:
        session_id, keys = private_session(runtime.state), stored_keys(runtime.state)
        return _Stored(cold=cold, session_id=session_id, keys=keys) if cold and session_id else None

    return _fetch_tool(policy, find_stored, telemetry)


def _fetch_tool(chosen: Policy, find_stored: Callable[[ToolRuntime], _Stored | None], telemetry: Telemetry) -> BaseTool:
    def accp_fetch(runtime: ToolRuntime, **arguments: object) -> str:
        with refusals_as_tool_errors(telemetry):
            request = read_request(arguments)
            texts = {
                parse_reference(each): find_text(parse_reference(each), runtime.state) for each in request.references
            }
            if stored := find_stored(runtime):
                with stores.failures_as_refusals(stored.cold):
                    texts |= stored.read(texts)
            answered = _answer(texts, request, chosen, runtime)
            telemetry.opened([*texts])
            return answered

    async def aaccp_fetch(runtime: ToolRuntime, **arguments: object) -> str:
        with refusals_as_tool_errors(telemetry):
            request = read_request(arguments)
            texts = {
                parse_reference(each): await asyncio.to_thread(find_text, parse_reference(each), runtime.state)
                for each in request.references
            }
            if stored := find_stored(runtime):
                with stores.failures_as_refusals(stored.cold):
                    texts |= await stored.aread(texts)
            answered = await asyncio.to_thread(_answer, texts, request, chosen, runtime)
            telemetry.opened([*texts])
            return answered

    return StructuredTool.from_function(
        accp_fetch,
        coroutine=aaccp_fetch,
        name=FETCH_NAME,
        description=FETCH_DESCRIPTION,
        args_schema=FETCH_PARAMETERS,
        handle_tool_error=True,
        metadata={_METADATA: True},
    )


def is_own(tool: object) -> bool:
    """Return whether a tool of this name is ours."""
    return bool((getattr(tool, "metadata", None) or {}).get(_METADATA))


def is_refused(answer: object) -> bool:
    """Return whether our tool answers that a reference is not of this conversation."""
    refusal = f"{ErrorCode.UNAUTHORIZED_REF}: "
    return isinstance(answer, ToolMessage) and answer.status == "error" and answer.text.startswith(refusal)


@contextmanager
def refusals_as_tool_errors(telemetry: Telemetry | None = None) -> Iterator[None]:
    """Turn a refusal into a tool error, which the model reads and which does not end the run."""
    with telemetry.fetch(agent_name(), thread_id()) if telemetry else nullcontext():
        try:
            yield
        except ProtocolError as refusal:
            if telemetry:
                telemetry.refused(str(refusal))
            raise ToolException(str(refusal)) from refusal


def _answer(texts: Mapping[str, str | None], request: FetchRequest, policy: Policy, runtime: ToolRuntime) -> str:
    granted = {key for key, text in texts.items() if text is not None}
    turn = find_request(messages_of(runtime.state), runtime.tool_call_id)
    limit = policy.result_limits(sum(len(message.tool_calls) for message in turn)).fetch
    open_text = partial(open_reference, granted=granted, read=texts.get)
    if any(runtime.tool_call_id in program_calls(message) for message in turn):
        return answer_program({key: open_text(reference_to(key)) for key in texts}, request)
    return open_and_answer(request, open_text, limit=limit, counter=policy.counter)
