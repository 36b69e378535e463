"""A server with everything that the conformance suite of MCP asks for by name, in both eras of the protocol.

`python -m tests.harness.mcp_suite.server` serves standard streams, with a port as argument streamable HTTP at
`/mcp`. The tool `orders` is ours: its result is one that the shim shrinks.
"""

import asyncio
import json
import sys
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

import mcp_types as types
import uvicorn
from mcp import MCPError
from mcp.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.harness.mcp_suite.content import FORMS, INPUTS, PLAIN, PROMPTS, RESOURCES, SCHEMAS, form, text

__all__ = ["Memory", "build", "http_app"]

Json: TypeAlias = dict[str, Any]
Tool: TypeAlias = Callable[[Any, Any], Awaitable[Json]]

MISSING_CAPABILITY: Final = -32021
INVALID_PARAMS: Final = -32602


def says(value: str) -> Json:
    """Return the result of a tool that says one text."""
    return {"content": [text(value)]}


def described(name: str, **members: Any) -> Json:
    """Return an entry of a list."""
    return {"name": name, "description": f"For tests: {name.replace('_', ' ')}.", **members}


async def logging(ctx: Any, params: Any) -> Json:
    """Say three things to the log."""
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message(level="info", data=line, related_request_id=ctx.request_id)
    return says("Logged.")


async def progress(ctx: Any, params: Any) -> Json:
    """Report progress in three steps."""
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
    return says("Done.")


async def sampling(ctx: Any, params: Any) -> Json:
    """Ask the client's model."""
    request = form("sampling/createMessage", prompt=params.arguments["prompt"], max_tokens=100)
    answer = await ask(ctx, request)
    return says(f"LLM response: {answer['content']['text']}")


async def elicitation(ctx: Any, params: Any) -> Json:
    """Ask the user in one of the suite's forms."""
    message = (params.arguments or {}).get("message", "Please fill in the form")
    answer = await ask(ctx, form("elicitation/create", message=message, schema=FORMS[params.name]))
    return says(f"Elicitation completed: action={answer['action']}, content={json.dumps(answer.get('content'))}")


async def ask(ctx: Any, request: Json) -> Json:
    """Send the client a request, which a client up to 2025-11-25 answers."""
    session = ctx.session
    if request["method"] == "elicitation/create":
        sent = session.elicit_form(
            request["params"]["message"], request["params"]["requestedSchema"], related_request_id=ctx.request_id
        )
    else:
        messages = [types.SamplingMessage.model_validate(each) for each in request["params"]["messages"]]
        sent = session.create_message(messages, max_tokens=100, related_request_id=ctx.request_id)
    answer: Json = (await sent).model_dump(by_alias=True, mode="json", exclude_none=True)
    return answer


async def reconnection(ctx: Any, params: Any) -> Json:
    """Close the stream in mid-call; the answer is kept for the client that comes back."""
    if ctx.close_sse_stream:
        await ctx.close_sse_stream()
    return says("Reconnection test completed")


async def missing_capability(ctx: Any, params: Any) -> Json:
    """Insist on a client that can sample."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise MCPError(MISSING_CAPABILITY, "Sampling is required", {"requiredCapabilities": {"sampling": {}}})
    return says("The client can sample.")


async def input_required(ctx: Any, params: Any) -> Json:
    """Go through the rounds of one of the suite's tools that ask for input in their results."""
    rounds, last = INPUTS[params.name]
    done = int(params.request_state or 0)
    answers = (ctx.params or {}).get("inputResponses") or {}
    if done < len(rounds) and set(rounds[done].requests) <= set(answers):
        done += 1
    if done == len(rounds):
        return says(last(answers))
    state = {"requestState": str(done)} if rounds[done].has_state else {}
    return {"resultType": "input_required", "inputRequests": rounds[done].requests} | state


async def capabilities(ctx: Any, params: Any) -> Json:
    """Ask only for what the client can do."""
    declared = ctx.session.client_capabilities
    able = {} if declared is None else declared.model_dump(by_alias=True, exclude_none=True)
    requests = {
        "question": ("sampling", form("sampling/createMessage", prompt="Hello", max_tokens=10)),
        "name": ("elicitation", form("elicitation/create", message="Name?", schema=FORMS["test_elicitation"])),
        "roots": ("roots", {"method": "roots/list", "params": {}}),
    }
    wanted = {key: request for key, (capability, request) in requests.items() if capability in able}
    answers = (ctx.params or {}).get("inputResponses") or {}
    if not wanted or set(wanted) <= set(answers):
        return says("Enough is known.")
    return {"resultType": "input_required", "inputRequests": wanted}


class Memory(EventStore):
    """The events of all streams, so that a stream that broke off can be taken up."""

    def __init__(self) -> None:
        """Begin with none."""
        self._events: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        """Keep an event; its id is its number."""
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what came later on the same stream."""
        number = int(last_event_id)
        stream = self._events[number - 1][0]
        for index, (each, message) in enumerate(self._events[number:], start=number + 1):
            if each == stream and message is not None:
                await send_callback(EventMessage(message, str(index)))
        return stream


def typed(model: Any, handler: Tool) -> Any:
    """Return `handler` with its results as the SDK's models, which know the defaults of both eras."""

    async def handle(ctx: Any, params: Any) -> Any:
        result = await handler(ctx, params)
        kind = types.InputRequiredResult if "resultType" in result else model
        return kind.model_validate(result)

    return handle


class Fixture:
    """The handlers of the server, for both eras."""

    def __init__(self) -> None:
        """Begin with nobody listening."""
        self.bus = InMemorySubscriptionBus()
        self.tools: Mapping[str, Tool] = {
            **dict.fromkeys(PLAIN, self._plain),
            **dict.fromkeys(FORMS, elicitation),
            **dict.fromkeys(INPUTS, input_required),
            "test_tool_with_logging": logging,
            "test_logging_tool": logging,
            "test_tool_with_progress": progress,
            "test_sampling": sampling,
            "test_streaming_elicitation": input_required,
            "test_reconnection": reconnection,
            "test_missing_capability": missing_capability,
            "test_input_required_result_capabilities": capabilities,
            "test_trigger_tool_change": self._tools_change,
            "test_trigger_prompt_change": self._prompts_change,
        }

    async def _plain(self, ctx: Any, params: Any) -> Json:
        return PLAIN[params.name]

    async def _tools_change(self, ctx: Any, params: Any) -> Json:
        await self.bus.publish(ToolsListChanged())
        return says("The tools have changed.")

    async def _prompts_change(self, ctx: Any, params: Any) -> Json:
        await self.bus.publish(PromptsListChanged())
        return says("The prompts have changed.")

    async def list_tools(self, ctx: Any, params: Any) -> Json:
        """List every tool, with the schema of its arguments."""
        schema = {"type": "object", "properties": {}}
        return {"tools": [described(name, inputSchema=SCHEMAS.get(name, schema)) for name in self.tools]}

    async def call_tool(self, ctx: Any, params: Any) -> Json:
        """Call a tool by its name."""
        tool = self.tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        return await tool(ctx, params)

    async def list_resources(self, ctx: Any, params: Any) -> Json:
        """List the resources."""
        return {
            "resources": [
                {"uri": uri, "name": uri, "description": f"The resource {uri}.", "mimeType": content["mimeType"]}
                for uri, content in RESOURCES.items()
            ]
        }

    async def list_templates(self, ctx: Any, params: Any) -> Json:
        """List the one template."""
        return {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "data"}]}

    async def read_resource(self, ctx: Any, params: Any) -> Json:
        """Read a resource, or one that the template makes."""
        uri = str(params.uri)
        if uri in RESOURCES:
            return {"contents": [{"uri": uri, **RESOURCES[uri]}]}
        identity = uri.removeprefix("test://template/").removesuffix("/data")
        if f"test://template/{identity}/data" != uri:
            raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri})
        content = {"id": identity, "templateTest": True, "data": f"Data for ID: {identity}"}
        return {"contents": [{"uri": uri, "mimeType": "application/json", "text": json.dumps(content)}]}

    async def list_prompts(self, ctx: Any, params: Any) -> Json:
        """List the prompts."""
        return {
            "prompts": [
                described(name, arguments=[described(each, required=True) for each in arguments])
                for name, (arguments, _) in PROMPTS.items()
            ]
            + [described("test_input_required_result_prompt")]
        }

    async def get_prompt(self, ctx: Any, params: Any) -> Json:
        """Fill in a prompt."""
        if params.name == "test_input_required_result_prompt":
            answered = await input_required(ctx, params)
            said = answered.pop("content", None)
            return {"messages": [{"role": "user", "content": each} for each in said]} if said else answered
        if params.name not in PROMPTS:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name}")
        blocks = PROMPTS[params.name][1](params.arguments or {})
        return {"messages": [{"role": "user", "content": each} for each in blocks]}

    async def complete(self, ctx: Any, params: Any) -> Json:
        """Know nothing to complete."""
        return {"completion": {"values": [], "total": 0, "hasMore": False}}

    async def nothing(self, ctx: Any, params: Any) -> Json:
        """Accept what has no effect."""
        return {}


def build() -> Server[Any]:
    """Return the server."""
    fixture = Fixture()
    with warnings.catch_warnings():
        # The suite asks for what 2026-07-28 deprecates, too.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        server: Server[Any] = Server(
            "accp-conformance",
            version="1",
            on_list_tools=typed(types.ListToolsResult, fixture.list_tools),
            on_call_tool=typed(types.CallToolResult, fixture.call_tool),
            on_list_resources=typed(types.ListResourcesResult, fixture.list_resources),
            on_list_resource_templates=typed(types.ListResourceTemplatesResult, fixture.list_templates),
            on_read_resource=typed(types.ReadResourceResult, fixture.read_resource),
            on_subscribe_resource=typed(types.EmptyResult, fixture.nothing),
            on_unsubscribe_resource=typed(types.EmptyResult, fixture.nothing),
            on_subscriptions_listen=ListenHandler(fixture.bus),
            on_list_prompts=typed(types.ListPromptsResult, fixture.list_prompts),
            on_get_prompt=typed(types.GetPromptResult, fixture.get_prompt),
            on_completion=typed(types.CompleteResult, fixture.complete),
            on_set_logging_level=typed(types.EmptyResult, fixture.nothing),
        )
    # No argument: mcp 2.0 has none.
    server.get_tool_input_schema = SCHEMAS.get
    security = RequestStateSecurity.ephemeral()
    server.middleware.append(RequestStateBoundary(security, default_audience=server.name))
    return server


def http_app(server: Server[Any]) -> Any:
    """Return the server's ASGI application."""
    return server.streamable_http_app(event_store=Memory(), retry_interval=100)


async def _stdio(server: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main(port: str = "") -> None:
    """Serve standard streams, or HTTP on the port of that number."""
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    if port:
        uvicorn.run(http_app(build()), host="127.0.0.1", port=int(port), log_level="critical")
    else:
        asyncio.run(_stdio(build()))


if __name__ == "__main__":
    main(*sys.argv[1:])
