"""A server whose one tool returns rows as indented JSON."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

ROWS: Final = [{"id": number, "name": f"Customer {number}", "open": True} for number in range(30)]
HANDSHAKE: Final = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "rows"}}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the response to a request, None for anything else."""
    if "id" not in message:
        return None
    rows = {"content": [{"type": "text", "text": json.dumps(ROWS, indent=2)}]}
    results = {"initialize": HANDSHAKE, "tools/call": rows}
    return {"jsonrpc": "2.0", "id": message["id"], "result": results.get(message.get("method", ""), {})}


if __name__ == "__main__":
    for line in sys.stdin:
        said = answer(json.loads(line))
        if said is not None:
            print(json.dumps(said), flush=True)
