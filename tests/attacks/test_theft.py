"""Attacks with what belongs to somebody else, under a token of one's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx2

from tests.attacks.commands import ACCP, needs_proc, running
from tests.attacks.frames import CLIENT, request
from tests.limits import PATIENCE

pytestmark = needs_proc


async def test_a_session_of_a_gateway_is_used_by_its_own_token_only(tmp_path: Path) -> None:
    server = {"command": sys.executable, "args": ["-m", "tests.attacks.hostile_server", "silent"]}
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"one": server}}))
    words = ("mcp", "--config", str(config), "--listen", "127.0.0.1:0", "--token-env", "TOKENS")
    with running(*ACCP, *words, TOKENS="ann:ann-token hog:hog-token") as command:
        async with httpx2.AsyncClient(base_url=command.url, timeout=PATIENCE) as client:
            ann, hog = ({"authorization": f"Bearer {name}-token"} for name in ("ann", "hog"))
            begun = await client.post("/mcp", json=request("initialize", **CLIENT), headers=ann)
            stolen = {"mcp-session-id": begun.headers["mcp-session-id"]}
            assert (await client.post("/mcp", json=request("ping", 2), headers=hog | stolen)).status_code == 404
            assert (await client.delete("/mcp", headers=hog | stolen)).status_code == 404
            assert (await client.post("/mcp", json=request("ping", 3), headers=ann | stolen)).status_code == 200
