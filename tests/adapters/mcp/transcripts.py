"""What a client that does not know the extension sends to the test server: raw lines, in both eras."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

from accp_adapters.mcp import EXTENSION
from tests.limits import PATIENCE

__all__ = ["ACCP", "LEGACY", "MODERN", "NEGOTIATE", "SERVER", "ask", "converse", "meaning", "modern"]

SERVER: Final = [sys.executable, "-m", "tests.harness.mcp_suite.server"]
ACCP: Final = [sys.executable, "-c", "from accp_adapters.cli import main; main()", "mcp"]
NEGOTIATE: Final = [*ACCP, "--policy", "negotiate"]
"""The proxy that a client which asks for nothing does not notice."""

_META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "unaware", "version": "1"},
}


def ask(method: str, identity: int | str, **params: Any) -> bytes:
    """Return a request as a line, with unusual separators, so that a rewritten line differs."""
    message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    return json.dumps(message, indent=None, separators=(", ", " : ")).encode() + b"\n"


def modern(method: str, identity: int | str, **params: Any) -> bytes:
    """Return a request of the era of 2026-07-28."""
    return ask(method, identity, **params, _meta=_META)


_CALLS: Final[Sequence[tuple[str, dict[str, Any]]]] = [
    ("tools/list", {}),
    *(
        ("tools/call", {"name": name, "arguments": {}})
        for name in ("orders", "test_simple_text", "test_multiple_content_types", "test_error_handling", "no_such_tool")
    ),
    ("resources/list", {}),
    ("resources/read", {"uri": "test://static-text"}),
    ("resources/read", {"uri": "test://no-such-resource"}),
    ("prompts/get", {"name": "test_prompt_with_image"}),
    ("tools/call", {"name": "test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": 7}}),
    ("no/such/method", {}),
]

LEGACY: Final = [
    ask(
        "initialize",
        0,
        protocolVersion="2025-11-25",
        capabilities={"sampling": {}},
        clientInfo={"name": "unaware", "version": "1"},
    ),
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    *(ask(method, f"call {number}", **params) for number, (method, params) in enumerate(_CALLS)),
    b'{"jsonrpc":"2.0","id":901,"method":"ping"}\r\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"call 0"}}\n',
    b'{"jsonrpc":"2.0","id":"\\u00e4\\ud83d\\ude00","method":"ping"}\n',
]
"""A session of the era up to 2025-11-25."""
MODERN: Final = [
    modern("server/discover", 0),
    *(
        modern(method, number, **{key: value for key, value in params.items() if key != "_meta"})
        for number, (method, params) in enumerate(_CALLS, 1)
    ),
]
"""Requests of the era of 2026-07-28."""


def converse(command: Sequence[str], lines: Iterable[bytes]) -> list[bytes]:
    """Return the lines that the server `command` writes; each request is sent after the response to the last one."""
    said = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for line in lines:
            server.stdin.write(line)
            server.stdin.flush()
            while (wanted := _identity(line)) is not None:
                said.append(server.stdout.readline())
                if not said[-1] or _identity(said[-1]) == wanted:
                    break
        server.stdin.close()
        return [*said, *server.stdout.readlines(), f"exit {server.wait(PATIENCE)}".encode()]


def _identity(line: bytes) -> object:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message.get("id") if isinstance(message, dict) else None


def meaning(line: bytes) -> object:
    """Return the JSON value of `line`, or the line, without what an encoder and a decoder negotiate."""
    try:
        message = json.loads(line)
    except ValueError:
        return line
    result = message.get("result") if isinstance(message, dict) else None
    if isinstance(result, dict) and "capabilities" in result:
        result.pop("cacheScope", None)
        for place in ("experimental", "extensions"):
            result["capabilities"].get(place, {}).pop(EXTENSION, None)
            if not result["capabilities"].get(place):
                result["capabilities"].pop(place, None)
    if isinstance(result, dict) and "resources" in result:
        result["resources"] = [each for each in result["resources"] if not each["uri"].startswith("accp://")]
    return message
