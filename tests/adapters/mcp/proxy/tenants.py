"""A server of the SDK with several users, a proxy process in front of it, and the clients of these users."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import mcp_types as types
from mcp.server import Server

from tests.adapters.mcp.messages import CAPABILITIES
from tests.adapters.mcp.transcripts import ACCP
from tests.limits import PATIENCE

__all__ = ["Client", "Json", "proxy_process", "rows_server"]

Json = dict[str, Any]
_SCHEMA: Json = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


def rows_server(
    *users: str,
    stateless: bool = False,
    rows: int = 900,
    tools: Sequence[str] = ("report",),
    wrap: Callable[[Any], Any] = lambda server: server,
) -> Any:
    """Return the ASGI application of a server whose tools return many rows that only their user may see.

    Args:
        users: The tokens that it accepts in `Authorization` or `X-Api-Key`, with `Mcp-User-Token` in place of what
            these say of the user; none: everybody.
        stateless: Whether it gives no session ids.
        rows: Rows of a result.
        tools: Their names; a user has only those that do not end in the name of another one.
        wrap: Called with the server before it serves.
    """

    def user_of(ctx: Any) -> str:
        given = ctx.request.headers
        named = given.get("mcp-user-token", given.get("authorization", given.get("x-api-key", "nobody")))
        return str(named).removeprefix("Bearer ")

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        others = tuple(user for user in users if user != user_of(ctx))
        mine = [name for name in tools if not (others and name.endswith(others))]
        listed = [types.Tool(name=name, description="Returns rows. " * 30, input_schema=_SCHEMA) for name in mine]
        return types.ListToolsResult(tools=listed)

    async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
        items = [
            {"id": number, "owner": user_of(ctx), "note": f"private {number * number * 7919}"} for number in range(rows)
        ]
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=json.dumps({"items": items}, indent=2))]
        )

    server: Server[Any] = Server("rows", on_list_tools=list_tools, on_call_tool=call_tool)
    # No argument: mcp 2.0 has none.
    server.get_tool_input_schema = lambda name: _SCHEMA
    app = wrap(server).streamable_http_app(json_response=True, stateless_http=stateless)

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ()))
        token = given.get(b"authorization", given.get(b"x-api-key", b"")).decode().removeprefix("Bearer ")
        if scope["type"] != "http" or not users or token in users:
            await app(scope, receive, send)
            return
        start = {"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]}
        await send(start)
        await send({"type": "http.response.body", "body": b"who are you?"})

    return guarded


@contextlib.contextmanager
def proxy_process(url: str, *options: str, **environment: str) -> Iterator[tuple[str, str]]:
    """Start `accp mcp --listen` in front of `url`, which it finds in the environment.

    Yields:
        The proxy's URL, and all that the process shows to others: its command line and what it wrote until it served.
    """
    command = [*ACCP, "--url-env", "SERVER_URL", "--listen", "127.0.0.1:0", *options]
    environment = {**os.environ, "SERVER_URL": url, **environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        line = ""
        while " is a proxy for " not in line and (more := process.stderr.readline().decode()):
            line += more
        words = Path(f"/proc/{process.pid}/cmdline")
        try:
            [at] = re.findall(r"accp mcp: (http://\S+)", line)
            yield at, line + (words.read_text(encoding="utf-8") if words.exists() else "")
        finally:
            process.terminate()
            process.wait(PATIENCE)


@dataclass
class Client:
    """One user's client of an MCP server over HTTP, in the era of `version`."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    version: str = "2025-11-25"

    def start(self) -> Client:
        """Begin a session, if the server has sessions; return this client."""
        if self.version < "2026":
            params = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
            answer = self.post("initialize", params)
            if session := answer.headers.get("mcp-session-id"):
                self.headers = {**self.headers, "mcp-session-id": session}
            body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            httpx.post(self.url, json=body, headers=self._headers("notifications/initialized", {}), timeout=PATIENCE)
        return self

    def post(self, method: str, params: Json) -> httpx.Response:
        """Send a request; return the HTTP response."""
        if self.version >= "2026":
            version = {"io.modelcontextprotocol/protocolVersion": self.version}
            params = {**params, "_meta": {**version, CAPABILITIES: {}}}
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        return httpx.post(self.url, json=body, headers=self._headers(method, params), timeout=PATIENCE)

    def ask(self, method: str, **params: Any) -> Json:
        """Return the JSON-RPC response."""
        answer: Json = self.post(method, params).json()
        return answer

    def call(self, name: str, **arguments: Any) -> str:
        """Return the text of the result of a tool, or of the error."""
        return self.text(self.post("tools/call", {"name": name, "arguments": arguments}))

    @staticmethod
    def text(response: httpx.Response) -> str:
        """Return the text of the result or of the error in a response to a call."""
        if response.status_code != 200:
            return f"{response.status_code} {response.text}"
        answer = response.json()
        return str(answer["result"]["content"][0]["text"] if "result" in answer else answer["error"])

    def _headers(self, method: str, params: Json) -> dict[str, str]:
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": self.version}
        if self.version >= "2026":
            headers["mcp-method"] = method
            headers |= {"mcp-name": params["name"]} if "name" in params else {}
        return {**headers, **self.headers}
