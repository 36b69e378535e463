"""Several calls in one call of `accp_tools`, of which only what is asked for comes back.

    {"calls": [{"call": "list_orders", "arguments": {"status": "late"}},
               {"call": "get_customer", "arguments": {"id": {"$from": 1, "query": "orders.0.buyer"}}, "show": "email"}]}

The calls run in order. A value of an earlier result is named by the number of its call and a path or a SELECT; it is
data, and nothing is executed. `show` asks for a part of a result by the same queries as `accp_fetch`; the last result
is shown whole where nothing is asked for. A call that fails ends the list.

A host's user approved `accp_tools`, not each tool. So a list runs tools that are annotated with `readOnlyHint`, and
those that the user of the proxy named; a value goes from one server to another only where both tools are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from accp_adapters import fetching
from accp_adapters.fetching import FetchRequest
from accp_adapters.mcp.shim.protocol import JsonObject, text_block, tool_result
from accp_adapters.mcp.shim.tools.tool_catalog import ToolCatalog, matches_any
from accp_adapters.mcp.shim.tools.tool_index import INDEX_NAME, check_call, find_tool, read_arguments
from accp_adapters.serving.off_loop import size_of
from accp_core.documents.json_styles import read_styled_json
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.markers import escape_markers
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json, read_json

__all__ = ["CallList", "CallRules", "ListedCall", "read_calls"]

_FROM: Final = "$from"
_MAX_CALLS: Final = 20
"""Calls of one list."""
_MAX_CHARS: Final = 4_000_000
"""Characters of all results of one list."""
_MAX_ECHO: Final = 200
_MAX_FAILURE: Final = 4_000
"""Characters of the text of a call that failed."""


@dataclass(frozen=True, slots=True)
class CallRules:
    """Which tools a list of calls may call."""

    check_offered: Callable[[str], None]
    """Raises ProtocolError (E4001) for a tool that may not be called at all."""
    catalog: ToolCatalog
    """The tools."""
    allowed: tuple[str, ...] = ()
    """Patterns of the names of tools that may run although they are not read-only."""
    server_of: Callable[[str], str] = lambda name: ""
    """Returns the server of a tool, by the tool's name."""
    seconds: float = 60.0
    """How long a list may take; a call that has begun is waited for."""

    def check(self, name: str) -> None:
        """Check that a list may run the tool `name`.

        Raises:
            ProtocolError: E4001, it may not be called at all; E5001, it may change something and nobody named it.
        """
        self.check_offered(name)
        tool = self.catalog.tools.get(name, {})
        annotations = tool.get("annotations")
        reads = isinstance(annotations, dict) and annotations.get("readOnlyHint") is True
        if not reads and not matches_any(name, self.allowed):
            reason = f"expected tools that only read, or that are allowed by name, in a list of calls; found {name!r}"
            raise ProtocolError(f"{reason}: call it alone", code=ErrorCode.POLICY_DENIED)

    def check_flow(self, source: str, target: str) -> None:
        """Check that a value of a result of the tool `source` may be an argument of the tool `target`.

        Raises:
            ProtocolError: E5001, they are tools of different servers and not both are named.
        """
        is_named = matches_any(source, self.allowed) and matches_any(target, self.allowed)
        if self.server_of(source) != self.server_of(target) and not is_named:
            reason = f"expected a value to stay with its server unless both tools are allowed by name; found {source!r}"
            raise ProtocolError(f"{reason} for {target!r}", code=ErrorCode.POLICY_DENIED)


@dataclass(frozen=True, slots=True)
class ListedCall:
    """One call of a list."""

    name: str
    arguments: Any
    show: str | None
    """The query of what comes back; None: nothing, or all of the last result."""


def read_calls(arguments: object, rules: CallRules) -> list[ListedCall] | None:
    """Return the calls in the arguments of `accp_tools`; None where it is no list of calls.

    Raises:
        ProtocolError: E4003, the list is malformed or too long; E4001, E5001, it has a tool that may not run.
    """
    given = arguments.get("calls") if isinstance(arguments, dict) else None
    if given is None:
        return None
    if not isinstance(given, list) or not 0 < len(given) <= _MAX_CALLS:
        found = len(given) if isinstance(given, list) else type(given).__name__
        raise _malformed(f"expected 'calls' to be a list of 1 to {_MAX_CALLS} calls, found {found!r}")
    calls = [_read_call(each, number) for number, each in enumerate(given, 1)]
    for number, call in enumerate(calls, 1):
        _check(call, number, calls, rules)
    return calls


def _read_call(given: object, number: int) -> ListedCall:
    if not isinstance(given, dict) or not isinstance(given.get("call"), str):
        raise _malformed(f"expected call {number} to be an object with 'call', found {str(given)[:_MAX_ECHO]!r}")
    show = given.get("show")
    if show is not None and not isinstance(show, str):
        raise _malformed(f"expected 'show' of call {number} to be a query, found {str(show)[:_MAX_ECHO]!r}")
    return ListedCall(given["call"], read_arguments(given.get("arguments")), show)


def _check(call: ListedCall, number: int, calls: list[ListedCall], rules: CallRules) -> None:
    if call.name == INDEX_NAME:
        raise _malformed(f"expected the server's tools in a list of calls, found {INDEX_NAME!r}")
    sources = list(_sources(call.arguments))
    find_tool(call.name, rules.catalog)
    rules.check(call.name)
    if not sources:  # Arguments with values of earlier results are checked when those are known.
        check_call(call.name, call.arguments, rules.catalog)
    for source in sources:
        if type(source) is not int or not 0 < source < number:
            expected = f"the number of an earlier call, below {number}"
            raise _malformed(f"expected {_FROM!r} of call {number} to be {expected}, found {source!r}")
        rules.check_flow(calls[source - 1].name, call.name)


def _sources(arguments: object) -> Iterator[object]:
    """Yield the numbers of the calls of which `arguments` have values."""
    waiting = [arguments]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and _FROM in part:
            yield part[_FROM]
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _malformed(reason: str) -> ProtocolError:
    return ProtocolError(reason, code=ErrorCode.TOOL_SCHEMA_MISMATCH)


@dataclass(slots=True)
class CallList:
    """A list of calls on its way: which one is next, and what the finished ones returned."""

    calls: list[ListedCall]
    rules: CallRules
    counter: TokenCounter
    limit: int
    """Tokens of what one call shows."""
    started: float
    """When it began, in seconds."""
    results: list[str] = field(default_factory=list)
    """The text of each result so far: its value as JSON, or its texts."""
    failure: str = ""
    """Why the list ended early."""

    def next_call(self, now: float) -> JsonObject | None:
        """Return name and arguments of the next call; None where the list is over.

        Args:
            now: The time in seconds, on the clock of `started`.
        """
        number = len(self.results) + 1
        if self.failure or number > len(self.calls):
            return None
        call = self.calls[number - 1]
        try:
            if now - self.started > self.rules.seconds:
                raise ProtocolError(f"expected at most {self.rules.seconds:g} s", code=ErrorCode.TIMEOUT)
            arguments = self._resolve(call.arguments)
            check_call(call.name, arguments, self.rules.catalog)
        except (ProtocolError, ValueError, RecursionError) as error:
            self.failure = f"call {number}, {call.name}, was not made: {str(error)[:_MAX_FAILURE]}"
            return None
        return {"name": call.name, "arguments": arguments}

    def receive(self, response: JsonObject) -> None:
        """Take the response to the call that `next_call` returned."""
        number, call = len(self.results) + 1, self.calls[len(self.results)]
        error, result = response.get("error"), response.get("result")
        if isinstance(error, dict):
            self.failure = (
                f"call {number}, {call.name}, failed: {escape_markers(str(error.get('message'))[:_MAX_FAILURE])}"
            )
            return
        if not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
            self.failure = f"call {number}, {call.name}, needs more than a result: call it alone"
            return
        used = sum(map(len, self.results))
        if size_of(result, _MAX_CHARS - used) > _MAX_CHARS - used:
            limit = f"{ErrorCode.BUDGET_EXCEEDED}: expected results of at most {_MAX_CHARS:,} characters"
            self.failure = f"call {number}, {call.name}: {limit}"
            return
        text = _text_of(result)
        if result.get("isError"):
            self.failure = f"call {number}, {call.name}, failed: {escape_markers(text[:_MAX_FAILURE])}"
            return
        self.results.append(text)

    def result(self) -> JsonObject:
        """Return what the caller of `accp_tools` gets."""
        blocks = [text_block(shown) for number in range(1, len(self.results) + 1) if (shown := self._show(number))]
        if self.failure:
            done = len(self.results)
            made = f"; made before it: {', '.join(call.name for call in self.calls[:done])}" if done else ""
            blocks.append(text_block(f"{self.failure}{made}"))
        return tool_result(blocks, is_error=bool(self.failure))

    def _show(self, number: int) -> str:
        """Return what is asked for of the result of a call; empty: nothing."""
        call, text = self.calls[number - 1], self.results[number - 1]
        is_last = number == len(self.calls)
        if call.show is None and not (is_last and all(each.show is None for each in self.calls)):
            return ""
        request = FetchRequest(ref="$1", query=call.show or "")
        try:
            shown = fetching.answer({"1": text}, request, limit=self.limit, counter=self.counter)
        except ProtocolError as error:
            shown = f"{call.show!r} was not found: {error}"
        return shown if len(self.calls) == 1 else f"{number} {call.name}: {shown}"

    def _resolve(self, part: Any) -> Any:
        """Return arguments with the values of earlier results in their places.

        Raises:
            ProtocolError: E1004, E2003, a query finds nothing, or takes too much.
        """
        if isinstance(part, dict) and _FROM in part:
            query = part.get("query")
            return _plain(fetching.value_at(self.results[part[_FROM] - 1], query if isinstance(query, str) else ""))
        if isinstance(part, dict):
            return {name: self._resolve(value) for name, value in part.items()}
        return [self._resolve(each) for each in part] if isinstance(part, list) else part


def _plain(value: Any) -> Any:
    """Return a value with numbers that have no spelling of their own."""
    return read_json(compact_json(value))


def _text_of(result: JsonObject) -> str:
    """Return the value of a result as one text: `structuredContent`, else its texts."""
    structured = result.get("structuredContent")
    if structured is not None and not result.get("isError"):
        # SDKs put a value that is no object under this key; a model that calls the tool alone sees the value.
        is_wrapped = isinstance(structured, dict) and list(structured) == ["result"]
        value = structured["result"] if is_wrapped else structured
        return value if isinstance(value, str) else compact_json(value)
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [each["text"] for each in blocks if isinstance(each, dict) and isinstance(each.get("text"), str)]
    opened = [found[0] for text in texts if (found := read_styled_json(text)) is not None]
    if len(texts) > 1 and len(opened) == len(texts):
        return compact_json(opened)
    return "\n".join(texts)
