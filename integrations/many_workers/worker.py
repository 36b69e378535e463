"""One worker: serves the sessions of a log over HTTP until it is killed.

    python worker.py LOG FOLDER

It writes its port to standard output, and each run of its handler as one line to `FOLDER/runs`: what a real handler
does beyond its answer, such as a payment, it does once for each idempotency key.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from accp_adapters.bindings.accp.app import accp_app
from accp_adapters.bindings.hosts import HostLimits, Request, SessionHost
from accp_adapters.bindings.logs import open_log
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.listening import http_server, listen_at
from accp_core import Codec

LEASE = 1.0
"""Seconds after which a killed worker's requests are taken over."""
WORK = 0.01
"""Seconds that a handler takes."""


def count(text: str) -> int:
    """Return about the tokens of a text, without a vocabulary."""
    return len(text) // 4 + 1


async def main(address: str, folder: Path) -> None:
    """Serve."""
    runs = os.open(folder / "runs", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    async def double(request: Request) -> Mapping[str, int]:
        os.write(runs, f"{request.session_id} {request.idempotency_key}\n".encode())
        await asyncio.sleep(WORK)
        return {"doubled": 2 * int(str(request.message.payload["n"]))}

    limits = HostLimits(lease=LEASE, snapshot_every=16)
    async with SessionHost(double, log=open_log(address), codec=Codec(counter=count), limits=limits) as host:
        with listen_at("127.0.0.1", 0) as listening:
            print(listening.getsockname()[1], flush=True)
            app = accp_app(host, limits=ServerLimits(rate=1e6, burst=1_000_000, places_each=1_024))
            await http_server(app, header_seconds=30.0).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
