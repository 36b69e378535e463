"""Two proxies of one server with one store: a reference of one opens at the other, for the same session and user."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from pathlib import Path

import httpx
import pytest

from tests.adapters.mcp.proxy.tenants import Client, proxy_process, rows_server
from tests.adapters.mcp.serving import serving
from tests.limits import PATIENCE

A, B = {"authorization": "Bearer alice"}, {"authorization": "Bearer bob"}
QUERY = "SELECT owner, note FROM items WHERE id = 3"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "redis"])
def test_a_reference_opens_at_another_process_and_after_a_restart(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = f"sqlite:{tmp_path / 'texts.db'}" if kind == "sqlite" else request.getfixturevalue("redis_url")
    options = ("--policy", "always", "--fetch", "--quiet")
    with serving(rows_server("alice", "bob"), lifespan="on") as origin, contextlib.ExitStack() as stack:
        first, second = (
            stack.enter_context(proxy_process(f"{origin}/mcp", *options, ACCP_STORE=address))[0] for _ in range(2)
        )
        alice = Client(first, A).start()
        found = re.search(r"\$cold\.[0-9]{12}", alice.call("report"))
        assert found is not None
        elsewhere = Client(second, alice.headers)
        assert "alice" in elsewhere.call("accp_fetch", ref=found[0], query=QUERY)
        mistyped = f"{found[0][:9]}{(int(found[0][9]) + 1) % 10}{found[0][10:]}"
        third = Client(
            stack.enter_context(proxy_process(f"{origin}/mcp", *options, ACCP_STORE=address))[0], alice.headers
        )
        assert f"nearest: {found[0]}" in third.call("accp_fetch", ref=mistyped)
        assert "E5002" in Client(second, {**alice.headers, **B}).call("accp_fetch", ref=found[0])
        assert "E5002" in Client(second, B).start().call("accp_fetch", ref=found[0])
        session = {"mcp-session-id": alice.headers["mcp-session-id"]}
        assert "401" in Client(second, session).call("accp_fetch", ref=found[0])
        if kind == "sqlite":
            with contextlib.closing(sqlite3.connect(tmp_path / "texts.db")) as database:
                assert database.execute("SELECT count(*) FROM cold").fetchone() == (1,)
                assert httpx.delete(second, headers=alice.headers, timeout=PATIENCE).status_code == 200
                # The texts are deleted by a thread, which the next answer of the proxy does not wait for.
                stack.close()
                assert database.execute("SELECT count(*) FROM cold").fetchone() == (0,)
