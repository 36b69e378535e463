"""A conversation as a gateway keeps it, and the service in this process."""

from __future__ import annotations

import json
from typing import Any, Final

import httpx2

__all__ = ["ROWS", "call", "client_of", "conversation", "result"]

ROWS: Final = [{"id": n, "customer": f"Customer {n}", "status": "late" if n % 50 == 0 else "paid"} for n in range(600)]


def result(call_id: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": json.dumps(rows)}


def call(call_id: str, name: str = "orders") -> dict[str, Any]:
    function = {"name": name, "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def conversation() -> list[dict[str, Any]]:
    """Return three turns; the second result has rows of the first one."""
    return [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Which orders are late?"},
        call("c1"),
        result("c1", ROWS),
        call("c2"),
        result("c2", ROWS[100:300]),
        {"role": "assistant", "content": "Twelve."},
        {"role": "user", "content": "And which customer has order 77?"},
        call("c3"),
        result("c3", [{"id": 77, "customer": "Customer 77"}]),
    ]


def client_of(app: Any, *, token: str | None = None, address: str = "127.0.0.1") -> httpx2.AsyncClient:
    """Return a client of an application in this process."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    transport = httpx2.ASGITransport(app, client=(address, 4321), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)
