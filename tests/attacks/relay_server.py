"""A relay in a process of its own: `python -m tests.attacks.relay_server` says where it listens."""

from __future__ import annotations

import asyncio
import sys

from accp_adapters.bindings.acp import relay_app
from accp_adapters.serving.listening import http_server, listen_at

if __name__ == "__main__":
    with listen_at("127.0.0.1", 0) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr, flush=True)
        asyncio.run(http_server(relay_app(), header_seconds=10).serve(sockets=[listening]))
