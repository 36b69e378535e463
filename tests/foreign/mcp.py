"""The least that a client of MCP needs, from its specification: JSON-RPC in lines, on the pipes of a process."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.foreign.acp import ACCP
from tests.foreign.wire import SECONDS

__all__ = ["CASES", "EXTENSION", "Client", "client_of"]

EXTENSION = "org.ietf.datatracker/draft-benzing-accp-00"
_META = "io.modelcontextprotocol/"
_SERVER = """
import json, sys
from mcp.server import MCPServer
from mcp import MCPError

server = MCPServer("parts", instructions="Ask for parts.")
ROWS = [{"sku": f"A-{number}", "name": f"part {number}", "price": number + 0.5} for number in range(20)]

@server.tool()
def find(count: int = 20) -> list[dict]:
    "Find parts."
    return ROWS[:count]

@server.tool()
def fail() -> str:
    "Fail."
    raise RuntimeError("no such customer")

@server.tool()
def late() -> str:
    "Be late."
    raise MCPError(-32001, "too late")

@server.resource("parts://all", mime_type="application/json")
def parts() -> str:
    return json.dumps(ROWS, indent=2)

@server.resource("parts://words")
def words() -> str:
    return "Prose stays as it is: no frame is shorter."

if sys.argv[1] == "wrapped":
    from accp_adapters.mcp import wrap_server
    wrap_server(server)
server.run()
"""
CASES = ("wrapped", "behind accp mcp")
"""How the server came to frames."""


class Client:
    """A client of either era; `params` go into `initialize`, or from 2026-07-28 on into each request."""

    def __init__(self, process: "subprocess.Popen[str]", capabilities: dict[str, Any], *, modern: bool) -> None:
        self._process, self._modern, self._capabilities = process, modern, capabilities
        self._last = 0

    def start(self) -> Any:
        """Return the result of `initialize` or `server/discover`."""
        if self._modern:
            return self.ask("server/discover")["result"]
        info = {"name": "stranger", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": self._capabilities, "clientInfo": info}
        result = self.ask("initialize", **params)["result"]
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def ask(self, method: str, **params: Any) -> Any:
        """Return the response to a request."""
        self._last += 1
        if self._modern:
            meta = {"protocolVersion": "2026-07-28", "clientCapabilities": self._capabilities}
            params["_meta"] = {f"{_META}{name}": value for name, value in meta.items()}
        self._write({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._last and "method" not in message:
                return message
        raise AssertionError("the server has closed its end")

    def _write(self, message: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


@contextmanager
def client_of(
    case: str, folder: Path, *, negotiates: bool = True, modern: bool = False, fetches: bool = False
) -> Iterator[Client]:
    """Yield a client of the server, which is wrapped or stands behind the proxy, or is `plain`.

    One that `fetches` is shown views, and opens references.
    """
    (folder / "parts.py").write_text(_SERVER)
    served = [sys.executable, "parts.py", "wrapped" if case == "wrapped" else "plain"]
    command = (
        [ACCP, "mcp", "--policy", "negotiate", *(["--fetch"] if fetches else []), "--", *served]
        if case == CASES[1]
        else served
    )
    settings = {"version": 1, **({"results": "view", "fetch": True} if fetches else {})}
    member = "extensions" if modern else "experimental"
    capabilities = {member: {EXTENSION: settings}} if negotiates else {}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=folder, text=True, **pipes)  # type: ignore[call-overload]  # as named
    try:
        yield Client(process, capabilities, modern=modern)
    finally:
        process.stdin.close()
        process.wait(SECONDS)
        process.stdout.close()
