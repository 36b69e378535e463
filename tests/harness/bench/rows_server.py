"""An MCP server on standard streams with a small and a large result: `python -m tests.harness.bench.rows_server`."""

import json
import sys
from typing import Any

__all__ = ["result_of"]

_ROWS = {"small": 20, "large": 20_000}
_TEXTS = {
    name: json.dumps([{"id": number, "city": "Lima", "note": f"n {number * 7919}"} for number in range(rows)])
    for name, rows in _ROWS.items()
}


def result_of(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request."""
    if asked.get("method") == "initialize":
        own = {"name": "rows", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": own}
    if asked.get("method") == "tools/call":
        return {"content": [{"type": "text", "text": _TEXTS[asked["params"]["name"]]}]}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result_of(message)}), flush=True)
