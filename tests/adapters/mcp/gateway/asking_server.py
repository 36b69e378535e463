"""A server on standard streams that asks its client, all with the same ids and tokens, whichever server it is.

Its tools: `ask` sends a request to the client and returns the answer, `wait` ends when it is cancelled, `grow` adds a
tool and announces it, `crash` ends the process, `pid` returns its number, `report` sends progress for any token.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

NAME = sys.argv[1]
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("ask", "wait", "grow", "pid", "report")]
WAITING: list[Any] = []
ASKING: dict[Any, Any] = {}
HEARD: list[Any] = []
CAPABILITIES = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}}


def say(**message: Any) -> None:
    """Write a message."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(identity: Any, value: Any) -> None:
    """Answer a call."""
    say(id=identity, result={"content": [{"type": "text", "text": json.dumps(value)}], "isError": False})


def call(identity: Any, params: dict[str, Any]) -> None:
    """Run a tool."""
    name, given = params["name"], params.get("arguments") or {}
    if name == "ask":
        ASKING[1] = identity
        say(id=1, method=given["method"], params=given.get("params", {}))
    elif name == "wait":
        WAITING.append(identity)
        say(method="notifications/message", params={"level": "info", "data": "waiting"})
    elif name == "grow":
        TOOLS.append({"name": f"tool_{len(TOOLS)}", "inputSchema": {"type": "object"}})
        say(method="notifications/tools/list_changed")
        text(identity, len(TOOLS))
    elif name == "report":
        say(method="notifications/progress", params={"progressToken": given["token"], "progress": 1})
        text(identity, HEARD)
    else:
        text(identity, os.getpid())


def notice(method: str, message: dict[str, Any]) -> None:
    """Take a notification."""
    HEARD.append(message)
    if method == "notifications/cancelled" and message["params"]["requestId"] in WAITING:
        say(method="notifications/message", params={"level": "info", "logger": "own", "data": "cancelled"})


def tools(params: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the list."""
    page = int(params.get("cursor", 0))
    more = {"nextCursor": str(page + 4)} if page + 4 < len(TOOLS) else {}
    return {"tools": TOOLS[page : page + 4], **more}


RESULTS: dict[str, Any] = {
    "initialize": lambda _: {
        "protocolVersion": "2025-11-25",
        "capabilities": CAPABILITIES,
        "serverInfo": {"name": NAME, "version": "1"},
        "instructions": f"Ask {NAME}.",
    },
    "tools/list": tools,
    "prompts/list": lambda _: {"prompts": [{"name": "greet"}]},
    "prompts/get": lambda _: {
        "messages": [
            {"role": "user", "content": {"type": "resource", "resource": {"uri": "file:///same", "text": NAME}}}
        ]
    },
    "resources/list": lambda _: {"resources": [{"uri": "file:///same", "name": "same"}]},
    "resources/templates/list": lambda _: {"resourceTemplates": [{"uriTemplate": "file:///{path}", "name": "any"}]},
    "resources/read": lambda params: {"contents": [{"uri": params["uri"], "text": f"of {NAME}"}]},
    "resources/subscribe": lambda _: {},
    "completion/complete": lambda params: {"completion": {"values": [NAME, json.dumps(params["ref"])]}},
}


def serve(message: dict[str, Any]) -> None:
    """Serve one message."""
    method, identity, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method is None:
        text(ASKING.pop(identity), message.get("result", message.get("error")))
    elif identity is None:
        notice(method, message)
    elif method == "tools/call":
        call(identity, params)
    elif method not in RESULTS:
        say(id=identity, error={"code": -32601, "message": f"{NAME} has no {method}"})
    else:
        say(id=identity, result=RESULTS[method](params))
        if method == "resources/subscribe":
            say(method="notifications/resources/updated", params={"uri": params["uri"]})


if __name__ == "__main__":
    for line in sys.stdin:
        serve(json.loads(line))
