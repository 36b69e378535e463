"""One worker: serves the sessions of a store over HTTP until it is killed.

    python worker.py STORE FOLDER

It writes its port to standard output, and each run of its handler as one line to `FOLDER/runs`: what a real handler
does beyond its answer, such as a payment, it does once for each idempotency key.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

import uvicorn

from accp_adapters.bindings import Request, ServerLimits, SessionHost, accp_app
from accp_adapters.stores import open_store
from accp_core import Codec

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

    async with SessionHost(double, store=open_store(address), codec=Codec(counter=count)) as host:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            print(listening.getsockname()[1], flush=True)
            app = accp_app(host, limits=ServerLimits(rate=1e6, burst=1_000_000, places_each=1_024))
            config = uvicorn.Config(app, lifespan="off", log_level="critical")
            await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
